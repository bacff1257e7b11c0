/**
 * Storage of cached results that may fail, hang and hold anything, and the
 * guard that no run notices it through.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { CachedResult, fits } from "../values/CachedResult.ts"
import * as SchemaIssues from "../values/SchemaIssues.ts"

/**
 * Storage of cached results.
 *
 * **Details**
 *
 * `read` gives what is there, whoever wrote it, and `undefined` for nothing.
 * `write` gets plain JSON, and a time to live unless the entry is to stay.
 *
 * @category models
 * @since 0.1.0
 */
export interface CacheBacking {
  readonly read: (key: string) => Effect.Effect<unknown, unknown>
  readonly write: (
    key: string,
    entry: CachedResult,
    timeToLive: Duration.Duration | undefined
  ) => Effect.Effect<unknown, unknown>
  readonly remove: (key: string) => Effect.Effect<unknown, unknown>
  readonly clear: Effect.Effect<unknown, unknown>
}

/**
 * Makes a cache of a storage.
 *
 * **Details**
 *
 * Invariants:
 *
 * 1. Nothing that the storage does fails an operation, defects and
 *    interruptions of its own included.
 * 2. No operation waits longer than `timeout` for the storage, even one that
 *    cannot be interrupted.
 * 3. What is given out decoded whole. What does not decode is removed.
 * 4. Each kind of failure is logged at most once an hour, without keys and
 *    entries.
 *
 * @category constructors
 * @since 0.1.0
 */
export const guard = (backing: CacheBacking, limits: Limits) => {
  const logged = new Map<Kind, number>()
  const log = (kind: Kind, cause?: Cause.Cause<unknown>): Effect.Effect<void> =>
    Effect.flatMap(Clock.currentTimeMillis, (now) => {
      if (now - (logged.get(kind) ?? Number.NEGATIVE_INFINITY) < logEveryMillis) return Effect.void
      logged.set(kind, now)
      return Effect.logWarning(messages[kind], ...(cause === undefined ? [] : [cause]))
    })

  const attempt = <A>(failed: Kind, effect: () => Effect.Effect<A, unknown>): Effect.Effect<Option.Option<A>> =>
    Effect.flatMap(within(limits.timeout, Effect.suspend(effect)), (exit) => {
      if (exit === undefined) return Effect.as(log("late"), Option.none())
      return Exit.isSuccess(exit) ? Effect.succeedSome(exit.value) : Effect.as(log(failed, exit.cause), Option.none())
    })
  const remove = (key: string) => Effect.asVoid(attempt("notRemoved", () => backing.remove(key)))

  return {
    get: (key: string): Effect.Effect<Option.Option<CachedResult>> =>
      Effect.flatMap(attempt("notRead", () => backing.read(key)), (read) => {
        if (Option.isNone(read) || read.value === undefined) return Effect.succeedNone
        const decoded = decode(read.value)
        if (Result.isSuccess(decoded)) return Effect.succeedSome(decoded.success)
        const lines = SchemaIssues.lines(decoded.failure, () => false).join("; ")
        return Effect.as(Effect.andThen(log("unreadable", Cause.fail(lines)), remove(key)), Option.none())
      }),
    set: (
      key: string,
      result: CachedResult,
      options?: { readonly timeToLive?: Duration.Input | undefined }
    ): Effect.Effect<void> => {
      const timeToLive = Duration.fromInputUnsafe(options?.timeToLive ?? limits.timeToLive)
      // What is there already would be found again.
      if (!fits(result) || !Duration.isPositive(timeToLive)) return remove(key)
      const finite = Duration.isFinite(timeToLive) ? timeToLive : undefined
      return Effect.asVoid(attempt("notWritten", () => backing.write(key, { ...result }, finite)))
    },
    remove,
    clear: Effect.asVoid(attempt("notRemoved", () => backing.clear))
  }
}

interface Limits {
  readonly timeout: Duration.Duration
  readonly timeToLive: Duration.Duration
}

type Kind = keyof typeof messages

const messages = {
  late: "The storage of the result cache does not answer in time; runs go on without it",
  notRead: "The result cache cannot be read; runs go on without it",
  notWritten: "The result cache cannot be written; runs go on without it",
  notRemoved: "Entries of the result cache cannot be removed",
  unreadable: "An entry of the result cache is of another form, and is removed"
}

const logEveryMillis = 3_600_000

const decode = Schema.decodeUnknownResult(CachedResult, { errors: "all" })

/**
 * The exit of an effect, or nothing if there is none in time. Then its fiber is
 * told to stop, and nobody waits for it.
 *
 * @category combinators
 * @since 0.1.0
 */
export const within = <A>(
  timeout: Duration.Duration,
  effect: Effect.Effect<A, unknown>
): Effect.Effect<Exit.Exit<A, unknown> | undefined> =>
  Effect.uninterruptibleMask((restore) =>
    // Detached, since what cannot be interrupted would hold whoever waits for its end.
    Effect.flatMap(Effect.forkDetach(effect, { startImmediately: true }), (fiber) => {
      const exit = fiber.pollUnsafe()
      if (exit !== undefined) return Effect.succeed(exit)
      return restore(Effect.timeoutOption(Fiber.await(fiber), timeout)).pipe(
        Effect.map(Option.getOrUndefined),
        Effect.ensuring(Effect.sync(() => fiber.interruptUnsafe()))
      )
    })
  )
