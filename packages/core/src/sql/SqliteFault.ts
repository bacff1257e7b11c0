/**
 * What went wrong in SQLite, from the errors of its driver.
 *
 * @since 0.1.0
 */
import { StoreError } from "../service/RunStore.ts"

/**
 * The primary result code of an error of SQLite. Some drivers leave it out of
 * some errors, which are then told by SQLite's text for it.
 *
 * @category getters
 * @since 0.1.0
 */
export const resultCode = (error: unknown): number | undefined => {
  if (typeof error !== "object" || error === null) return undefined
  if ("errcode" in error && typeof error.errcode === "number") return error.errcode & 0xff
  const message = messageOf(error)
  return texts.find(([text]) => message.startsWith(text))?.[1]
}

/**
 * The name of the code of an error: `SQLITE_FULL`, or `STORE_CLOSED` for a
 * connection that is closed.
 *
 * @category getters
 * @since 0.1.0
 */
export const codeOf = (error: unknown): string | undefined => {
  const result = resultCode(error)
  if (result !== undefined) return names[result] ?? `SQLITE_${result}`
  return typeof error === "object" && error !== null && "code" in error && error.code === "ERR_INVALID_STATE"
    ? "STORE_CLOSED"
    : undefined
}

/**
 * The error of an operation that failed.
 *
 * @category constructors
 * @since 0.1.0
 */
export const storeError = (operation: string, cause: unknown): StoreError => {
  const code = codeOf(cause)
  return new StoreError({ operation, ...(code === undefined ? {} : { code }), cause })
}

const messageOf = (error: object): string =>
  "message" in error && typeof error.message === "string" ? error.message : ""

/** By SQLite's numbers of primary result codes. */
const names: { readonly [code: number]: string } = {
  1: "SQLITE_ERROR",
  2: "SQLITE_INTERNAL",
  3: "SQLITE_PERM",
  4: "SQLITE_ABORT",
  5: "SQLITE_BUSY",
  6: "SQLITE_LOCKED",
  7: "SQLITE_NOMEM",
  8: "SQLITE_READONLY",
  9: "SQLITE_INTERRUPT",
  10: "SQLITE_IOERR",
  11: "SQLITE_CORRUPT",
  12: "SQLITE_NOTFOUND",
  13: "SQLITE_FULL",
  14: "SQLITE_CANTOPEN",
  15: "SQLITE_PROTOCOL",
  17: "SQLITE_SCHEMA",
  18: "SQLITE_TOOBIG",
  19: "SQLITE_CONSTRAINT",
  20: "SQLITE_MISMATCH",
  21: "SQLITE_MISUSE",
  22: "SQLITE_NOLFS",
  23: "SQLITE_AUTH",
  25: "SQLITE_RANGE",
  26: "SQLITE_NOTADB"
}

const texts: ReadonlyArray<readonly [string, number]> = [
  ["database is locked", 5],
  ["database table is locked", 6],
  ["attempt to write a readonly database", 8],
  ["disk I/O error", 10],
  ["database disk image is malformed", 11],
  ["database or disk is full", 13],
  ["unable to open database file", 14],
  ["file is not a database", 26],
  ["no such table", 1],
  ["no such column", 1]
]
