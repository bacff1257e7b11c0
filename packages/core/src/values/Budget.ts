/**
 * How much one run may spend.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Bound from "./Bound.ts"
import { Count } from "./Checked.ts"
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
  if (!isLimits(definition) || !isLimits(call)) return Result.fail([noLimits])
  // Absent is one thing, and `null` another.
  const limit = <Name extends keyof Budget>(name: Name) => call?.[name] === undefined ? definition?.[name] : call[name]
  const maxTokens = limit("maxTokens")
  const maxToolCalls = limit("maxToolCalls")
  const timeout = limit("timeout")
  const timeoutMillis = timeout === undefined ? undefined : millis(timeout)
  const problems = [
    ...[definition, call].flatMap(unknownLimits),
    ...(maxTokens === undefined ? [] : Bound.problem("maxTokens", maxTokens)),
    ...(maxToolCalls === undefined ? [] : Bound.problem("maxToolCalls", maxToolCalls)),
    ...(timeoutMillis === undefined || (Number.isFinite(timeoutMillis) && timeoutMillis > 0)
      ? []
      : ["timeout must be a positive, finite duration"])
  ]
  if (problems.length > 0) return Result.fail(problems)
  return Result.succeed({
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(maxToolCalls === undefined ? {} : { maxToolCalls }),
    ...(timeoutMillis === undefined ? {} : { timeoutMillis })
  })
}

// Code without types may give anything.
const isLimits = (budget: unknown): boolean =>
  budget === undefined || (typeof budget === "object" && budget !== null && !Array.isArray(budget))

const noLimits = "they are no object of limits"

const unknownLimits = (budget: Budget | undefined): ReadonlyArray<string> =>
  Object.keys(budget ?? {}).flatMap((name) =>
    limits.includes(name) ? [] : [`there is no limit "${name}"; the limits are ${limits.join(", ")}`]
  )

const limits: ReadonlyArray<string> = ["maxTokens", "maxToolCalls", "timeout"] satisfies ReadonlyArray<keyof Budget>

// What is no duration at all is refused like one that is not positive.
const millis = (input: Duration.Input): number => {
  const duration = Duration.fromInput(input)
  return duration._tag === "Some" ? Duration.toMillis(duration.value) : Number.NaN
}
