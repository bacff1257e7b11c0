/**
 * Runs in a SQLite file, by `node:sqlite`.
 *
 * @since 0.1.0
 */
export * as MandateSqlite from "./MandateSqlite.ts"
export * as SqliteError from "./SqliteError.ts"
export * as SqliteRunStore from "./SqliteRunStore.ts"
