/**
 * The runtime on one SQLite file.
 *
 * @since 0.1.0
 */
import * as Layer from "effect/Layer"
import * as Mandate from "../agent/Mandate.ts"
import type { SqliteError } from "./SqliteError.ts"
import * as SqliteRunStore from "./SqliteRunStore.ts"

/**
 * Layer with the whole runtime on one SQLite file: what `Mandate.layerMemory`
 * is, and runs outlive the process.
 *
 * **Details**
 *
 * Another process, or this one after a crash, goes on with a run by `recover`.
 * Times are those of `RuntimeConfig`, as for every runtime.
 *
 * **Example** (Runs in a file)
 *
 * ```ts
 * import { AgentBuilder } from "@mandate/core"
 * import { MandateSqlite } from "@mandate/core/sqlite"
 * import { Effect } from "effect"
 *
 * export const program = Effect.gen(function*() {
 *   const agent = yield* AgentBuilder.make("clerk").build()
 *   return yield* agent.run("My name is Ada.", { threadId: "desk-1" })
 * }).pipe(Effect.provide(MandateSqlite.layer({ filename: "runs.db" })))
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (options: SqliteRunStore.Options): Layer.Layer<Mandate.Mandate, SqliteError> =>
  Layer.provide(Mandate.layer, SqliteRunStore.layer(options))
