/**
 * How much a run and everything below it may spend together.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { Count } from "./Checked.ts"
import * as Options from "./Options.ts"

/**
 * What a run and all runs below it, at any depth, may spend together. A limit
 * that is absent is not enforced.
 *
 * **Details**
 *
 * - `maxTokens`: input and output tokens of all model calls of the tree. Each
 *   response is counted when it comes. From the one that crosses the limit on,
 *   no run of the tree calls a model again: each ends as `BudgetExceeded` where
 *   it would. Responses that were asked for at the same time are let come
 * - `maxToolCalls`: tool calls of the tree, task calls included. A message
 *   whose calls would cross the limit starts none of them, and its run ends
 * - `maxChildRuns`: child runs that the tree may start. A task call over it is
 *   a tool error
 *
 * Every limit is a positive whole number.
 *
 * @category models
 * @since 0.1.0
 */
export interface TreeBudget {
  readonly maxTokens?: number
  readonly maxToolCalls?: number
  readonly maxChildRuns?: number
}

/**
 * Schema for the budget of a tree as the run at its top keeps it.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ResolvedTreeBudget = Schema.Struct({
  maxTokens: Schema.optionalKey(Count),
  maxToolCalls: Schema.optionalKey(Count),
  maxChildRuns: Schema.optionalKey(Count)
})

/**
 * The budget of a tree as the run at its top keeps it.
 *
 * @category models
 * @since 0.1.0
 */
export type ResolvedTreeBudget = typeof ResolvedTreeBudget.Type

/**
 * Takes the limits that are set; nothing when there are none. Fails with one
 * sentence for each that is not valid.
 *
 * @category combinators
 * @since 0.1.0
 */
export const resolve = (
  given: TreeBudget | undefined
): Result.Result<ResolvedTreeBudget | undefined, ReadonlyArray<string>> =>
  Result.map(decode(given), (limits) => Object.keys(limits).length === 0 ? undefined : limits)

const decode = Options.make<TreeBudget>("limit", {
  maxTokens: Count,
  maxToolCalls: Count,
  maxChildRuns: Count
})
