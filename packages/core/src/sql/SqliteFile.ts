/**
 * A connection to a SQLite file of ours.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { DatabaseSync } from "node:sqlite"
import { SqliteError, type SqliteErrorReason } from "./SqliteError.ts"
import { applicationId, migrations } from "./SqliteFormat.ts"

/**
 * Opens a file, makes it one of ours if it is new or empty, and brings it to
 * the newest format. Several processes may do that at once. Nothing of a file
 * that is refused is changed.
 *
 * @category constructors
 * @since 0.1.0
 */
export const open = (options: {
  readonly filename: string
  readonly synchronous: "normal" | "full"
  readonly busyMillis: number
}): Effect.Effect<DatabaseSync, SqliteError> =>
  Effect.suspend(() => {
    const { busyMillis, filename, synchronous } = options
    const refused = (reason: SqliteErrorReason) => Effect.fail(new SqliteError({ filename, reason }))
    // SQLite makes a database that is lost at the end of one without a name.
    if (filename === "") return refused({ _tag: "CannotOpen", cause: "the name is empty" })
    const opened = Result.try(() => new DatabaseSync(filename, { timeout: busyMillis }))
    if (Result.isFailure(opened)) return refused(reasonOf(opened.failure))
    const db = opened.success
    const prepared = Result.try(() => prepare(db, synchronous, busyMillis))
    const reason = Result.isFailure(prepared) ? reasonOf(prepared.failure) : prepared.success
    if (reason === undefined) return Effect.succeed(db)
    db.close()
    return refused(reason)
  })

const prepare = (
  db: DatabaseSync,
  synchronous: "normal" | "full",
  busyMillis: number
): SqliteErrorReason | undefined => {
  const refusal = refusalOf(db)
  if (refusal !== undefined) return refusal
  const mode = switchToWal(db, busyMillis)
  if (Result.isFailure(mode)) return reasonOf(mode.failure)
  if (mode.success !== "wal" && mode.success !== "memory") {
    return { _tag: "CannotOpen", cause: `the journal mode is ${mode.success}; it has to be wal` }
  }
  db.exec(`PRAGMA synchronous = ${synchronous}; PRAGMA cache_size = -${cacheKibibytes}`)
  return format(db) === migrations.length ? undefined : migrate(db)
}

/** Why a file is not for us; nothing for a file that is ours or empty. */
const refusalOf = (db: DatabaseSync): SqliteErrorReason | undefined => {
  const tables = numberOf(db, "SELECT count(*) FROM sqlite_schema")
  if (numberOf(db, "PRAGMA application_id") !== applicationId) {
    return tables === 0 ? undefined : { _tag: "OtherDatabase" }
  }
  const found = format(db)
  return found > migrations.length ? { _tag: "NewerFormat", found, known: migrations.length } : undefined
}

// One transaction, which another process may have made before.
const migrate = (db: DatabaseSync): SqliteErrorReason | undefined => {
  db.exec("BEGIN IMMEDIATE")
  const refusal = refusalOf(db)
  if (refusal === undefined) {
    const from = format(db)
    for (const migration of migrations.slice(from)) db.exec(migration)
    db.exec(`PRAGMA application_id = ${applicationId}`)
    db.exec(`UPDATE meta SET value = ${migrations.length} WHERE key = 'format'`)
  }
  db.exec("COMMIT")
  return refusal
}

const format = (db: DatabaseSync): number =>
  numberOf(db, "PRAGMA application_id") === applicationId
    ? numberOf(db, "SELECT value FROM meta WHERE key = 'format'")
    : 0

/** The only value of a query. */
const numberOf = (db: DatabaseSync, query: string): number => Number(Object.values(db.prepare(query).get() ?? {})[0])

// SQLite often does not wait for its lock here, since two processes that switch at once could wait for each other.
const switchToWal = (db: DatabaseSync, busyMillis: number): Result.Result<unknown, unknown> => {
  const last = performance.now() + busyMillis
  const attempt = () => Result.try(() => db.prepare("PRAGMA journal_mode = WAL").get()?.["journal_mode"])
  let mode = attempt()
  while (Result.isFailure(mode) && isBusy(mode.failure) && performance.now() < last) {
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, pauseMillis)
    mode = attempt()
  }
  return mode
}

const cacheKibibytes = 4096
const pauseMillis = 10

/** The primary result code of an error of SQLite. */
const codeOf = (error: unknown): number | undefined =>
  typeof error === "object" && error !== null && "errcode" in error ? Number(error.errcode) & 0xff : undefined

const isBusy = (error: unknown): boolean => codeOf(error) === 5

const isUnreadable = (error: unknown): boolean => codeOf(error) === 11 || codeOf(error) === 26

const reasonOf = (error: unknown): SqliteErrorReason =>
  isUnreadable(error) ? { _tag: "NotADatabase" } : { _tag: "CannotOpen", cause: error }
