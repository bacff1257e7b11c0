/**
 * How much one run may spend.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { Count } from "./Checked.ts"
import * as Options from "./Options.ts"
import { ResolvedTreeBudget } from "./TreeBudget.ts"

/**
 * What a run may spend. A limit that is absent is not enforced.
 *
 * **Details**
 *
 * - `maxTokens`: input and output tokens of the run's own model calls, failed
 *   attempts included. Checked after each response: the one that crosses the
 *   limit is the last, and its tools do not run
 * - `maxToolCalls`: tool calls of the run, task calls included. Checked before
 *   a message's calls start: a batch that would cross is not started at all
 * - `timeout`: active time, in which a drive of the run is in progress, its
 *   children included; waiting for a slot, suspension and downtime are not
 *
 * Every limit is positive and finite.
 *
 * @category models
 * @since 0.1.0
 */
export interface Budget {
  readonly maxTokens?: number
  readonly maxToolCalls?: number
  readonly timeout?: Duration.Input
}

/**
 * Schema for a budget as a run keeps it: the limits of its definition and its
 * call, resolved; `timeoutMillis` in milliseconds. `tree` is what the run and
 * all runs below it may spend together; only the run at the top has it.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ResolvedBudget = Schema.Struct({
  maxTokens: Schema.optionalKey(Count),
  maxToolCalls: Schema.optionalKey(Count),
  timeoutMillis: Schema.optionalKey(Schema.Finite.check(Schema.isGreaterThan(0))),
  tree: Schema.optionalKey(ResolvedTreeBudget)
})

/**
 * A budget as a run keeps it.
 *
 * @category models
 * @since 0.1.0
 */
export type ResolvedBudget = typeof ResolvedBudget.Type

/**
 * Schema for the limits that can end a run: its own tokens, tool calls and
 * time, and the tokens and tool calls of the tree it belongs to.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Limit = Schema.Literals(["tokens", "toolCalls", "time", "treeTokens", "treeToolCalls"])

/**
 * A limit that can end a run.
 *
 * @category models
 * @since 0.1.0
 */
export type Limit = typeof Limit.Type

/**
 * Resolves the budget of one call over that of the definition, field by field.
 * Fails with one sentence a limit that is not positive and finite, or that
 * there is not: a limit that is misspelt must not be one that is missing.
 *
 * @category combinators
 * @since 0.1.0
 */
export const resolve = (
  definition: Budget | undefined,
  call: Budget | undefined
): Result.Result<ResolvedBudget, ReadonlyArray<string>> => {
  const decoded = [decode(definition), decode(call)]
  const [first, second] = decoded
  if (first === undefined || second === undefined || Result.isFailure(first) || Result.isFailure(second)) {
    return Result.fail(decoded.flatMap((limits) => Result.isFailure(limits) ? limits.failure : []))
  }
  const { maxTokens, maxToolCalls, timeout } = { ...first.success, ...second.success }
  return Result.succeed({
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(maxToolCalls === undefined ? {} : { maxToolCalls }),
    ...(timeout === undefined ? {} : { timeoutMillis: Options.millisOf(timeout) })
  })
}

/**
 * Decodes a budget as a caller gives it.
 *
 * @category decoding
 * @since 0.1.0
 */
export const decode: Options.Decode<Budget> = Options.make<Budget>("limit", {
  maxTokens: Count,
  maxToolCalls: Count,
  timeout: Options.duration
})
