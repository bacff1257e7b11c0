/**
 * A connection to a SQLite file of ours.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { DatabaseSync } from "node:sqlite"
import { SqliteError, type SqliteErrorReason } from "./SqliteError.ts"
import * as SqliteFault from "./SqliteFault.ts"
import { applicationId, migrations, tables } from "./SqliteFormat.ts"
import * as SqliteModule from "./SqliteModule.ts"
import * as SqliteStatements from "./SqliteStatements.ts"

/**
 * A connection, with its statements.
 *
 * @category models
 * @since 0.1.0
 */
export interface Opened {
  readonly db: DatabaseSync
  readonly statements: SqliteStatements.SqliteStatements
}

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
}): Effect.Effect<Opened, SqliteError> =>
  Effect.suspend(() => {
    const { busyMillis, filename, synchronous } = options
    const refused = (reason: SqliteErrorReason) => Effect.fail(new SqliteError({ filename, reason }))
    const Database = SqliteModule.load()
    if (Database === undefined) return refused({ _tag: "Unsupported", runtime: SqliteModule.runtime() })
    // SQLite makes a database that is lost at the end of one without a name.
    if (filename === "") return refused({ _tag: "CannotOpen", cause: "the name is empty" })
    const opened = Result.try(() => new Database(filename, { timeout: busyMillis }))
    if (Result.isFailure(opened)) return refused(reasonOf(opened.failure))
    const db = opened.success
    const prepared = attempt(() => prepare(db, synchronous, busyMillis))
    const refusal = Result.isFailure(prepared) ? prepared.failure : prepared.success
    const statements = refusal === undefined ? attempt(() => SqliteStatements.make(db)) : Result.fail(refusal)
    if (Result.isSuccess(statements)) return Effect.succeed({ db, statements: statements.success })
    db.close()
    return refused(statements.failure)
  })

const prepare = (
  db: DatabaseSync,
  synchronous: "normal" | "full",
  busyMillis: number
): SqliteErrorReason | undefined => {
  if (!SqliteModule.isComplete(db)) return { _tag: "Unsupported", runtime: SqliteModule.runtime() }
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
  // Another process may make it one of ours between two queries; it has all our tables as soon as it has our mark.
  const isEmpty = namesIn(db).size === 0
  if (numberOf(db, "PRAGMA application_id") !== applicationId) return isEmpty ? undefined : { _tag: "OtherDatabase" }
  const found = namesIn(db)
  const damaged = (detail: string): SqliteErrorReason => ({ _tag: "Damaged", detail })
  // A newer format may have other tables; its number is in this one whatever the format.
  if (!found.has("meta")) return damaged("it has no table \"meta\"")
  const stored = format(db)
  if (!Number.isSafeInteger(stored) || stored < 1) return damaged("it does not say its format")
  if (stored > migrations.length) return { _tag: "NewerFormat", found: stored, known: migrations.length }
  const missing = tables.find(([, name]) => !found.has(name))
  if (missing !== undefined) return damaged(`it has no ${missing[0]} "${missing[1]}"`)
  // Without it every lease would get the same epoch, and fence nobody.
  const epoch = numberOf(db, "SELECT value FROM meta WHERE key = 'epoch'")
  return Number.isSafeInteger(epoch) && epoch >= 0 ? undefined : damaged("it does not say its last epoch")
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

/** Names of all tables, indexes and the like. */
const namesIn = (db: DatabaseSync): ReadonlySet<string> =>
  new Set(db.prepare("SELECT name FROM sqlite_schema").all().map(({ name }) => String(name)))

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

const isBusy = (error: unknown): boolean => SqliteFault.resultCode(error) === 5

const isUnreadable = (error: unknown): boolean =>
  SqliteFault.resultCode(error) === 11 || SqliteFault.resultCode(error) === 26

const attempt = <A>(step: () => A): Result.Result<A, SqliteErrorReason> => Result.mapError(Result.try(step), reasonOf)

const reasonOf = (error: unknown): SqliteErrorReason => {
  if (isUnreadable(error)) return { _tag: "NotADatabase" }
  // A query of ours that SQLite cannot prepare names what the file does not have: "no such column: r.root".
  if (SqliteFault.resultCode(error) === 1 && error instanceof Error) return { _tag: "Damaged", detail: error.message }
  const code = SqliteFault.codeOf(error)
  return { _tag: "CannotOpen", ...(code === undefined ? {} : { code }), cause: error }
}
