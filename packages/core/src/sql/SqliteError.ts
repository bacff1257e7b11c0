/**
 * Why a SQLite file cannot be used.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as ErrorClass from "../values/ErrorClass.ts"

/**
 * Schema for the reasons a file is refused with. A file that is refused is left
 * as it is:
 *
 * - `Unsupported`: this `runtime` has no SQLite that the store works with
 * - `NotADatabase`: it is not a SQLite database, or the database is damaged
 * - `Damaged`: it is a database of this package that lacks something; `detail`
 *   says what
 * - `OtherDatabase`: it is a database of another program
 * - `NewerFormat`: a newer version of this package wrote it; `found` is its
 *   format, `known` the newest one that this version reads
 * - `CannotOpen`: it cannot be opened, for example because its folder is
 *   missing or another process keeps it locked; `code` is SQLite's code, such as
 *   `SQLITE_BUSY`, and `cause` its error
 * - `InvalidOptions`: the store was given options that it does not take;
 *   `issues` names each, and what it takes. Nothing was opened
 *
 * @category schemas
 * @since 0.1.0
 */
export const SqliteErrorReason = Schema.TaggedUnion({
  Unsupported: { runtime: Schema.String },
  NotADatabase: {},
  Damaged: { detail: Schema.String },
  OtherDatabase: {},
  NewerFormat: { found: Schema.Int, known: Schema.Int },
  CannotOpen: { code: Schema.optionalKey(Schema.String), cause: Schema.Defect() },
  InvalidOptions: { issues: Schema.Array(Schema.String) }
})

/**
 * A reason a file is refused with.
 *
 * @category models
 * @since 0.1.0
 */
export type SqliteErrorReason = typeof SqliteErrorReason.Type

/**
 * A SQLite file cannot be used. `filename` is what the layer was given.
 *
 * @category errors
 * @since 0.1.0
 */
export class SqliteError extends ErrorClass.TaggedError<SqliteError>("~mandate/SqliteError")("SqliteError", {
  filename: Schema.String,
  reason: SqliteErrorReason
}) {
  override get message(): string {
    if (this.reason._tag === "InvalidOptions") {
      return `The options of the SQLite store are not valid: ${this.reason.issues.join("; ")}`
    }
    return this.reason._tag === "Unsupported"
      ? `${this.reason.runtime} has no SQLite that the run store works with; use Node 22.16 or a later 22.x, Node 24 or ` +
        "later, or a current Bun or Deno"
      : `The file "${this.filename}" ${SqliteErrorReason.match(this.reason, says)}`
  }
}

// SQLite's own words for a missing folder or a lock: they quote nothing of what is in the file.
const causeText = (cause: unknown): string => cause instanceof Error ? cause.message : String(cause)

const says = {
  InvalidOptions: () => "was not opened",
  Unsupported: () => "cannot be used by this runtime",
  Damaged: ({ detail }: { readonly detail: string }) => `is damaged: ${detail}`,
  NotADatabase: () => "is not a SQLite database, or is damaged",
  OtherDatabase: () => "is a SQLite database of another program",
  NewerFormat: ({ found, known }: { readonly found: number; readonly known: number }) =>
    `has format ${found}, written by a newer version of @mandate/core; this one reads up to ${known}`,
  CannotOpen: ({ cause, code }: { readonly cause: unknown; readonly code?: string }) =>
    `cannot be opened: ${causeText(cause)}${code === undefined ? "" : ` (${code})`}`
}
