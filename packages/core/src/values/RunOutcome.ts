/**
 * How a run stands in its store.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { Limit } from "./Budget.ts"
import { ChildFailure } from "./ChildFailure.ts"
import { ModelErrorReason } from "./ModelError.ts"

/**
 * Schema for how a settled run ended. A settled run never changes.
 *
 * **Details**
 *
 * `Completed.answer` is the encoded answer. `BudgetExceeded.said` is what a
 * posture's run that reports in text had said last; no parent sees it.
 * `StepLimitReached.repeated` is the tool of a call that the run made more often
 * than it may, before it had taken all of its steps.
 * `ModelFailed` and `ToolFatal` are the ends of a run that was closed after a
 * failure: of a child by its parent, of a posture's run by its caller.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Settled = Schema.TaggedUnion({
  Completed: { answer: Schema.Json },
  Blocked: { guardrail: Schema.String, reason: Schema.String },
  InvalidReport: { issues: Schema.Array(Schema.String) },
  StepLimitReached: { maxSteps: Schema.Natural, repeated: Schema.optionalKey(Schema.String) },
  BudgetExceeded: { limit: Limit, said: Schema.optionalKey(Schema.String) },
  Cancelled: {},
  ModelFailed: { reason: ModelErrorReason },
  ToolFatal: { tool: Schema.String }
})

/**
 * How a settled run ended.
 *
 * @category models
 * @since 0.1.0
 */
export type Settled = typeof Settled.Type

/**
 * Why a settled run gave no report; nothing when it did.
 *
 * @category getters
 * @since 0.1.0
 */
export const childFailure = (settled: Settled): ChildFailure | undefined => {
  switch (settled._tag) {
    case "Completed":
      return undefined
    case "BudgetExceeded":
      return { _tag: "BudgetExceeded", limit: settled.limit }
    default:
      return settled
  }
}

/**
 * Schema for why a run is `Failed`: something that another try could mend.
 *
 * **Details**
 *
 * - `ModelFailed`: a model failed after its retries; `retryAfterMillis` is how
 *   long its provider asked to wait then
 * - `ToolFatal`: a tool ended the run
 * - `ChildFailed`: a child failed and the policy is `fail-run`; `path` holds
 *   the agent ids from the child down to the run where the failure began
 * - `StoreFailed`: the store could not be read or written; `code` is the code
 *   of its error, if it has one
 * - `CorruptRun`: a stored row could not be read
 * - `Defect`: a bug, logged where it happened
 *
 * @category schemas
 * @since 0.1.0
 */
export const Failure = Schema.TaggedUnion({
  ModelFailed: {
    reason: ModelErrorReason,
    provider: Schema.String,
    modelId: Schema.String,
    status: Schema.optionalKey(Schema.Int),
    code: Schema.optionalKey(Schema.String),
    type: Schema.optionalKey(Schema.String),
    parameter: Schema.optionalKey(Schema.String),
    network: Schema.optionalKey(Schema.String),
    detail: Schema.optionalKey(Schema.String),
    retryAfterMillis: Schema.optionalKey(Schema.Natural)
  },
  ToolFatal: { tool: Schema.String, reason: Schema.String },
  ChildFailed: { failure: ChildFailure, path: Schema.NonEmptyArray(Schema.String) },
  StoreFailed: { operation: Schema.String, code: Schema.optionalKey(Schema.String) },
  CorruptRun: { threadId: Schema.String, runId: Schema.String, detail: Schema.String },
  Defect: { where: Schema.String }
})

/**
 * The kind of failure that every level above sees, and where it began: the
 * agent ids from the failed run down. Nothing for what no policy covers, such
 * as a store that failed or a bug.
 *
 * @category getters
 * @since 0.1.0
 */
export const inherited = (
  agentId: string,
  failure: Failure
): { readonly failure: ChildFailure; readonly path: readonly [string, ...Array<string>] } | undefined => {
  switch (failure._tag) {
    case "ModelFailed":
      return { failure: { _tag: "ModelFailed", reason: failure.reason }, path: [agentId] }
    case "ToolFatal":
      return { failure: { _tag: "ToolFatal", tool: failure.tool }, path: [agentId] }
    case "ChildFailed":
      return { failure: failure.failure, path: [agentId, ...failure.path] }
    default:
      return undefined
  }
}

/**
 * Why a run is `Failed`.
 *
 * @category models
 * @since 0.1.0
 */
export type Failure = typeof Failure.Type

/**
 * Schema for the states of an open run, and `Settled` for every other.
 *
 * @category schemas
 * @since 0.1.0
 */
export const RunState = Schema.Literals(["Running", "Suspended", "Failed", "Settled"])

/**
 * State of a run in its store.
 *
 * @category models
 * @since 0.1.0
 */
export type RunState = typeof RunState.Type
