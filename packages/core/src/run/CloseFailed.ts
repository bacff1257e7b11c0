/**
 * Closes failed runs that nobody is going to recover.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type { CorruptRow } from "../service/CorruptRow.ts"
import type { Mandate } from "../service/Mandate.ts"
import type { Fenced, StoreError } from "../service/RunStore.ts"
import type { ChildFailure } from "../values/ChildFailure.ts"
import { type Failure, inherited, type Settled } from "../values/RunOutcome.ts"
import type * as Usage from "../values/Usage.ts"
import * as SettleTree from "./SettleTree.ts"

/**
 * How a failed run ends that is closed: with the failure, whatever level below
 * it began at.
 *
 * @category getters
 * @since 0.1.0
 */
export const outcome = (failure: ChildFailure): Settled =>
  failure._tag === "ModelFailed" || failure._tag === "ToolFatal" ? failure : { _tag: "Cancelled" }

/**
 * Why calls of a run that is closed so did not run.
 *
 * @category constants
 * @since 0.1.0
 */
export const notRun = "the run was closed after a failure"

/**
 * Closes a failed run with all below it, and gives how it ended. Nothing for a
 * failure that says nothing of the run, and then it stays open; nothing either
 * where somebody else has closed it since.
 *
 * @category running
 * @since 0.1.0
 */
export const close = Effect.fnUntraced(function*(
  runtime: Mandate["Service"],
  runId: string,
  agentId: string,
  failure: Failure
): Effect.fn.Return<
  { readonly outcome: Settled; readonly usage: Usage.RunUsage } | undefined,
  StoreError | Fenced | CorruptRow
> {
  const known = inherited(agentId, failure)
  if (known === undefined) return undefined
  const ended = outcome(known.failure)
  const closed = yield* SettleTree.settle(runtime, runId, { outcome: ended, notRun })
  return closed === undefined ? undefined : { outcome: ended, usage: closed.usage }
})
