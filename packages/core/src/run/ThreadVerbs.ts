/**
 * What can be done with a thread besides running on it: recover, cancel,
 * status, history, forget.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as ActiveRun from "../loop/ActiveRun.ts"
import * as Journal from "../loop/Journal.ts"
import * as Shape from "../loop/Shape.ts"
import type { Mandate } from "../service/Mandate.ts"
import type { Fence, RunRow } from "../service/RunRow.ts"
import * as Ids from "../values/Ids.ts"
import type { RunError } from "../values/RunError.ts"
import type { NewEvent } from "../values/RunEvent.ts"
import * as RunFailure from "./RunFailure.ts"
import { request, type Runnable } from "./Runnable.ts"
import { earlierMessages, type Started } from "./StartRun.ts"
import * as StoredRun from "./StoredRun.ts"

/**
 * Goes on with the open run of a thread that nobody drives: after a crash, or
 * after a failure.
 *
 * **Details**
 *
 * A lease that another process holds is waited for once; a holder that is
 * alive renews it, and then the thread is busy.
 *
 * @category running
 * @since 0.1.0
 */
export const recover = Effect.fnUntraced(function*(
  runtime: Mandate["Service"],
  runnable: Runnable,
  threadId: string
): Effect.fn.Return<Started, RunError> {
  const row = yield* lastRun(runtime, threadId)
  if (row.state === "Settled" || row.state === "Suspended") {
    return yield* RunFailure.fail({ _tag: "NothingToRecover", threadId })
  }
  yield* sameAgent(runnable, row)
  const epoch = yield* takeLease(runtime, row)
  const loaded = yield* RunFailure.fromStore(threadId)(runtime.store.load(row.runId))
  if (loaded === undefined || loaded.epoch !== epoch) return yield* RunFailure.fail({ _tag: "ThreadBusy", threadId })
  // Whoever held the thread may have come to an end while its lease was waited for.
  if (loaded.row.state === "Settled" || loaded.row.state === "Suspended") {
    return yield* RunFailure.fail({ _tag: "NothingToRecover", threadId })
  }
  const { run } = yield* RunFailure.decoded(StoredRun.open(loaded))
  const { now } = yield* runtime.lease
  const events: ReadonlyArray<NewEvent> = [{ ...ActiveRun.origin(run), _tag: "RunRecovered", at: now }]
  const sequence = yield* RunFailure.fromStore(threadId)(
    runtime.store.reopen(ActiveRun.fence(run, epoch), Journal.encode(events))
  )
  runtime.events.publish(run.rootThreadId, Journal.numbered(events, sequence))
  return yield* goOn(runtime, runnable, { threadId, runId: run.runId, epoch }, sequence)
})

/**
 * Drives a run whose lease is held from where its records leave off.
 * `sequence` is the number of the event that says so.
 *
 * @category running
 * @since 0.1.0
 */
export const goOn = Effect.fnUntraced(function*(
  runtime: Mandate["Service"],
  runnable: Runnable,
  { epoch, runId, threadId }: Fence,
  sequence: number
): Effect.fn.Return<Started, RunError> {
  const loaded = yield* RunFailure.fromStore(threadId)(runtime.store.load(runId))
  if (loaded === undefined || loaded.epoch !== epoch) return yield* RunFailure.fail({ _tag: "ThreadBusy", threadId })
  const { records, run } = yield* RunFailure.decoded(StoredRun.open(loaded))
  const earlier = yield* earlierMessages(runtime, threadId, run.runId)
  const activeMillis = StoredRun.activeMillis(loaded.row, records)
  const driving = { run, epoch, records, earlier, activeMillis, isRecovery: true, streaming: false }
  const wait = yield* Effect.flatMap(request(runtime, runnable.agent, driving), runtime.host.drive)
  return { threadId: run.threadId, runId: run.runId, sequence, wait }
})

/**
 * Whether a run is being driven, here or by another instance that holds its
 * thread.
 *
 * @category getters
 * @since 0.1.0
 */
export const isHeld = (runtime: Mandate["Service"], { runId, threadId }: RunRow): Effect.Effect<boolean, RunError> =>
  runtime.host.isLive(runId)
    ? Effect.succeed(true)
    : RunFailure.fromStore(threadId)(Effect.flatMap(runtime.lease, (lease) => runtime.store.isHeld(threadId, lease)))

/**
 * Cancels the open run of a thread with all below it, or one child of it. A
 * run that is settled stays as it is.
 *
 * @category running
 * @since 0.1.0
 */
export const cancel = Effect.fnUntraced(function*(
  runtime: Mandate["Service"],
  threadId: string,
  child: string | undefined
): Effect.fn.Return<void, RunError> {
  const row = yield* lastRun(runtime, threadId)
  if (child === undefined) return yield* cancelRun(runtime, row)
  const loaded = child.startsWith(`${row.runId}/`)
    ? yield* RunFailure.fromStore(threadId)(runtime.store.load(Ids.runId(child, 0)))
    : undefined
  return loaded === undefined
    ? yield* RunFailure.fail({ _tag: "UnknownThread", threadId: child })
    : yield* cancelRun(runtime, loaded.row)
})

/**
 * Cancels a run that is known to be there.
 *
 * @category running
 * @since 0.1.0
 */
export const cancelRun = (
  runtime: Mandate["Service"],
  { runId, state, threadId }: Pick<RunRow, "runId" | "state" | "threadId">
): Effect.Effect<void, RunError> =>
  state === "Settled"
    ? Effect.void
    : RunFailure.fromStore(threadId)(Effect.asVoid(runtime.host.cancel(runId)))

/**
 * How a run ended that another drive took over: as it was settled there. While
 * it is not, its thread is busy.
 *
 * @category getters
 * @since 0.1.0
 */
export const endOfLost = Effect.fnUntraced(function*(runtime: Mandate["Service"], threadId: string, runId: string) {
  const loaded = yield* RunFailure.fromStore(threadId)(runtime.store.load(runId))
  if (loaded?.row.state !== "Settled") return yield* RunFailure.fail({ _tag: "ThreadBusy", threadId })
  return {
    outcome: yield* RunFailure.decoded(StoredRun.outcome(loaded.row)),
    usage: yield* RunFailure.decoded(StoredRun.usage(loaded.row))
  }
})

/**
 * The last run of a thread.
 *
 * @category getters
 * @since 0.1.0
 */
export const lastRun = Effect.fnUntraced(function*(
  runtime: Mandate["Service"],
  threadId: string
): Effect.fn.Return<RunRow, RunError> {
  if (Ids.isChildThread(threadId)) return yield* RunFailure.fail({ _tag: "ChildThread", threadId })
  const rows = yield* RunFailure.fromStore(threadId)(runtime.store.thread(threadId))
  return rows[rows.length - 1] ?? (yield* RunFailure.fail({ _tag: "UnknownThread", threadId }))
})

/**
 * Deletes a thread with all below it. A thread that is not there is no error;
 * one whose run is being driven is busy.
 *
 * @category running
 * @since 0.1.0
 */
export const forget = Effect.fnUntraced(function*(
  runtime: Mandate["Service"],
  threadId: string
): Effect.fn.Return<void, RunError> {
  if (Ids.isChildThread(threadId)) return yield* RunFailure.fail({ _tag: "ChildThread", threadId })
  const rows = yield* RunFailure.fromStore(threadId)(runtime.store.thread(threadId))
  const last = rows[rows.length - 1]
  if (last === undefined) return
  if (last.state === "Running") {
    if (runtime.host.isLive(last.runId)) return yield* RunFailure.fail({ _tag: "ThreadBusy", threadId })
    const leased = yield* RunFailure.fromStore(threadId)(
      Effect.flatMap(runtime.lease, (lease) => runtime.store.lease(threadId, lease))
    )
    if (leased._tag === "Held") return yield* RunFailure.fail({ _tag: "ThreadBusy", threadId })
  }
  yield* RunFailure.fromStore(threadId)(runtime.store.forget(threadId))
})

const takeLease = Effect.fnUntraced(function*(
  runtime: Mandate["Service"],
  { runId, threadId }: RunRow
): Effect.fn.Return<number, RunError> {
  const attempt = Effect.flatMap(runtime.lease, (lease) =>
    runtime.host.isLive(runId)
      ? Effect.succeed({ _tag: "Held" as const, until: lease.now + lease.ttl })
      : RunFailure.fromStore(threadId)(runtime.store.lease(threadId, lease)))
  const first = yield* attempt
  if (first._tag === "Taken") return first.epoch
  const { now } = yield* runtime.lease
  yield* Effect.sleep(Math.max(0, first.until - now))
  const second = yield* attempt
  return second._tag === "Taken" ? second.epoch : yield* RunFailure.fail({ _tag: "ThreadBusy", threadId })
})

/**
 * Fails with `AgentChanged` when a run was started by another shape.
 *
 * @category running
 * @since 0.1.0
 */
export const sameAgent = ({ shape }: Runnable, row: RunRow): Effect.Effect<void, RunError> =>
  row.shape === shape ? Effect.void : RunFailure.fail({
    _tag: "AgentChanged",
    threadId: row.threadId,
    differences: Shape.differences(row.shape, shape)
  })
