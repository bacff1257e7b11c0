/**
 * Results of delegated runs that equal calls use again.
 *
 * **Details**
 *
 * Invariants:
 *
 * 1. A success is found by every equal call, a partial result only by one with
 *    the same budget. Errors, timeouts and cancelled runs are never kept.
 * 2. What is found is decoded by the report schema of now, and a miss if it
 *    does not decode. Each hit decodes anew, so nobody shares a value.
 * 3. Nothing that a cache gives or does fails a call.
 * 4. A call looks again where another one was kept while it was looking: equal
 *    calls at the same time work once, however slow the cache is.
 *
 * @since 0.1.0
 */
import type * as Context from "effect/Context"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import * as CacheBacking from "../service/CacheBacking.ts"
import { none, type ResultCache } from "../service/ResultCache.ts"
import * as CachedResult from "../values/CachedResult.ts"
import type { PostureKeys } from "../values/CacheKey.ts"
import type { ChildFailure } from "../values/ChildFailure.ts"
import type { Json } from "../values/Json.ts"
import type { JsonCodec } from "../values/JsonCodec.ts"
import * as EqualCalls from "./EqualCalls.ts"

/**
 * A result of an equal call: encoded, and decoded. `error` says why a partial
 * one is not whole.
 *
 * @category models
 * @since 0.1.0
 */
export interface Hit {
  readonly json: Json
  readonly value: unknown
  readonly error: ChildFailure | undefined
}

/**
 * An agent, as far as its reports are decoded.
 *
 * @category models
 * @since 0.1.0
 */
export interface Reporter {
  readonly agent: { readonly context: Context.Context<never> }
  readonly report: JsonCodec<unknown> | undefined
}

/**
 * A result to keep, as its run gave it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Kept {
  readonly json: Json
  readonly error: ChildFailure | undefined
}

/**
 * What a result is kept under, and for how long; absent for as long as the
 * cache keeps it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Keys extends PostureKeys {
  readonly timeToLive?: Duration.Input | undefined
}

/**
 * The results of one cache in this process.
 *
 * @category models
 * @since 0.1.0
 */
export interface EqualResults {
  /**
   * Gives the result of an equal call, or does the work: at the same time only
   * one of the equal calls of this process does. What the work gives to keep is
   * kept and shared. `partial` tells whether a partial result will do.
   */
  readonly use: <A, E>(call: {
    readonly keys: Keys | undefined
    readonly subagent: Reporter
    readonly id: string
    readonly within: ReadonlyArray<string>
    readonly queue?: () => string | undefined
    readonly partial: boolean
  }, work: Effect.Effect<{ readonly value: A; readonly keep: Kept | undefined }, E>) => Effect.Effect<Used<A>, E>
}

/**
 * What a call gives: the value of its own work, or the result of an equal one.
 *
 * @category models
 * @since 0.1.0
 */
export type Used<A> =
  | { readonly _tag: "Ran"; readonly value: A }
  | { readonly _tag: "Hit"; readonly hit: Hit }

/**
 * The results of a cache: the same for the same cache, so that all its equal
 * calls wait for each other. Without a cache every call works for itself.
 *
 * @category constructors
 * @since 0.1.0
 */
export const of = (cache: ResultCache["Service"]): EqualResults => {
  if (cache === none) return alone
  const known = all.get(cache) ?? make(cache)
  all.set(cache, known)
  return known
}

const all = new WeakMap<ResultCache["Service"], EqualResults>()

const make = (cache: ResultCache["Service"]): EqualResults => {
  const calls = EqualCalls.make<Kept>()
  let written = 0
  const find = Effect.fnUntraced(function*(keys: PostureKeys, subagent: Reporter, partial: boolean) {
    for (const status of partial ? ["success", "partial"] as const : ["success"] as const) {
      const cached = yield* read(cache, keys[status])
      // A partial result is never taken for a whole one, whoever wrote it where.
      if (cached?.status !== status) continue
      const error = cached.status === "partial" ? cached.error : undefined
      const hit = yield* decoded(subagent, { json: CachedResult.value(cached), error })
      if (hit !== undefined) return hit
    }
    return undefined
  })
  const write = (keys: Keys, kept: Kept) => Effect.andThen(store(cache, keys, kept), Effect.sync(() => void written++))
  return {
    use: Effect.fnUntraced(function*<A, E>(
      { id, keys, partial, queue, subagent, within }: Parameters<EqualResults["use"]>[0],
      work: Effect.Effect<{ readonly value: A; readonly keep: Kept | undefined }, E>
    ) {
      if (keys === undefined) return ran((yield* work).value)
      const before = written
      const hit = yield* find(keys, subagent, partial)
      if (hit !== undefined) return found(hit)
      const late = Effect.suspend(() => written === before ? Effect.undefined : find(keys, subagent, partial))
      const worked = Effect.map(
        Effect.tap(work, ({ keep }) => keep === undefined ? Effect.void : write(keys, keep)),
        ({ keep, value }) => ({
          value: ran(value),
          shared: keep === undefined ? Option.none() : Option.some(copy(keep))
        })
      )
      const ended = yield* calls.run<Used<A>, E, never>(
        // Calls that take no partial result do not wait for one.
        { key: partial ? keys.partial : `${keys.partial}/whole`, id, within, queue },
        Effect.flatMap(late, (hit) => hit === undefined ? worked : Effect.succeed(ofHit(hit)))
      )
      if (ended._tag === "Ran") return ended.value
      const given = yield* decoded(subagent, copy(ended.shared))
      return given === undefined ? ran((yield* work).value) : found(given)
    })
  }
}

const alone: EqualResults = { use: (_, work) => Effect.map(work, ({ value }) => ran(value)) }

const ran = <A>(value: A): Used<A> => ({ _tag: "Ran", value })

const found = (hit: Hit): Used<never> => ({ _tag: "Hit", hit })

const ofHit = (hit: Hit): EqualCalls.Work<Used<never>, Kept> => ({ value: found(hit), shared: Option.some(copy(hit)) })

// An application's own cache may do and give anything, or nothing at all, and a run goes on without it.
const guarded = <A>(use: () => Effect.Effect<A>): Effect.Effect<A | undefined> =>
  Effect.flatMap(CacheBacking.within(patience, Effect.suspend(use)), (exit) => {
    if (exit?._tag === "Success") return Effect.succeed(exit.value)
    const problem = exit === undefined ? "does not answer in time" : "failed"
    return Effect.as(
      Effect.logWarning(
        `The result cache ${problem}; the run goes on without it`,
        ...(exit === undefined ? [] : [exit.cause])
      ),
      undefined
    )
  })

const patience = Duration.seconds(5)

const read = (cache: ResultCache["Service"], key: string): Effect.Effect<CachedResult.CachedResult | undefined> =>
  guarded(() => Effect.map(cache.get(key), (found) => Option.getOrUndefined(Option.flatMap(found, whole))))

const whole = Schema.decodeUnknownOption(CachedResult.CachedResult)

const store = (cache: ResultCache["Service"], keys: Keys, { error, json }: Kept): Effect.Effect<void> =>
  guarded(() =>
    error === undefined
      ? cache.set(keys.success, CachedResult.success(json), { timeToLive: keys.timeToLive })
      : cache.set(keys.partial, CachedResult.partial(json, error), { timeToLive: keys.timeToLive })
  )

// What a schema takes as it is, it gives as it is, and each caller may change what it got.
const copy = ({ error, json }: Kept): Kept => ({ json: structuredClone(json), error })

const decoded = ({ agent, report }: Reporter, { error, json }: Kept): Effect.Effect<Hit | undefined> => {
  // What a partial run had said last is text, whatever its report would have been.
  if (report === undefined) return Effect.succeed(typeof json === "string" ? { json, value: json, error } : undefined)
  return Effect.provideContext(
    Effect.match(report.decode(json) as Effect.Effect<unknown, unknown>, {
      onFailure: () => undefined,
      onSuccess: (value): Hit => ({ json, value, error })
    }),
    agent.context
  )
}
