/**
 * Cancels runs, with all that is below them.
 *
 * **Details**
 *
 * Invariants:
 *
 * 1. A settled run never changes.
 * 2. The runs above a child that waits are `Running` before the child is
 *    settled, so that a process that dies in between leaves a run to recover.
 * 3. A caller that is interrupted cancels what is driven here alone, and no run
 *    that another process has taken over.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Children from "../loop/Children.ts"
import * as Journal from "../loop/Journal.ts"
import * as Shape from "../loop/Shape.ts"
import type { Mandate } from "../service/Mandate.ts"
import type { RunRow } from "../service/RunRow.ts"
import * as Ids from "../values/Ids.ts"
import type { RunError } from "../values/RunError.ts"
import * as GoOn from "./GoOn.ts"
import * as LetGo from "./LetGo.ts"
import * as Resumed from "./Resumed.ts"
import * as RunFailure from "./RunFailure.ts"
import type { Runnable } from "./Runnable.ts"
import * as SettleTree from "./SettleTree.ts"
import * as ThreadVerbs from "./ThreadVerbs.ts"

/**
 * Cancels a run that was open when it was looked at.
 *
 * @category running
 * @since 0.1.0
 */
export const run = (
  runtime: Mandate["Service"],
  { runId, threadId }: Pick<RunRow, "runId" | "threadId">
): Effect.Effect<void, RunError> => RunFailure.fromStore(threadId)(Effect.asVoid(runtime.host.cancel(runId)))

/**
 * Cancels the run of a row. One that is settled stays as it is.
 *
 * @category running
 * @since 0.1.0
 */
export const unlessSettled = (runtime: Mandate["Service"], row: RunRow): Effect.Effect<void, RunError> =>
  row.state === "Settled" ? Effect.void : run(runtime, row)

/**
 * Cancels a run that is being driven here. One that another process has taken
 * over is that one's.
 *
 * @category running
 * @since 0.1.0
 */
export const driven = (
  runtime: Mandate["Service"],
  place: Pick<RunRow, "runId" | "threadId">
): Effect.Effect<void, RunError> =>
  Effect.flatMap(ThreadVerbs.isDriven(runtime, place), (isHere) => isHere ? run(runtime, place) : Effect.void)

/**
 * Cancels the open run of a thread with all below it.
 *
 * @category running
 * @since 0.1.0
 */
export const root = (runtime: Mandate["Service"], threadId: string): Effect.Effect<void, RunError> =>
  Effect.flatMap(ThreadVerbs.lastRun(runtime, threadId), (row) => unlessSettled(runtime, row))

/**
 * Cancels one child of the open run of a thread, at any depth.
 *
 * **Details**
 *
 * The call that started the child gets the failure `Cancelled`. For a run that
 * is suspended this is an answer: the run is driven on. That drive is begun
 * here and not waited for. Of a run of another shape only the child is
 * cancelled.
 *
 * @category running
 * @since 0.1.0
 */
export const child = (
  runtime: Mandate["Service"],
  runnable: Runnable,
  threadId: string,
  childThreadId: string
): Effect.Effect<void, RunError> => {
  // Where another process answers the run meanwhile, the child is cancelled as that one left it.
  const attempt = (takeovers: number): Effect.Effect<void, RunError> =>
    Effect.catchReason(
      once(runtime, runnable, threadId, childThreadId),
      "RunError",
      "ThreadBusy",
      (_, error) => takeovers >= SettleTree.maxTakeovers ? Effect.fail(error) : attempt(takeovers + 1)
    )
  return Effect.uninterruptible(attempt(0))
}

const once = Effect.fnUntraced(function*(
  runtime: Mandate["Service"],
  runnable: Runnable,
  threadId: string,
  childThreadId: string
): Effect.fn.Return<void, RunError> {
  yield* RunFailure.textOnly("child", childThreadId)
  const top = yield* ThreadVerbs.lastRun(runtime, threadId)
  const row = childThreadId.startsWith(`${top.runId}/`)
    ? yield* rowOf(runtime, threadId, Ids.runId(childThreadId, 0))
    : undefined
  if (row === undefined) return yield* RunFailure.fail({ _tag: "UnknownThread", threadId: childThreadId })
  if (row.state === "Settled") return
  if (waits(runnable, top)) return yield* withoutChild(runtime, runnable, top, row)
  yield* run(runtime, row)
  // Meanwhile the run may have come to wait, and for nothing but this child.
  const after = yield* ThreadVerbs.lastRun(runtime, threadId)
  if (waits(runnable, after)) {
    yield* Effect.catchReason(withoutChild(runtime, runnable, after, row), "RunError", "ThreadBusy", () => Effect.void)
  }
})

const waits = ({ shape }: Runnable, top: RunRow): boolean =>
  top.state === "Suspended" && Shape.matches(top.shape, shape)

// Were the child settled first and this process to die then, the run would wait for nothing.
const withoutChild = Effect.fnUntraced(function*(
  runtime: Mandate["Service"],
  runnable: Runnable,
  top: RunRow,
  row: RunRow
): Effect.fn.Return<void, RunError> {
  const { threadId } = top
  const { run: active } = yield* ThreadVerbs.loadOpen(runtime, top)
  yield* GoOn.check(runtime, top)
  const above = yield* ancestors(runtime, threadId, row)
  const lease = yield* runtime.lease
  const events = yield* Resumed.events(runtime, threadId, above, lease.now)
  const stored = yield* RunFailure.fromStore(threadId)(
    runtime.store.answer(threadId, lease, above.map((runId) => ({ runId, records: [] })), Journal.encode(events))
  )
  runtime.events.publish(active.rootThreadId, Journal.numbered(events, stored.sequence))
  const cancelled = yield* Effect.exit(run(runtime, row))
  const fence = { threadId, runId: active.runId, epoch: stored.epoch, leasedAt: lease.now }
  // Whoever has taken the run over since goes on with it.
  yield* Effect.catchReason(
    LetGo.onError(runtime, fence)(GoOn.goOn(runtime, runnable, fence, stored.sequence)),
    "RunError",
    "ThreadBusy",
    () => Effect.void
  )
  return yield* cancelled
})

const rowOf = (
  runtime: Mandate["Service"],
  threadId: string,
  runId: string
): Effect.Effect<RunRow | undefined, RunError> =>
  Effect.map(RunFailure.fromStore(threadId)(runtime.store.load(runId)), (loaded) => loaded?.row)

// The runs that wait on the way down to one, the top first.
const ancestors = Effect.fnUntraced(function*(
  runtime: Mandate["Service"],
  threadId: string,
  row: RunRow
): Effect.fn.Return<ReadonlyArray<string>, RunError> {
  const runIds: Array<string> = []
  yield* RunFailure.decoded(Children.placed(row))
  for (let next = row.parentRunId; next !== null;) {
    const above: RunRow | undefined = yield* rowOf(runtime, threadId, next)
    if (above !== undefined) yield* RunFailure.decoded(Children.placed(above))
    if (above?.state === "Suspended") runIds.unshift(next)
    next = above?.parentRunId ?? null
  }
  return runIds
})
