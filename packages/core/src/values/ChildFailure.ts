/**
 * Why a child gave no report, and what its parent does then.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { Limit } from "./Budget.ts"
import { ModelErrorReason } from "./ModelError.ts"
import type { Named } from "./Named.ts"
import * as Options from "./Options.ts"

/**
 * Schema for the failures of a child.
 *
 * **Details**
 *
 * A failure is a pure function of the child's stored outcome and its parent's
 * stored bounds, so a replay gives the same one. It holds reasons and schema
 * paths, never the child's words.
 *
 * - `Blocked`: the provider or a guardrail refused
 * - `StepLimitReached`: still working after `maxSteps` model responses, or when
 *   it had made a call of the tool `repeated` more often than it may
 * - `InvalidReport`: no answer decoded; `issues` name paths and expectations
 * - `ReportTooLarge`: the message would have `bytes`, over `maxReportBytes`
 * - `BudgetExceeded`: a limit of the child's budget was reached
 * - `ModelFailed`: the model failed, retries included
 * - `ToolFatal`: a tool ended the run
 * - `Cancelled`: the child was cancelled
 *
 * @category schemas
 * @since 0.1.0
 */
export const ChildFailure = Schema.TaggedUnion({
  Blocked: { guardrail: Schema.String, reason: Schema.String },
  StepLimitReached: { maxSteps: Schema.Natural, repeated: Schema.optionalKey(Schema.String) },
  InvalidReport: { issues: Schema.Array(Schema.String) },
  ReportTooLarge: { bytes: Schema.Natural, maxReportBytes: Schema.Natural },
  BudgetExceeded: { limit: Limit },
  ModelFailed: { reason: ModelErrorReason },
  ToolFatal: { tool: Schema.String },
  Cancelled: {}
})

/**
 * Why a child gave no report.
 *
 * @category models
 * @since 0.1.0
 */
export type ChildFailure = Named<typeof ChildFailure.Type>

/**
 * What a failure does to the parent: it becomes a tool error that the parent's
 * model reads, or it fails the parent's run.
 *
 * @category models
 * @since 0.1.0
 */
export type FailureAction = "tool-error" | "fail-run"

/**
 * What a parent does when a child fails, by kind of failure.
 *
 * **Details**
 *
 * - `refused` (`tool-error`): `Blocked`, `StepLimitReached`, `InvalidReport`,
 *   `ReportTooLarge`, `BudgetExceeded`
 * - `modelFailed` (`tool-error`): `ModelFailed`
 * - `toolFatal` (`fail-run`): `ToolFatal`
 *
 * `Cancelled` is always a tool error.
 *
 * @category models
 * @since 0.1.0
 */
export interface ChildFailurePolicy {
  readonly refused?: FailureAction
  readonly modelFailed?: FailureAction
  readonly toolFatal?: FailureAction
}

/**
 * What is wrong with a policy, a sentence each.
 *
 * @category getters
 * @since 0.1.0
 */
export const problems = (policy: ChildFailurePolicy): ReadonlyArray<string> =>
  Result.match(decodePolicy(policy), { onSuccess: () => [], onFailure: (issues) => issues })

const actionSchema = Options.oneOf<FailureAction>(["tool-error", "fail-run"])

/**
 * Decodes a policy as a caller gives it.
 *
 * @category decoding
 * @since 0.1.0
 */
export const decodePolicy: Options.Decode<ChildFailurePolicy> = Options.make<ChildFailurePolicy>("failure", {
  refused: actionSchema,
  modelFailed: actionSchema,
  toolFatal: actionSchema
})

/**
 * Decides what a failure does under a policy.
 *
 * @category getters
 * @since 0.1.0
 */
export const action = (policy: ChildFailurePolicy, failure: ChildFailure): FailureAction => {
  switch (failure._tag) {
    case "Cancelled":
      return "tool-error"
    case "ModelFailed":
      return policy.modelFailed ?? "tool-error"
    case "ToolFatal":
      return policy.toolFatal ?? "fail-run"
    default:
      return policy.refused ?? "tool-error"
  }
}

/**
 * Says what happened in one sentence. This is what a parent's model reads.
 *
 * @category formatting
 * @since 0.1.0
 */
export const message: (failure: ChildFailure) => string = ChildFailure.match({
  Blocked: ({ guardrail, reason }) => `The subagent was blocked by ${guardrail}: ${reason}`,
  StepLimitReached: ({ maxSteps, repeated }) =>
    repeated === undefined
      ? `The subagent reached its limit of ${maxSteps} steps without a report`
      : `The subagent repeated one call of the tool "${repeated}" and gave no report`,
  InvalidReport: ({ issues }) => `The subagent gave no valid report: ${issues.join("; ") || "no report"}`,
  ReportTooLarge: ({ bytes, maxReportBytes }) =>
    `The report would be ${bytes} bytes; at most ${maxReportBytes} are allowed`,
  BudgetExceeded: ({ limit }) => exceeded[limit],
  ModelFailed: ({ reason }) => `The subagent's model failed: ${reason}`,
  ToolFatal: ({ tool }) => `The subagent was stopped by its tool "${tool}"`,
  Cancelled: () => "The subagent was cancelled"
})

const exceeded = {
  tokens: "The subagent used up its budget of tokens",
  toolCalls: "The subagent used up its budget of tool calls",
  time: "The subagent used up its budget of time",
  treeTokens: "The budget of tokens of the whole tree of runs is used up",
  treeToolCalls: "The budget of tool calls of the whole tree of runs is used up"
}
