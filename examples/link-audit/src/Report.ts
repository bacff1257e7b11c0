/**
 * What the audit of one file takes and reports, and the total over all files.
 */
import { Array, Order, Schema } from "effect"
import { Reason } from "./Reason.ts"

/** Schema for the task of auditing one file. */
export const FileTask = Schema.Struct({ path: Schema.String })

/** The task of auditing one file. */
export type FileTask = typeof FileTask.Type

/** Schema for a broken link. A file that cannot be read is one too: on line 0, with an empty link. */
export const BrokenLink = Schema.Struct({ line: Schema.Natural, link: Schema.String, reason: Reason })

/** A broken link of one file. */
export type BrokenLink = typeof BrokenLink.Type

/** Schema for the audit of one file. `links` counts all of them, also those that are not checked. */
export const FileReport = Schema.Struct({
  path: Schema.String,
  links: Schema.Natural,
  broken: Schema.Array(BrokenLink)
})

/** The audit of one file. */
export type FileReport = typeof FileReport.Type

/** Schema for the audit of a folder. */
export const AuditResult = Schema.Struct({
  files: Schema.Natural,
  links: Schema.Natural,
  broken: Schema.Array(Schema.Struct({ file: Schema.String, ...BrokenLink.fields }))
})

/** The audit of a folder. */
export type AuditResult = typeof AuditResult.Type

/** A broken link with the file it stands in. */
export type Row = AuditResult["broken"][number]

/** A file that was not audited because a model or a subagent failed. */
export interface Failure {
  readonly file: string
  readonly message: string
}

/** The report of a file that cannot be read. */
export const unreadable = (path: string, reason: Reason): FileReport => ({
  path,
  links: 0,
  broken: [{ line: 0, link: "", reason }]
})

/** Tells the row of a file that cannot be read from that of a link. */
export const isUnreadable = ({ line }: Row): boolean => line === 0

const byPlace: Order.Order<Row> = Order.combineAll([
  Order.mapInput(Order.String, (row: Row) => row.file),
  Order.mapInput(Order.Number, (row: Row) => row.line),
  Order.mapInput(Order.String, (row: Row) => row.link)
])

/** Adds up the reports of all files. The order of the reports does not matter. */
export const total = (reports: ReadonlyArray<FileReport>): AuditResult => ({
  files: reports.length,
  links: reports.reduce((sum, { links }) => sum + links, 0),
  broken: Array.sort(
    reports.flatMap(({ broken, path }) => broken.map(({ line, link, reason }) => ({ file: path, line, link, reason }))),
    byPlace
  )
})

/** Formats a total as one line of JSON, its keys in the order of the schema. */
export const json = ({ broken, files, links }: AuditResult): string =>
  escapeUnseen(JSON.stringify({
    files,
    links,
    broken: broken.map(({ file, line, link, reason }) => ({ file, line, link, reason }))
  }))

/** The exit code of the command: 0 nothing broken, 1 something is, 3 not every file was audited. */
export const exitCode = (result: AuditResult, failures: ReadonlyArray<Failure>): 0 | 1 | 3 => {
  if (failures.length > 0) return 3
  return result.broken.length > 0 ? 1 : 0
}

/** JSON itself escapes only the first 32 control characters; a terminal obeys more. */
const escapeUnseen = (encoded: string): string =>
  encoded.replace(
    /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (character) => character.split("").map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`).join("")
  )
