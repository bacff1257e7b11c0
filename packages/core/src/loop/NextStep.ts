/**
 * What comes after a model response. Pure: the same records under the same
 * stored limits give the same decision, whenever and wherever they are read.
 * Limits are held against a response once, before it is recorded; a recorded
 * one has passed them.
 *
 * @since 0.1.0
 */
import type { ResolvedBudget } from "../values/Budget.ts"
import { toolCalls } from "../values/Message.ts"
import type { RunLimits } from "../values/RunLimits.ts"
import type { Settled } from "../values/RunOutcome.ts"
import type { StepRecord } from "../values/RunRecord.ts"
import * as Usage from "../values/Usage.ts"
import * as CallLimit from "./CallLimit.ts"
import { refusals, type Transcript } from "./Transcript.ts"
import type { TreeMeter } from "./TreeMeter.ts"

/**
 * What comes next: another model call, the calls of the response, or the end.
 * `notRun` says why the calls of an ending response did not run.
 *
 * @category models
 * @since 0.1.0
 */
export type NextStep =
  | { readonly _tag: "Model" }
  | { readonly _tag: "Calls" }
  | { readonly _tag: "End"; readonly outcome: Settled; readonly notRun: string }

/**
 * Decides what comes after a response, of which the transcript has the message
 * already.
 *
 * **Details**
 *
 * The first that applies, in this order: the stop reason, an answer that
 * decodes, tokens, tool calls, re-asks, repeats, steps; of tokens and of calls
 * the run's own limit comes before that of its tree. `stuckOn` is a tool of
 * which a call was repeated after the model was told not to.
 *
 * @category getters
 * @since 0.1.0
 */
export const after = (
  record: StepRecord,
  transcript: Transcript,
  limits: RunLimits,
  budget: ResolvedBudget,
  meter: TreeMeter | undefined,
  stuckOn: string | undefined
): NextStep => {
  const { verdict } = record
  if (verdict._tag === "Blocked") {
    return end({ _tag: "Blocked", guardrail: verdict.guardrail, reason: verdict.reason }, "the response was blocked")
  }
  if (verdict._tag === "Answer") return end({ _tag: "Completed", answer: verdict.answer }, "")
  if (budget.maxTokens !== undefined && Usage.tokens(transcript.own) > budget.maxTokens) {
    return end({ _tag: "BudgetExceeded", limit: "tokens" }, "the token budget is used up")
  }
  if (meter?.isOutOfTokens() === true) return outOfTreeTokens
  const calls = verdict._tag === "Calls" ? toolCalls(record.response.parts).length : 0
  if (budget.maxToolCalls !== undefined && transcript.own.toolCalls + calls > budget.maxToolCalls) {
    return end({ _tag: "BudgetExceeded", limit: "toolCalls" }, "the budget of tool calls is used up")
  }
  if (meter !== undefined && calls > 0 && !meter.hasCalls(calls)) {
    return end(
      { _tag: "BudgetExceeded", limit: "treeToolCalls" },
      "the budget of tool calls of the whole tree is used up"
    )
  }
  if (isRefused(record) && transcript.refusals > limits.reasks) {
    return end({ _tag: "InvalidReport", issues: issues(record) }, "")
  }
  if (stuckOn !== undefined) {
    return end(
      { _tag: "StepLimitReached", maxSteps: limits.maxSteps, repeated: stuckOn },
      "a call was repeated more often than is allowed"
    )
  }
  if (transcript.step >= limits.maxSteps) {
    return end({ _tag: "StepLimitReached", maxSteps: limits.maxSteps }, "the step limit is reached")
  }
  return verdict._tag === "Calls" ? { _tag: "Calls" } : { _tag: "Model" }
}

/**
 * The end of a run whose tree may call no model any more.
 *
 * @category constructors
 * @since 0.1.0
 */
export const outOfTreeTokens: Extract<NextStep, { readonly _tag: "End" }> = {
  _tag: "End",
  outcome: { _tag: "BudgetExceeded", limit: "treeTokens" },
  notRun: "the token budget of the whole tree is used up"
}

/**
 * What came after a response that is recorded: it ended nothing then, and ends
 * nothing now. What the run used since, in attempts that failed, counts for
 * the next response.
 *
 * @category getters
 * @since 0.1.0
 */
export const recorded = ({ verdict }: StepRecord): NextStep => ({ _tag: verdict._tag === "Calls" ? "Calls" : "Model" })

const end = (outcome: Settled, notRun: string): NextStep => ({ _tag: "End", outcome, notRun })

const isRefused = ({ verdict }: StepRecord): boolean => refusals.has(verdict._tag)

const issues = ({ verdict }: StepRecord): ReadonlyArray<string> => {
  switch (verdict._tag) {
    case "Refused":
      return verdict.issues
    case "TooManyCalls":
      return [CallLimit.problem(verdict)]
    default:
      return ["the response was cut at its token limit"]
  }
}
