/**
 * Goes on with runs that nobody drives.
 *
 * **Details**
 *
 * Invariants:
 *
 * 1. A run that cannot be read, or that another shape of its agent started, is
 *    left as it is, its lease too.
 * 2. A thread that was taken is driven, or given back: nothing after the wait
 *    for its lease can be interrupted.
 * 3. Of several that want a thread one takes it. Whoever took it before finds
 *    another epoch, and writes nothing.
 * 4. How the run stands is read again after a wait for its lease, and after its
 *    thread was taken: whoever held that may have come to an end meanwhile.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as ActiveRun from "../loop/ActiveRun.ts"
import * as Journal from "../loop/Journal.ts"
import * as OpenRun from "../loop/OpenRun.ts"
import * as Pending from "../loop/Pending.ts"
import type { Mandate } from "../service/Mandate.ts"
import type { Leased, RunRow } from "../service/RunRow.ts"
import type { RunError } from "../values/RunError.ts"
import type { NewEvent } from "../values/RunEvent.ts"
import * as GoOn from "./GoOn.ts"
import * as LetGo from "./LetGo.ts"
import type { Restore } from "./Restore.ts"
import * as RunFailure from "./RunFailure.ts"
import type { Runnable } from "./Runnable.ts"
import type { Started } from "./StartRun.ts"
import * as ThreadVerbs from "./ThreadVerbs.ts"

/**
 * What to do about a thread that another process, or another drive here, holds.
 *
 * **Details**
 *
 * - `wait`: wait one lease time, and give up if it is held then
 * - `force`: take it over at once; whoever drives the run writes nothing more
 * - `give-up`: leave it to who has it
 *
 * @category models
 * @since 0.1.0
 */
export type Takeover = "wait" | "force" | "give-up"

/**
 * Goes on with the open run of a thread that nobody drives: after a crash, or
 * after a failure.
 *
 * **Details**
 *
 * How a thread is taken is `takeover`'s to say. A holder that is alive renews
 * its lease, and then the thread is busy. Nothing but the wait for a lease can
 * be interrupted, as far as `restore` lets it: a thread that was taken is driven,
 * or it would be held here by nobody.
 *
 * @category running
 * @since 0.1.0
 */
export const recover = Effect.fnUntraced(function*(
  runtime: Mandate["Service"],
  runnable: Runnable,
  threadId: string,
  takeover: Takeover,
  restore: Restore
): Effect.fn.Return<Started, RunError> {
  yield* runtime.host.ensureOpen
  const row = yield* find(runtime, threadId)
  // A run that cannot be read is left as it is, its lease too.
  yield* ThreadVerbs.loadOpen(runtime, row)
  yield* ThreadVerbs.sameAgent(runnable, row)
  yield* GoOn.check(runtime, row)
  const taken = yield* take[takeover](runtime, row, restore)
  return yield* LetGo.onError(runtime, { runId: row.runId, epoch: taken.epoch })(reopen(runtime, runnable, row, taken))
}, Effect.uninterruptible)

// The last run of a thread, where there is anything to go on with.
const find = Effect.fnUntraced(function*(
  runtime: Mandate["Service"],
  threadId: string
): Effect.fn.Return<RunRow, RunError> {
  const row = yield* ThreadVerbs.lastRun(runtime, threadId)
  return (yield* isAtRest(runtime, row)) ? yield* RunFailure.fail({ _tag: "NothingToRecover", threadId }) : row
})

const reopen = Effect.fnUntraced(function*(
  runtime: Mandate["Service"],
  runnable: Runnable,
  { runId, threadId }: RunRow,
  { epoch, leasedAt }: Taken
): Effect.fn.Return<Started, RunError> {
  const loaded = yield* RunFailure.fromStore(threadId)(runtime.store.load(runId))
  if (loaded === undefined || loaded.epoch !== epoch) return yield* RunFailure.fail({ _tag: "ThreadBusy", threadId })
  // Whoever held the thread may have come to an end while its lease was waited for.
  if (yield* isAtRest(runtime, loaded.row)) return yield* RunFailure.fail({ _tag: "NothingToRecover", threadId })
  const { run } = yield* RunFailure.decoded(OpenRun.decode(loaded))
  const { now } = yield* runtime.lease
  const events: ReadonlyArray<NewEvent> = [{ ...ActiveRun.origin(run), _tag: "RunRecovered", at: now }]
  const sequence = yield* RunFailure.fromStore(threadId)(
    runtime.store.reopen(ActiveRun.fence(run, epoch), Journal.encode(events))
  )
  runtime.events.publish(run.rootThreadId, Journal.numbered(events, sequence))
  return yield* GoOn.goOn(runtime, runnable, { threadId, runId: run.runId, epoch, leasedAt }, sequence)
})

// A suspended run that has not heard of the end of a child, or that waits on nothing, is not at rest.
const isAtRest = (runtime: Mandate["Service"], { runId, state, threadId }: RunRow): Effect.Effect<boolean, RunError> =>
  state === "Suspended"
    ? Effect.map(
      RunFailure.fromStore(threadId)(Pending.of(runtime.store, runId)),
      ({ canGoOn }) => !canGoOn
    )
    : Effect.succeed(state === "Settled")

const attempt = Effect.fnUntraced(function*(
  runtime: Mandate["Service"],
  row: RunRow,
  force: boolean
): Effect.fn.Return<Attempted, RunError> {
  const isHere = !force && (yield* ThreadVerbs.isDriven(runtime, row))
  const lease = yield* runtime.lease
  const leased = isHere
    ? { _tag: "Held" as const, until: lease.now + lease.ttl }
    : yield* RunFailure.fromStore(row.threadId)(runtime.store.lease(row.threadId, { ...lease, force }))
  return { ...leased, leasedAt: lease.now }
})

// A lease that was taken: its epoch, and when it was asked for.
interface Taken {
  readonly epoch: number
  readonly leasedAt: number
}

type Attempted = Leased & { readonly leasedAt: number }

const taken = (leased: Attempted, { threadId }: RunRow): Effect.Effect<Taken, RunError> =>
  leased._tag === "Taken" ? Effect.succeed(leased) : RunFailure.fail({ _tag: "ThreadBusy", threadId })

const take: {
  readonly [How in Takeover]: (
    runtime: Mandate["Service"],
    row: RunRow,
    restore: Restore
  ) => Effect.Effect<Taken, RunError>
} = {
  "give-up": (runtime, row) => Effect.flatMap(attempt(runtime, row, false), (leased) => taken(leased, row)),
  // The new epoch comes first: from there on a drive that is given up writes nothing.
  force: (runtime, row) =>
    Effect.tap(
      Effect.flatMap(attempt(runtime, row, true), (leased) => taken(leased, row)),
      () => runtime.host.abandon(row.runId)
    ),
  wait: Effect.fnUntraced(function*(runtime, row, restore) {
    const first = yield* attempt(runtime, row, false)
    if (first._tag === "Taken") return first
    const { now, ttl } = yield* runtime.lease
    // Whoever took it may have had a clock that was far ahead.
    yield* restore(Effect.sleep(Math.min(Math.max(0, first.until - now), ttl)))
    // Nobody gives back the lease of a thread that has ended, or that is gone.
    const { runId } = yield* find(runtime, row.threadId)
    if (runId !== row.runId) return yield* RunFailure.fail({ _tag: "ThreadBusy", threadId: row.threadId })
    return yield* taken(yield* attempt(runtime, row, false), row)
  })
}
