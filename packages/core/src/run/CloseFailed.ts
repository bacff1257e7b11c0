/**
 * Closes failed runs that nobody is going to recover.
 *
 * @since 0.1.0
 */
import { isReadonlyArrayNonEmpty } from "effect/Array"
import * as Effect from "effect/Effect"
import * as Journal from "../loop/Journal.ts"
import type { CorruptRow } from "../service/CorruptRow.ts"
import type { Mandate } from "../service/Mandate.ts"
import type { Fenced, StoreError } from "../service/RunStore.ts"
import type { ChildFailure } from "../values/ChildFailure.ts"
import { type Failure, inherited, type Settled } from "../values/RunOutcome.ts"
import type * as Usage from "../values/Usage.ts"
import * as TreeClose from "./TreeClose.ts"

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
  { events, lease, store }: Mandate["Service"],
  runId: string,
  agentId: string,
  failure: Failure
): Effect.fn.Return<
  { readonly outcome: Settled; readonly usage: Usage.RunUsage } | undefined,
  StoreError | Fenced | CorruptRow
> {
  const known = inherited(agentId, failure)
  if (known === undefined) return undefined
  const request = yield* lease
  const tree = yield* store.seize(runId, request)
  // Somebody else has closed it since.
  if (!isReadonlyArrayNonEmpty(tree)) return undefined
  const ended = outcome(known.failure)
  const plan = yield* TreeClose.plan(store, tree, { outcome: ended, notRun, at: request.now })
  const sequence = yield* store.close(plan.runs, Journal.encode(plan.events))
  events.publish(plan.rootThreadId, Journal.numbered(plan.events, sequence))
  return { outcome: ended, usage: plan.usage }
})
