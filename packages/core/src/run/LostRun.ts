/**
 * What becomes of a run whose drive came to no end of its own.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Pending from "../loop/Pending.ts"
import type { Mandate } from "../service/Mandate.ts"
import type { DriveEnd } from "../service/RunHost.ts"
import type { RunError } from "../values/RunError.ts"
import * as OpenUsage from "./OpenUsage.ts"
import * as RunFailure from "./RunFailure.ts"
import type { Started } from "./StartRun.ts"
import * as StoredRun from "./StoredRun.ts"

/**
 * How the run came out where it was driven after that, for whoever waited for
 * the drive.
 *
 * **Details**
 *
 * While it is driven elsewhere its thread is busy. One that a closing host left
 * open is to be recovered: `IncompleteRun`. One that is gone is `UnknownThread`.
 *
 * @category getters
 * @since 0.1.0
 */
export const end = Effect.fnUntraced(function*(
  runtime: Mandate["Service"],
  { runId, threadId }: Pick<Started, "runId" | "threadId">,
  { isClosed }: Extract<DriveEnd, { readonly _tag: "Lost" }>
): Effect.fn.Return<Exclude<DriveEnd, { readonly _tag: "Lost" }>, RunError> {
  const read = RunFailure.fromStore(threadId)
  const row = (yield* read(runtime.store.load(runId)))?.row
  if (row === undefined) return yield* RunFailure.fail({ _tag: "UnknownThread", threadId })
  if (row.state === "Running") {
    return yield* RunFailure.fail({ _tag: isClosed ? "IncompleteRun" : "ThreadBusy", threadId })
  }
  if (row.state === "Settled") return yield* RunFailure.decoded(StoredRun.end(row))
  if (row.state === "Failed") return { _tag: "Failed", failure: yield* RunFailure.decoded(StoredRun.failure(row)) }
  const usage = yield* read(OpenUsage.byId(runtime.store, runId))
  return { _tag: "Suspended", usage, pending: yield* read(Pending.list(runtime.store, runId)) }
})
