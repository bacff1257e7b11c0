/**
 * A run store in one SQLite file.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import type * as Scope from "effect/Scope"
import { RunStore } from "../service/RunStore.ts"
import * as CallerOptions from "../values/Options.ts"
import * as GroupCommit from "./GroupCommit.ts"
import * as SqliteDriver from "./SqliteDriver.ts"
import { SqliteError } from "./SqliteError.ts"
import * as SqliteFile from "./SqliteFile.ts"
import { SqliteTables } from "./SqliteTables.ts"

/**
 * Which file a store is kept in, and how.
 *
 * **Details**
 *
 * - `filename`: made if it is not there; `":memory:"` is a database that is
 *   lost when the store closes
 * - `synchronous`: `"normal"` (the default) waits for the disk at checkpoints,
 *   so that a crash of the process loses nothing, while a power failure may
 *   lose the last commits, and never more than whole ones. `"full"` waits at
 *   each commit
 * - `busyTimeout` (5 seconds): how long an operation waits for another process
 *   that writes to the file
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly filename: string
  readonly synchronous?: "normal" | "full"
  readonly busyTimeout?: Duration.Input
}

/**
 * Opens a store. It is closed with the scope, after what waits was committed.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: Options): Effect.Effect<RunStore["Service"], SqliteError, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.map(
        Effect.flatMap(decoded(options), SqliteFile.open),
        ({ db, statements }) => ({ db, commits: GroupCommit.make(db), tables: new SqliteTables(statements) })
      ),
      ({ commits, db }) =>
        Effect.sync(() => {
          commits.flush()
          // What is closed already cannot be closed again, and what waits was told that it failed.
          Result.try(() => db.close())
        })
    ),
    ({ commits, tables }) => SqliteDriver.make(commits, tables)
  )

// SQL takes no parameter for a pragma, so only words that are listed here get into one.
const decode = CallerOptions.make<Options>("option", {
  filename: CallerOptions.text,
  synchronous: CallerOptions.oneOf(["normal", "full"]),
  busyTimeout: CallerOptions.checked<Duration.Input>("a finite duration from 0 on", (value) => {
    const millis = CallerOptions.millisOf(value)
    return millis >= 0 && millis < Number.POSITIVE_INFINITY
  })
}, ["filename"])

const decoded = (options: Options): Effect.Effect<Parameters<typeof SqliteFile.open>[0], SqliteError> =>
  Result.match(decode(options), {
    onSuccess: ({ busyTimeout = "5 seconds", filename, synchronous = "normal" }) =>
      Effect.succeed({ filename, synchronous, busyMillis: CallerOptions.millisOf(busyTimeout) }),
    onFailure: (issues) => Effect.fail(new SqliteError({ filename: "", reason: { _tag: "InvalidOptions", issues } }))
  })

/**
 * Layer with a store in one SQLite file. Several processes may use one file;
 * leases keep each run to one of them.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: Options): Layer.Layer<RunStore, SqliteError> => Layer.effect(RunStore, make(options))
