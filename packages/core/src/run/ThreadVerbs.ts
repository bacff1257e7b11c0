/**
 * What the verbs on a thread have in common, and what needs no drive.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as OpenRun from "../loop/OpenRun.ts"
import * as Shape from "../loop/Shape.ts"
import type { Mandate } from "../service/Mandate.ts"
import type { RunRow } from "../service/RunRow.ts"
import type { RunError } from "../values/RunError.ts"
import * as RunFailure from "./RunFailure.ts"
import type { Runnable } from "./Runnable.ts"

/**
 * Whether a run is being driven, here or by another instance that holds its
 * thread.
 *
 * @category getters
 * @since 0.1.0
 */
export const isHeld = (runtime: Mandate["Service"], row: RunRow): Effect.Effect<boolean, RunError> =>
  Effect.flatMap(isDriven(runtime, row), (isHere) =>
    isHere
      ? Effect.succeed(true)
      : RunFailure.fromStore(row.threadId)(
        Effect.flatMap(runtime.lease, (lease) => runtime.store.isHeld(row.threadId, lease))
      ))

/**
 * Whether a run is being driven here, by a drive that has not lost it to
 * another process.
 *
 * @category getters
 * @since 0.1.0
 */
export const isDriven = (
  { host, store }: Mandate["Service"],
  { runId, threadId }: Pick<RunRow, "runId" | "threadId">
): Effect.Effect<boolean, RunError> =>
  host.isLive(runId)
    ? Effect.map(RunFailure.fromStore(threadId)(store.load(runId)), (loaded) => host.isLive(runId, loaded?.epoch))
    : Effect.succeed(false)

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
  yield* RunFailure.rootOnly(threadId)
  const rows = yield* RunFailure.fromStore(threadId)(runtime.store.thread(threadId))
  const last = rows[rows.length - 1]
  if (last === undefined) return yield* RunFailure.fail({ _tag: "UnknownThread", threadId })
  yield* RunFailure.decoded(OpenRun.state(last))
  return last
})

/**
 * An open run of a thread, with what it recorded.
 *
 * @category getters
 * @since 0.1.0
 */
export const loadOpen = (
  runtime: Mandate["Service"],
  { runId, threadId }: RunRow
): Effect.Effect<OpenRun.OpenRun, RunError> =>
  Effect.flatMap(RunFailure.fromStore(threadId)(runtime.store.load(runId)), (loaded) =>
    loaded === undefined
      ? RunFailure.fail({ _tag: "UnknownThread", threadId })
      : RunFailure.decoded(OpenRun.decode(loaded)))

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
  yield* RunFailure.rootOnly(threadId)
  const rows = yield* RunFailure.fromStore(threadId)(runtime.store.thread(threadId))
  const last = rows[rows.length - 1]
  if (last === undefined) return
  const loaded = yield* RunFailure.fromStore(threadId)(runtime.store.load(last.runId))
  if (loaded === undefined) return
  if (loaded.row.state === "Running" && (yield* isHeld(runtime, loaded.row))) {
    return yield* RunFailure.fail({ _tag: "ThreadBusy", threadId })
  }
  // Whoever has begun to drive it since has a newer epoch.
  yield* RunFailure.fromStore(threadId)(runtime.store.forget(threadId, loaded.epoch))
})

/**
 * Fails with `AgentChanged` when a run was started by another shape.
 *
 * @category running
 * @since 0.1.0
 */
export const sameAgent = ({ shape }: Runnable, row: RunRow): Effect.Effect<void, RunError> =>
  Shape.matches(row.shape, shape) ? Effect.void : RunFailure.fail({
    _tag: "AgentChanged",
    threadId: row.threadId,
    differences: Shape.differences(row.shape, shape)
  })
