/**
 * Error codes of stores, and what they mean.
 *
 * @since 0.1.0
 */

/**
 * A store's error code followed by what it means, for messages. A code that is
 * not known here stands alone.
 *
 * @category getters
 * @since 0.1.0
 */
export const describe = (code: string): string => {
  const meaning = meanings[code]
  return meaning === undefined ? code : `${code}, ${meaning}`
}

/**
 * The end of a message about a store: a colon and its code, or nothing.
 *
 * @category getters
 * @since 0.1.0
 */
export const suffix = (code: string | undefined): string => code === undefined ? "" : `: ${describe(code)}`

/**
 * The code of an error if it looks like one. Anything else is dropped: an error
 * is stored with its run, and a text could hold data.
 *
 * @category getters
 * @since 0.1.0
 */
export const safe = (code: unknown): string | undefined =>
  typeof code === "string" && looksLikeCode.test(code) ? code : undefined

const looksLikeCode = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/

const meanings: { readonly [code: string]: string } = {
  SQLITE_ERROR: "SQLite refused a statement; the file may lack a table or a column",
  SQLITE_PERM: "access to the file was denied",
  SQLITE_BUSY: "another process kept the file locked",
  SQLITE_LOCKED: "another connection of this process kept a table locked",
  SQLITE_NOMEM: "memory ran out",
  SQLITE_READONLY: "the file is read-only",
  SQLITE_IOERR: "the disk or file system failed",
  SQLITE_CORRUPT: "the file is damaged",
  SQLITE_FULL: "the disk or the database is full",
  SQLITE_CANTOPEN: "the file could not be opened",
  SQLITE_PROTOCOL: "the lock of the file could not be taken",
  SQLITE_TOOBIG: "a value is larger than SQLite allows",
  SQLITE_CONSTRAINT: "a constraint of the database was violated",
  SQLITE_NOTADB: "the file is not a SQLite database, or is damaged",
  STORE_CLOSED: "the store is closed"
}
