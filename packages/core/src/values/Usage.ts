/**
 * Tokens and calls that model responses and runs have used.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as SchemaGetter from "effect/SchemaGetter"
import * as Measure from "./Measure.ts"

const Count = Schema.Natural

// A sum that was stored before sums stopped at the largest exact number reads as that number.
const Sum = Schema.Number.pipe(Schema.decodeTo(Count, {
  decode: SchemaGetter.transform((count: number) => count > Number.MAX_SAFE_INTEGER ? Number.MAX_SAFE_INTEGER : count),
  encode: SchemaGetter.passthrough()
}))

// Stored usages leave out what is zero, as most counts are.
const Counted = Sum.pipe(Schema.withDecodingDefaultKey(Effect.succeed(0)))

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
 * Adds two usages. A count stays at `Number.MAX_SAFE_INTEGER` once it is there:
 * a larger one would not be exact and could not be read again.
 *
 * @category combinators
 * @since 0.1.0
 */
export const add = (self: Usage, that: Usage): Usage => ({
  inputTokens: Measure.add(self.inputTokens, that.inputTokens),
  outputTokens: Measure.add(self.outputTokens, that.outputTokens),
  cacheReadTokens: Measure.add(self.cacheReadTokens, that.cacheReadTokens),
  cacheWriteTokens: Measure.add(self.cacheWriteTokens, that.cacheWriteTokens),
  reasoningTokens: Measure.add(self.reasoningTokens, that.reasoningTokens),
  modelCalls: Measure.add(self.modelCalls, that.modelCalls),
  toolCalls: Measure.add(self.toolCalls, that.toolCalls),
  childRuns: Measure.add(self.childRuns, that.childRuns),
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
 * Tokens that a budget counts: input and output, together at most
 * `Number.MAX_SAFE_INTEGER`.
 *
 * @category getters
 * @since 0.1.0
 */
export const tokens = (usage: Usage): number => Measure.add(usage.inputTokens, usage.outputTokens)

/**
 * Usage of one model call from what its provider reported.
 *
 * **Details**
 *
 * Where a total is missing it is estimated as a third of the bytes that were
 * sent or received, rounded up, and the usage is marked `estimated`. A count
 * that {@link count} gives nothing for is missing.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromModel = (
  reported: ModelUsage,
  bytes: { readonly request: () => number; readonly response: () => number }
): Usage => {
  const { inputTokens, outputTokens } = reported
  const input = count(inputTokens.total)
  const output = count(outputTokens.total)
  return {
    inputTokens: input ?? estimate(bytes.request()),
    outputTokens: output ?? estimate(bytes.response()),
    cacheReadTokens: count(inputTokens.cacheRead) ?? 0,
    cacheWriteTokens: count(inputTokens.cacheWrite) ?? 0,
    reasoningTokens: count(outputTokens.reasoning) ?? 0,
    modelCalls: 1,
    toolCalls: 0,
    childRuns: 0,
    estimated: input === undefined || output === undefined
  }
}

/**
 * A count of tokens as a provider reports it. A fraction is rounded, and a
 * count over `Number.MAX_SAFE_INTEGER` becomes that. Nothing for a count that is
 * negative, not finite or no number.
 *
 * @category getters
 * @since 0.1.0
 */
export const count = (value: unknown): number | undefined => Measure.reported(value)

/**
 * Adds two usages as providers report them, with {@link add}'s bound.
 *
 * @category combinators
 * @since 0.1.0
 */
export const addReported = (self: ModelUsage, that: ModelUsage): ModelUsage => ({
  inputTokens: addCounts(self.inputTokens, that.inputTokens),
  outputTokens: addCounts(self.outputTokens, that.outputTokens)
})

const addCounts = <A extends { readonly [name: string]: number | undefined }>(self: A, that: A): A => {
  const names = new Set([...Object.keys(self), ...Object.keys(that)])
  return Object.fromEntries([...names].map((name) => [name, Measure.add(self[name] ?? 0, that[name] ?? 0)])) as A
}

const bytesPerToken = 3

const estimate = (bytes: number): number => Math.ceil(bytes / bytesPerToken)
