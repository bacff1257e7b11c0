/**
 * What is said when suspended runs go on.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as ActiveRun from "../loop/ActiveRun.ts"
import * as OpenRun from "../loop/OpenRun.ts"
import type { Mandate } from "../service/Mandate.ts"
import type { RunError } from "../values/RunError.ts"
import type { NewEvent } from "../values/RunEvent.ts"
import * as RunFailure from "./RunFailure.ts"

/**
 * The events of runs of a thread that go on together, in the order of the runs.
 * One that is gone has none; the write that these events belong to is refused
 * then.
 *
 * @category getters
 * @since 0.1.0
 */
export const events = Effect.fnUntraced(function*(
  { store }: Mandate["Service"],
  threadId: string,
  runIds: ReadonlyArray<string>,
  at: number
): Effect.fn.Return<ReadonlyArray<NewEvent>, RunError> {
  const resumed: Array<NewEvent> = []
  for (const runId of runIds) {
    const loaded = yield* RunFailure.fromStore(threadId)(store.load(runId))
    if (loaded === undefined) continue
    const run = yield* RunFailure.decoded(OpenRun.place(loaded.row))
    resumed.push({ ...ActiveRun.origin(run), _tag: "RunResumed", at })
  }
  return resumed
})
