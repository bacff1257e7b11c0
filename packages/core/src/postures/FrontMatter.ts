/**
 * Markdown with front matter, as coding agents write their subagents.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import type { Found } from "./PostureProblem.ts"
import * as Yaml from "./Yaml.ts"

/**
 * A file in two parts. `bodyLine` is the line on which the body starts.
 *
 * @category models
 * @since 0.1.0
 */
export interface FrontMatter {
  readonly fields: Yaml.Parsed
  readonly body: string
  readonly bodyLine: number
  readonly warnings: ReadonlyArray<Found>
}

/**
 * Splits a text with line feeds as line ends into front matter and body.
 *
 * **Details**
 *
 * The front matter stands between a first line `---` and the next one. Where
 * it is no YAML, values that are not in quotes and hold `: ` are taken as the
 * text they were meant to be, with a warning: descriptions are often written
 * so, and coding agents take them.
 *
 * @category constructors
 * @since 0.1.0
 */
export const parse = (text: string): Result.Result<FrontMatter, ReadonlyArray<Found>> => {
  const lines = text.split("\n")
  if (!fence.test(lines[0] ?? "")) {
    return Result.fail([{ line: 1, field: "", message: "Expected front matter, which starts with a line of ---" }])
  }
  const end = lines.findIndex((line, index) => index > 0 && fence.test(line))
  if (end === -1) return Result.fail([{ line: 1, field: "", message: "Expected a second line of ---" }])

  // The fence becomes an empty line, so that YAML counts the lines of the file.
  const header = ["", ...lines.slice(1, end)]
  const parsed = Yaml.parse(header.join("\n"))
  const quoted = Result.isFailure(parsed) ? withQuotes(header) : undefined
  const { fields, warnings } = quoted ?? { fields: parsed, warnings: [] }
  return Result.mapBoth(fields, {
    onSuccess: (fields) => ({ fields, body: lines.slice(end + 1).join("\n"), bodyLine: end + 2, warnings }),
    // What is left when such values are taken: what else is wrong would hide behind the first of them.
    onFailure: (
      found
    ) => [...found, ...warnings.filter(({ line = 0 }) => found.every((other) => line < (other.line ?? 0)))]
  })
}

const fence = /^---[ \t]*$/

const withQuotes = (header: ReadonlyArray<string>) => {
  const warnings: Array<Found> = []
  const lines = header.map((line, index) => {
    const [, key, value] = plain.exec(line) ?? []
    if (key === undefined || value === undefined) return line
    warnings.push({
      severity: "warning",
      line: index + 1,
      field: key,
      message: "Expected quotes around this text; it is taken as it stands"
    })
    return `${key}: ${JSON.stringify(value)}`
  })
  return { fields: Yaml.parse(lines.join("\n")), warnings }
}

// A field at the root whose value starts like a text and holds a colon, or is the star that stands for all tools.
// Its dots take every character: a line that matches in part is tried again from each of its colons and blanks.
const plain = /^([A-Za-z][\w-]*):[ \t]+((?=[^\s"'[\]{}|>&*!%@`#,-]).*:(?:[ \t].*|$)|\*)[ \t]*$/s
