/**
 * Text of a field that goes on on lines without an indent, as people write
 * descriptions. YAML ends the text at the first such line.
 *
 * @since 0.1.0
 */
import * as FieldNames from "./FieldNames.ts"
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
    if (next !== null && !(field !== null && isBlock(field) && isStray(next[1] ?? ""))) field = next
    else if (field !== null && isLoose(line, field[2] ?? "")) {
      return { line: index + 1, field: field[1] ?? "", message }
    }
  }
  return undefined
}

/**
 * Finds the first field that is probably a line of the text above it, where
 * YAML reads its beginning as a name: `Use it for reviews: often.` below a
 * description. `undefined` for names that a file may have.
 *
 * **Details**
 *
 * It is an error where the name has blanks in it, or where the text above has
 * no other line. It is a warning where the name starts with a capital: such a
 * field may be meant.
 *
 * @category getters
 * @since 0.1.0
 */
export const findField = (text: string): Found | undefined => {
  let above: { readonly name: string; readonly isEmptyBlock: boolean } | undefined
  for (const [index, line] of text.split("\n").entries()) {
    if (/^\s*$/.test(line) || line.startsWith("#")) continue
    const name = /^[ \t]/.test(line) ? undefined : nameOf(line)
    if (name === undefined) {
      above = above && { ...above, isEmptyBlock: false }
    } else if (above !== undefined && isStray(name) && isText(name, above.isEmptyBlock)) {
      return /\s/.test(name) || above.isEmptyBlock
        ? { line: index + 1, field: above.name, message }
        : { severity: "warning", line: index + 1, field: name, message: perhaps(above.name) }
    } else {
      const field = named.exec(line)
      above = FieldNames.texts.includes(name) && field !== null
        ? { name, isEmptyBlock: isBlock(field) }
        : undefined
    }
  }
  return undefined
}

const isStray = (name: string): boolean => !FieldNames.isKnown(name) && FieldNames.meant(name) === undefined

const isText = (name: string, isAlone: boolean): boolean => isAlone || /\s/.test(name) || /^[A-Z]/.test(name)

// What stands before the first colon that YAML takes for the end of a name. Names in quotes were meant.
const nameOf = (line: string): string | undefined => /^([^\s"'?{}[\]&*!|>%@`-].*?):(?:[ \t]|$)/.exec(line)?.[1]

const isBlock = (field: RegExpExecArray): boolean => /^[|>][-+\d]{0,2}[ \t]*(?:#.*)?$/.test(field[2] ?? "")

const perhaps = (field: string): string =>
  `Nothing acts on this field; if it is text of the ${field}, quote it or indent it`

const message = "Expected a text in quotes, or with all its lines indented: quote it or indent it"

const named = /^([A-Za-z][\w.-]*):(?:[ \t]+(.*))?$/

// Lists may stand below their field without an indent, where nothing is beside it.
const isLoose = (line: string, beside: string): boolean =>
  !/^(?:[ \t#}\]]|$|---|\.\.\.)/.test(line) && !(beside === "" && /^-(?:[ \t]|$)/.test(line)) &&
  !/^[[{"'?]/.test(line)
