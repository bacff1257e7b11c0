/**
 * Tokens and calls that model responses and runs have used.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

const Count = Schema.Natural

// Stored usages leave out what is zero, as most counts are.
const Counted = Count.pipe(Schema.withDecodingDefaultKey(Effect.succeed(0)))

/**
 * Schema for the tokens of one model response, as its provider reports them.
 *
 * **Details**
 *
 * All are whole numbers of tokens. A count that the provider does not report
 * is absent. `inputTokens.total` includes what was read from and written to
 * the provider's cache, `outputTokens.total` includes reasoning.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ModelUsage = Schema.Struct({
  inputTokens: Schema.Struct({
    total: Schema.optionalKey(Count),
    cacheRead: Schema.optionalKey(Count),
    cacheWrite: Schema.optionalKey(Count)
  }),
  outputTokens: Schema.Struct({
    total: Schema.optionalKey(Count),
    reasoning: Schema.optionalKey(Count)
  })
})

/**
 * Tokens of one model response, as its provider reports them.
 *
 * @category models
 * @since 0.1.0
 */
export type ModelUsage = typeof ModelUsage.Type

/**
 * Schema for what a run, or a tree of runs, has used.
 *
 * **Details**
 *
 * - `inputTokens`, `outputTokens`: tokens, those of failed attempts included
 * - `cacheReadTokens`, `cacheWriteTokens`: the part of the input tokens that
 *   came from or went to a provider's cache
 * - `reasoningTokens`: the part of the output tokens spent on reasoning
 * - `modelCalls`: model responses received
 * - `toolCalls`: calls of all tools, task tools included; calls that were
 *   answered "not run" and `submit_report` are not counted
 * - `childRuns`: child runs that were started
 * - `estimated`: some response came without usage, and its tokens were
 *   estimated from its size
 *
 * @category schemas
 * @since 0.1.0
 */
export const Usage = Schema.Struct({
  inputTokens: Counted,
  outputTokens: Counted,
  cacheReadTokens: Counted,
  cacheWriteTokens: Counted,
  reasoningTokens: Counted,
  modelCalls: Counted,
  toolCalls: Counted,
  childRuns: Counted,
  estimated: Schema.Boolean.pipe(Schema.withDecodingDefaultKey(Effect.succeed(false)))
})

/**
 * What a run, or a tree of runs, has used.
 *
 * @category models
 * @since 0.1.0
 */
export type Usage = typeof Usage.Type

/**
 * Schema for the usage of a run: its own, and that of its whole tree with each
 * run counted once.
 *
 * @category schemas
 * @since 0.1.0
 */
export const RunUsage = Schema.Struct({ own: Usage, tree: Usage })

/**
 * Usage of a run: its own, and that of its whole tree.
 *
 * @category models
 * @since 0.1.0
 */
export type RunUsage = typeof RunUsage.Type

/**
 * Usage of a run that has done nothing yet.
 *
 * @category constructors
 * @since 0.1.0
 */
export const zero: Usage = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  reasoningTokens: 0,
  modelCalls: 0,
  toolCalls: 0,
  childRuns: 0,
  estimated: false
}

/**
 * Usage of a run that has done nothing, or whose usage nobody looks at.
 *
 * @category constructors
 * @since 0.1.0
 */
export const zeroRun: RunUsage = { own: zero, tree: zero }

/**
 * Adds two usages.
 *
 * @category combinators
 * @since 0.1.0
 */
export const add = (self: Usage, that: Usage): Usage => ({
  inputTokens: self.inputTokens + that.inputTokens,
  outputTokens: self.outputTokens + that.outputTokens,
  cacheReadTokens: self.cacheReadTokens + that.cacheReadTokens,
  cacheWriteTokens: self.cacheWriteTokens + that.cacheWriteTokens,
  reasoningTokens: self.reasoningTokens + that.reasoningTokens,
  modelCalls: self.modelCalls + that.modelCalls,
  toolCalls: self.toolCalls + that.toolCalls,
  childRuns: self.childRuns + that.childRuns,
  estimated: self.estimated || that.estimated
})

/**
 * A usage as it is stored and as events carry it in a store: without what is
 * zero.
 *
 * @category combinators
 * @since 0.1.0
 */
export const stored = (usage: Usage): Partial<Usage> => {
  const kept: { -readonly [Name in keyof Usage]?: Usage[Name] } = {}
  // Written for every event of a run, and far faster so than over entries.
  for (const count of counts) if (usage[count] !== 0) kept[count] = usage[count]
  if (usage.estimated) kept.estimated = true
  return kept
}

const counts = [
  "inputTokens",
  "outputTokens",
  "cacheReadTokens",
  "cacheWriteTokens",
  "reasoningTokens",
  "modelCalls",
  "toolCalls",
  "childRuns"
] as const

/**
 * The usage of a run as it is stored.
 *
 * @category combinators
 * @since 0.1.0
 */
export const storedRun = ({ own, tree }: RunUsage) => ({ own: stored(own), tree: stored(tree) })

/**
 * Tokens that a budget counts: input and output.
 *
 * @category getters
 * @since 0.1.0
 */
export const tokens = (usage: Usage): number => usage.inputTokens + usage.outputTokens

/**
 * Usage of one model call from what its provider reported.
 *
 * **Details**
 *
 * Where a total is missing it is estimated as a third of the bytes that were
 * sent or received, rounded up, and the usage is marked `estimated`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromModel = (
  reported: ModelUsage,
  bytes: { readonly request: () => number; readonly response: () => number }
): Usage => {
  const { inputTokens, outputTokens } = reported
  return {
    inputTokens: inputTokens.total ?? estimate(bytes.request()),
    outputTokens: outputTokens.total ?? estimate(bytes.response()),
    cacheReadTokens: inputTokens.cacheRead ?? 0,
    cacheWriteTokens: inputTokens.cacheWrite ?? 0,
    reasoningTokens: outputTokens.reasoning ?? 0,
    modelCalls: 1,
    toolCalls: 0,
    childRuns: 0,
    estimated: inputTokens.total === undefined || outputTokens.total === undefined
  }
}

const bytesPerToken = 3

const estimate = (bytes: number): number => Math.ceil(bytes / bytesPerToken)
