/**
 * Text of a field that goes on on lines without an indent, as people write
 * descriptions. YAML ends the text at the first such line.
 *
 * @since 0.1.0
 */
import type { Found } from "./PostureProblem.ts"

/**
 * Finds the first line at the root that is not a field and belongs to the text
 * of the field above it. One problem, however many lines follow.
 *
 * @category getters
 * @since 0.1.0
 */
export const find = (text: string): Found | undefined => {
  let field: RegExpExecArray | null = null
  for (const [index, line] of text.split("\n").entries()) {
    const next = named.exec(line)
    if (next !== null) field = next
    else if (field !== null && isLoose(line, field[2] ?? "")) {
      return { line: index + 1, field: field[1] ?? "", message }
    }
  }
  return undefined
}

const message = "Expected a text in quotes, or with all its lines indented: quote it or indent it"

const named = /^([A-Za-z][\w.-]*):(?:[ \t]+(.*))?$/

// Lists may stand below their field without an indent, where nothing is beside it.
const isLoose = (line: string, beside: string): boolean =>
  !/^(?:[ \t#}\]]|$|---|\.\.\.)/.test(line) && !(beside === "" && /^-(?:[ \t]|$)/.test(line)) &&
  !/^[[{"'?]/.test(line)
