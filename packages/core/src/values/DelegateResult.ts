/**
 * What a posture is asked to do, and what comes of it.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import type { Budget, ResolvedBudget } from "./Budget.ts"
import type { ChildFailure } from "./ChildFailure.ts"
import type { PendingInterrupt } from "./Interrupt.ts"
import * as Options from "./Options.ts"
import type { Settled } from "./RunOutcome.ts"
import * as Usage from "./Usage.ts"

/**
 * A call of a posture.
 *
 * **Details**
 *
 * - `posture`: its name in the registry
 * - `task`: what to do, in words; not blank
 * - `context`: JSON that the task is about. The subagent sees it beside the
 *   task. Default: none
 * - `overrides`: limits of this run, each in place of the posture's. None may
 *   be above the posture's ceiling
 * - `parentTurn`: what the caller calls the turn it asks from, in at most
 *   {@link maxTurnBytes}. It is copied to the events and never sent
 * - `parentDepth` (0): how deep the caller stands, for callers that are no run.
 *   In a tool's handler the depth of its run counts
 * - `tenant`: whose run it is. Results of one tenant are never another's. In a
 *   tool's handler the tenant of its run counts
 *
 * `task` and `context` have at most {@link maxInputBytes} together.
 *
 * @category models
 * @since 0.1.0
 */
export interface DelegateRequest {
  readonly posture: string
  readonly task: string
  readonly context?: unknown
  readonly overrides?: Budget
  readonly parentTurn?: string
  readonly parentDepth?: number
  readonly tenant?: string
}

/**
 * Decodes a call of a posture as a caller gives it: a plain object with these
 * keys and no others. What a key may hold is checked where it is used.
 *
 * @category decoding
 * @since 0.1.0
 */
export const decodeRequest: Options.Decode<DelegateRequest> = Options.make<DelegateRequest>("field", {
  posture: Options.any,
  task: Options.any,
  context: Options.any,
  overrides: Options.any,
  parentTurn: Options.any,
  parentDepth: Options.any,
  tenant: Options.any
})

/**
 * The most bytes of UTF-8 that a task and the canonical JSON of its context may
 * have together: 1 MiB.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxInputBytes = 1024 * 1024

/**
 * The most bytes of UTF-8 that the name of a turn may have: 1 KiB.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxTurnBytes = 1024

/**
 * What is known of every call that got a sub-session.
 *
 * **Details**
 *
 * - `tokensUsed`: input and output tokens of the run's own model calls
 * - `toolCallsUsed`: tool calls of the run
 * - `elapsed`: milliseconds from the call to its end
 * - `subSessionId`: the thread of the run
 * - `depth`: 1 for a call from outside of any run
 *
 * @category models
 * @since 0.1.0
 */
export interface SubSession {
  readonly tokensUsed: number
  readonly toolCallsUsed: number
  readonly elapsed: number
  readonly subSessionId: string
  readonly postureName: string
  readonly postureVersion: string
  readonly depth: number
}

/**
 * What comes of a call, by `status`.
 *
 * **Details**
 *
 * - `success`: `result` is the report: text, or the value that the report's
 *   schema gives
 * - `cache_hit`: `result` is that of an equal call before. `error` is there if
 *   that call was partial
 * - `partial`: a budget of tokens or calls ended the run. `result` is what it
 *   had said last, for a posture that reports in text; a report, if the
 *   response that crossed the limit was one; else `undefined`
 * - `timeout`: the budget of time ended it
 * - `cancelled`, `error`: it has no result
 * - `suspended`: it waits for answers; go on by `resume` with its
 *   `subSessionId`
 *
 * @category models
 * @since 0.1.0
 */
export type DelegateResult =
  & SubSession
  & (
    | { readonly status: "success"; readonly result: unknown }
    | { readonly status: "cache_hit"; readonly result: unknown; readonly error?: ChildFailure }
    | { readonly status: "partial"; readonly result: unknown; readonly error: ChildFailure }
    | { readonly status: "error" | "timeout" | "cancelled"; readonly error: ChildFailure }
    | { readonly status: "suspended"; readonly pending: ReadonlyArray<PendingInterrupt> }
  )

/**
 * Schema for how a call ended, as events name it.
 *
 * @category schemas
 * @since 0.1.0
 */
export const DelegateStatus = Schema.Literals(["success", "partial", "error", "timeout", "cancelled", "cache_hit"])

/**
 * How a call ended.
 *
 * @category models
 * @since 0.1.0
 */
export type DelegateStatus = typeof DelegateStatus.Type

/**
 * How the run of a posture ended, from how it was settled, what it had spent
 * and what it was allowed to.
 *
 * @category getters
 * @since 0.1.0
 */
export const statusOf = (
  outcome: Settled,
  own: Usage.Usage,
  { maxTokens }: ResolvedBudget
): Exclude<DelegateStatus, "cache_hit"> => {
  switch (outcome._tag) {
    case "Completed":
      return maxTokens !== undefined && Usage.tokens(own) > maxTokens ? "partial" : "success"
    case "BudgetExceeded":
      return outcome.limit === "time" ? "timeout" : "partial"
    case "Cancelled":
      return "cancelled"
    default:
      return "error"
  }
}
