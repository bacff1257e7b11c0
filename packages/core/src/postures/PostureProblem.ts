/**
 * What is wrong with posture files.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as ErrorClass from "../values/ErrorClass.ts"
import * as JsonWalk from "../values/JsonWalk.ts"

/**
 * Schema for one problem of a posture file.
 *
 * **Details**
 *
 * - `severity`: with an `error` the file gives no posture; with a `warning` it
 *   does
 * - `line`: counted from 1, where it is known
 * - `field`: as the file names it, such as `budget.maxTokens`; empty for the
 *   whole file
 * - `message`: what is expected. Nothing that the file holds is quoted, names
 *   of fields, postures and tools aside
 *
 * @category schemas
 * @since 0.1.0
 */
export const FileProblem = Schema.Struct({
  severity: Schema.Literals(["error", "warning"]),
  file: Schema.String,
  line: Schema.optionalKey(Schema.Number),
  field: Schema.String,
  message: Schema.String
})

/**
 * One problem of a posture file.
 *
 * @category models
 * @since 0.1.0
 */
export type FileProblem = typeof FileProblem.Type

/**
 * A problem before its file is named.
 *
 * @category models
 * @since 0.1.0
 */
export interface Found {
  readonly severity?: FileProblem["severity"]
  readonly line?: number | undefined
  readonly field: string
  readonly message: string
}

/**
 * Names the file of a problem. An `error` is what nobody called a warning.
 *
 * @category constructors
 * @since 0.1.0
 */
export const inFile = (file: string) => ({ field, line, message, severity = "error" }: Found): FileProblem => ({
  severity,
  file,
  ...(line === undefined ? {} : { line }),
  field,
  message
})

/**
 * A problem on one line: `reviewer.md:4 budget.maxTokens: Expected …`.
 *
 * @category formatting
 * @since 0.1.0
 */
export const format = ({ field, file, line, message }: Omit<FileProblem, "severity">): string =>
  JsonWalk.oneLine(`${file}${line === undefined ? "" : `:${line}`}${field === "" ? "" : ` ${field}`}: ${message}`)

/**
 * A directory of postures cannot be read.
 *
 * **Details**
 *
 * With the reason `InvalidOptions`, `issues` names each option that is not
 * valid and what it takes; `directory` is empty where it is one of them.
 *
 * @category errors
 * @since 0.1.0
 */
export class PostureDirectoryError
  extends ErrorClass.TaggedError<PostureDirectoryError>("~mandate/PostureDirectoryError")("PostureDirectoryError", {
    directory: Schema.String,
    reason: Schema.Literals(["Missing", "NotADirectory", "Unreadable", "InvalidOptions"]),
    issues: Schema.optionalKey(Schema.NonEmptyArray(Schema.String)),
    cause: Schema.optionalKey(Schema.Defect())
  })
{
  override get message(): string {
    if (this.reason === "InvalidOptions") {
      return `Postures cannot be read: the options are not valid: ${this.issues?.join("; ")}`
    }
    return `Postures cannot be read from ${this.directory}: it ${said[this.reason]}`
  }
}

const said = {
  Missing: "does not exist",
  NotADirectory: "is not a directory",
  Unreadable: "is not readable"
}
