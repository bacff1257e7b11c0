/**
 * The events of one run, for those who watch it.
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
import { RunEvent } from "../values/RunEvent.ts"
import type { Started } from "./StartRun.ts"

/**
 * Events of a run and of everything below it, from its start until its drive
 * ends: what the store has, then what happens, without a gap and without
 * doubles.
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
    const stored = yield* replay(runtime, run.threadId, after)
    const last = stored.reduce((most, event) => Math.max(most, sequence(event)), after)
    const ended = stored.some((event) => endsDrive(run.runId, event))
    const more = ended || !runtime.host.isLive(run.runId)
      ? Stream.empty
      : Stream.fromQueue(live).pipe(Stream.filter((event) => !("sequence" in event) || event.sequence > last))
    return Stream.fromIterable(stored).pipe(
      Stream.concat(more),
      Stream.takeUntil((event) => endsDrive(run.runId, event))
    )
  }))

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

const sequence = (event: RunEvent): number => "sequence" in event ? event.sequence : 0

const decode = Schema.decodeUnknownResult(RunEvent)

// An event that cannot be read is left out: it is for watching, and the run does not depend on it.
const replay = (
  runtime: Mandate["Service"],
  threadId: string,
  after: number
): Effect.Effect<ReadonlyArray<RunEvent>> =>
  runtime.store.events(threadId, after).pipe(
    Effect.catch((error: StoreError) => Effect.as(Effect.logWarning("Stored events could not be read", error), [])),
    Effect.map((rows) =>
      rows.flatMap(({ json, sequence }) =>
        Result.match(
          Result.flatMap(
            Result.try(() => ({ ...JSON.parse(json), sequence })),
            decode
          ),
          { onSuccess: (event) => [event], onFailure: () => [] }
        )
      )
    )
  )
