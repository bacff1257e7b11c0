/**
 * The cache of results of delegated runs, and the ones in memory.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { type CachedResult, fits } from "../values/CachedResult.ts"
import * as Options from "../values/Options.ts"
import * as CacheBacking from "./CacheBacking.ts"

export type { CacheBacking } from "./CacheBacking.ts"

/**
 * Service that keeps results by key.
 *
 * **Details**
 *
 * A cache never fails a run: what it cannot read is a miss, and what it cannot
 * write is not kept.
 *
 * @category services
 * @since 0.1.0
 */
export class ResultCache extends Context.Service<ResultCache, {
  /** Finds the result of a key. */
  readonly get: (key: string) => Effect.Effect<Option.Option<CachedResult>>

  /**
   * Keeps a result, in the place of an earlier one. One of more than 262 144
   * bytes is not kept. Without a time to live the cache's own holds.
   */
  readonly set: (
    key: string,
    result: CachedResult,
    options?: { readonly timeToLive?: Duration.Input | undefined }
  ) => Effect.Effect<void>

  /** Removes the result of a key. */
  readonly remove: (key: string) => Effect.Effect<void>

  /** Removes all results. */
  readonly clear: Effect.Effect<void>
}>()("~mandate/ResultCache") {}

/**
 * Layer that keeps results in memory, at most `capacity` (256) of them: the one
 * that was not used for longest goes first.
 *
 * **Gotchas**
 *
 * `capacity` is a positive whole number; anything else is a defect, an
 * `InvalidOptions`.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory = (options?: { readonly capacity?: number }): Layer.Layer<ResultCache> =>
  Layer.effect(
    ResultCache,
    Effect.map(
      Options.orDie("ResultCache.layerMemory", decodeMemory(options)),
      ({ capacity = defaultCapacity }) => inMemory(capacity)
    )
  )

const decodeMemory = Options.make<{ readonly capacity?: number }>("option", { capacity: Options.count })

/**
 * Layer that keeps nothing: every call runs.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerNone: Layer.Layer<ResultCache> = Layer.sync(ResultCache, () => none)

/**
 * A cache that keeps nothing.
 *
 * @category constructors
 * @since 0.1.0
 */
export const none: ResultCache["Service"] = {
  get: () => Effect.succeedNone,
  set: () => Effect.void,
  remove: () => Effect.void,
  clear: Effect.void
}

/**
 * Creates a cache in memory, see {@link layerMemory}.
 *
 * @category constructors
 * @since 0.1.0
 */
export const memory = (options?: { readonly capacity?: number }): ResultCache["Service"] =>
  inMemory(Options.orThrow("ResultCache.memory", decodeMemory(options)).capacity ?? defaultCapacity)

/**
 * Creates a cache over any storage, which may fail, hang and hold anything.
 *
 * **Details**
 *
 * - `timeout` (2 seconds): how long one operation of the storage may take. One
 *   that takes longer is given up
 * - `timeToLive` (infinite): how long a result is kept that is set without one
 *
 * What goes wrong is logged with its cause, once an hour for each kind. An
 * entry that cannot be decoded is removed.
 *
 * @see {@link layerMemory} for the cache that needs no storage
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  backing: CacheBacking.CacheBacking,
  options?: { readonly timeout?: Duration.Input; readonly timeToLive?: Duration.Input }
): ResultCache["Service"] => {
  const { timeToLive = Duration.infinity, timeout = "2 seconds" } = Options.orThrow(
    "ResultCache.make",
    decodeBacked(options)
  )
  return CacheBacking.guard(backing, {
    timeout: Duration.fromInputUnsafe(timeout),
    timeToLive: Duration.fromInputUnsafe(timeToLive)
  })
}

const decodeBacked = Options.make<{ readonly timeout?: Duration.Input; readonly timeToLive?: Duration.Input }>(
  "option",
  {
    timeout: Options.duration,
    timeToLive: Options.checked<Duration.Input>("a positive duration", (value) => Options.millisOf(value) > 0)
  }
)

const defaultCapacity = 256

const inMemory = (capacity: number): ResultCache["Service"] => {
  // Invariants:
  // 1. There are never more than `capacity` entries.
  // 2. Reading or writing an entry uses it. The entry that goes for a new one is the one that was not used for longest.
  // 3. An entry whose time is over is not read, and goes when it is asked for.
  // A map keeps its keys in the order in which they were added.
  const entries = new Map<string, Entry>()
  return {
    get: (key) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const entry = entries.get(key)
        if (entry === undefined) return Option.none()
        entries.delete(key)
        if (entry.expires <= now) return Option.none()
        entries.set(key, entry)
        return Option.some(entry.result)
      }),
    set: (key, result, options) =>
      Effect.map(Clock.currentTimeMillis, (now) => {
        const millis = Duration.toMillis(options?.timeToLive ?? Duration.infinity)
        entries.delete(key)
        if (!fits(result) || !(millis > 0)) return
        entries.set(key, { result: Object.freeze({ ...result }), expires: now + millis })
        for (const oldest of entries.keys()) {
          if (entries.size <= capacity) break
          entries.delete(oldest)
        }
      }),
    remove: (key) => Effect.sync(() => void entries.delete(key)),
    clear: Effect.sync(() => entries.clear())
  }
}

interface Entry {
  readonly result: CachedResult
  readonly expires: number
}
