/**
 * A result cache in any storage that `effect/persistence` can use: Redis, SQL,
 * a key-value store, memory.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Persistence from "effect/persistence/Persistence"
import * as ResultCache from "../service/ResultCache.ts"
import * as CallerOptions from "../values/Options.ts"

/**
 * How results are kept.
 *
 * **Details**
 *
 * - `storeId` (`mandate_results`): the name under which the storage keeps them:
 *   a prefix of keys in Redis and key-value stores, a column or table in SQL.
 *   Caches with the same one share their entries
 * - `timeToLive` (1 day): how long a result is kept where its agent's
 *   `CachePolicy` does not say. `"Infinity"` keeps it until the storage drops it
 * - `timeout` (2 seconds): how long one operation may take. A cache that takes
 *   longer is done without
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly storeId?: string
  readonly timeToLive?: Duration.Input
  readonly timeout?: Duration.Input
}

/**
 * Layer that keeps results in the `BackingPersistence` that it is given.
 *
 * **Details**
 *
 * All processes that use one storage share their results. A storage that fails,
 * hangs or restarts fails no run: what cannot be read is run again. Entries are
 * untrusted: one that does not decode, or that another version of this package
 * wrote in another form, is a miss and is removed. Whoever can write to the
 * storage can answer for agents.
 *
 * The Redis client of the example keeps commands that it cannot send, so that
 * each would wait its time while the server is gone. `disableOfflineQueue` makes
 * them misses at once.
 *
 * **Example** (Results in Redis)
 *
 * ```ts
 * import { NodeRedis } from "@effect/platform-node"
 * import { ResultCachePersistence } from "@mandate/core/persistence"
 * import { Layer } from "effect"
 * import { Persistence } from "effect/persistence"
 *
 * export const cache = ResultCachePersistence.layer({ timeToLive: "1 hour" }).pipe(
 *   Layer.provide(Persistence.layerBackingRedis),
 *   Layer.provide(NodeRedis.layer({ url: "redis://localhost:6379", disableOfflineQueue: true }))
 * )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (
  options?: Options
): Layer.Layer<ResultCache.ResultCache, never, Persistence.BackingPersistence> =>
  Layer.effect(
    ResultCache.ResultCache,
    Effect.gen(function*() {
      const { storeId = "mandate_results", timeToLive = "1 day", timeout } = yield* CallerOptions.orDie(
        "ResultCachePersistence.layer",
        decode(options)
      )
      const backing = yield* Persistence.BackingPersistence
      const store = yield* backing.make(storeId)
      return ResultCache.make(
        { read: store.get, write: store.set, remove: store.remove, clear: store.clear },
        { timeToLive, ...(timeout === undefined ? {} : { timeout }) }
      )
    })
  )

const decode = CallerOptions.make<Options>("option", {
  storeId: CallerOptions.checked<string>(
    "a string that is not empty",
    (value) => typeof value === "string" && value !== ""
  ),
  timeToLive: CallerOptions.checked<Duration.Input>(
    "a positive duration",
    (value) => CallerOptions.millisOf(value) > 0
  ),
  timeout: CallerOptions.duration
})
