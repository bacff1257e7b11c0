/**
 * Drives a run on that was driven before.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as OpenRun from "../loop/OpenRun.ts"
import * as TreeMeter from "../loop/TreeMeter.ts"
import type { Mandate } from "../service/Mandate.ts"
import type { DriveEnd } from "../service/RunHost.ts"
import type { Fence, RunRow } from "../service/RunRow.ts"
import type * as Ids from "../values/Ids.ts"
import type { RunError } from "../values/RunError.ts"
import * as Earlier from "./Earlier.ts"
import * as RunFailure from "./RunFailure.ts"
import { request, type Runnable } from "./Runnable.ts"
import type { Started } from "./StartRun.ts"
import * as StoredRun from "./StoredRun.ts"
import * as TreeSpent from "./TreeSpent.ts"

/**
 * Fails when the conversation before an open run cannot be read, which
 * {@link goOn} would fail with too: before anything is written for it.
 *
 * @category getters
 * @since 0.1.0
 */
export const check = (
  runtime: Mandate["Service"],
  { runId, threadId }: Pick<RunRow, "runId" | "threadId">
): Effect.Effect<void, RunError> => Effect.asVoid(Earlier.messages(runtime, threadId, runId))

/**
 * Drives a run whose lease is held from where its records leave off.
 * `leasedAt` is when the lease was asked for, in milliseconds of the Unix epoch,
 * `sequence` the number of the event that says so.
 *
 * @category running
 * @since 0.1.0
 */
export const goOn = Effect.fnUntraced(function*(
  runtime: Mandate["Service"],
  runnable: Runnable,
  { epoch, leasedAt, runId, threadId }: Fence & { readonly leasedAt: number },
  sequence: number
): Effect.fn.Return<Started, RunError> {
  const loaded = yield* RunFailure.fromStore(threadId)(runtime.store.load(runId))
  if (loaded?.row.state === "Settled") {
    return { threadId: threadId as Ids.ThreadId, runId: runId as Ids.RunId, sequence, wait: lost }
  }
  if (loaded === undefined || loaded.epoch !== epoch) return yield* RunFailure.fail({ _tag: "ThreadBusy", threadId })
  const { records, run } = yield* RunFailure.decoded(OpenRun.decode(loaded))
  const earlier = yield* Earlier.messages(runtime, threadId, run.runId)
  const activeMillis = StoredRun.activeMillis(loaded.row, records)
  const { tree } = run.budget
  const meter = tree === undefined ? undefined : TreeMeter.make(
    tree,
    yield* RunFailure.fromStore(threadId)(TreeSpent.of(runtime.store, loaded))
  )
  const driving = { run, epoch, leasedAt, records, earlier, activeMillis, meter, isRecovery: true, streaming: false }
  const wait = yield* Effect.flatMap(request(runtime, runnable, driving), runtime.host.drive)
  return { threadId: run.threadId, runId: run.runId, sequence, wait }
})

// It was cancelled before its drive had started.
const lost = Effect.succeed<DriveEnd>({ _tag: "Lost", isClosed: false })
