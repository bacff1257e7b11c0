/**
 * Events of runs, for those who watch them.
 *
 * **Details**
 *
 * Invariants:
 *
 * 1. A reader subscribes before it reads the store, so it misses nothing; what
 *    comes twice is left out by its number.
 * 2. The events of a run end when its drive does, whether an event says so or
 *    not.
 * 3. Leaving a stream changes nothing for the run.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Queue from "effect/Queue"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type * as Scope from "effect/Scope"
import * as Stream from "effect/Stream"
import type { Mandate } from "../service/Mandate.ts"
import type { Subscription } from "../service/RunEvents.ts"
import type { StoreError } from "../service/RunStore.ts"
import type { ThreadId } from "../values/Ids.ts"
import type { RunError } from "../values/RunError.ts"
import { RunEvent } from "../values/RunEvent.ts"
import * as RunFailure from "./RunFailure.ts"
import type { Started } from "./StartRun.ts"

/**
 * Events of a thread and of everything below it: what the store has with a
 * number over `after`, then what happens here, without a gap and without
 * doubles.
 *
 * @category constructors
 * @since 0.1.0
 */
export const thread = (
  runtime: Mandate["Service"],
  threadId: string,
  after: number
): Stream.Stream<RunEvent, RunError> =>
  Stream.unwrap(Effect.gen(function*() {
    const live = yield* runtime.events.subscribe(threadId as ThreadId)
    const stored = yield* RunFailure.fromStore(threadId)(replay(runtime, threadId, after))
    return Stream.concat(Stream.fromIterable(stored), following(live, stored, after))
  }))

/**
 * Events of a run and of everything below it, from its start until its drive
 * ends, as {@link thread} gives them.
 *
 * **Details**
 *
 * `after` is the number of the last event before the run. Leaving the stream
 * changes nothing for the run.
 *
 * @category constructors
 * @since 0.1.0
 */
export const events = (
  runtime: Mandate["Service"],
  run: Started,
  after: number
): Stream.Stream<RunEvent> =>
  Stream.unwrap(Effect.gen(function*() {
    const live = yield* runtime.events.subscribe(run.threadId)
    yield* endWith(run, live)
    const stored = yield* Effect.catch(
      replay(runtime, run.threadId, after),
      (error) => Effect.as(Effect.logWarning("Stored events could not be read", error), [])
    )
    const ended = stored.some((event) => endsDrive(run.runId, event))
    const more = ended || !runtime.host.isLive(run.runId) ? Stream.empty : following(live, stored, after)
    return Stream.fromIterable(stored).pipe(
      Stream.concat(more),
      Stream.takeUntil((event) => endsDrive(run.runId, event))
    )
  }))

/**
 * Whether an event comes after the one of a number. Live events do, and those
 * that no store has, whose number is 0.
 *
 * @category getters
 * @since 0.1.0
 */
export const isAfter = (event: RunEvent, last: number): boolean =>
  !("sequence" in event) || event.sequence === 0 || event.sequence > last

/**
 * Ends a subscription when the drive of a run ends, whatever has come by then.
 * One that another process took over, or whose store is down, has no event that
 * says so.
 *
 * @category running
 * @since 0.1.0
 */
export const endWith = ({ wait }: Started, live: Subscription): Effect.Effect<void, never, Scope.Scope> =>
  Effect.asVoid(Effect.forkScoped(Effect.andThen(wait, Effect.sync(() => Queue.endUnsafe(live)))))

/**
 * Whether an event ends a drive of a run.
 *
 * @category getters
 * @since 0.1.0
 */
export const endsDrive = (runId: string, event: RunEvent): boolean =>
  (event._tag === "RunSettled" || event._tag === "RunFailed" || event._tag === "RunSuspended") && event.runId === runId

// What was stored while nobody had read it yet is in both.
const following = (live: Subscription, stored: ReadonlyArray<RunEvent>, after: number): Stream.Stream<RunEvent> => {
  const last = stored.reduce((most, event) => "sequence" in event ? Math.max(most, event.sequence) : most, after)
  return Stream.filter(Stream.fromQueue(live), (event) => isAfter(event, last))
}

const decode = Schema.decodeUnknownResult(RunEvent)

// An event that cannot be read is left out: it is for watching, and the run does not depend on it.
const replay = (
  { store }: Mandate["Service"],
  threadId: string,
  after: number
): Effect.Effect<ReadonlyArray<RunEvent>, StoreError> =>
  Effect.map(store.events(threadId, after), (rows) =>
    rows.flatMap(({ json, sequence }) =>
      Result.match(
        Result.flatMap(
          Result.try(() => ({ ...JSON.parse(json), sequence })),
          decode
        ),
        { onSuccess: (event) => [event], onFailure: () => [] }
      )
    ))
