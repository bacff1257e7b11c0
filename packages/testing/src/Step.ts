/**
 * Steps of a scripted model: what it does when it is called once.
 *
 * **Details**
 *
 * Every response says that it used 10 input and 5 output tokens, unless
 * {@link withUsage} or {@link withoutUsage} says otherwise. A failure says
 * nothing about usage unless it is given some.
 *
 * What is not as the types say (a text that is none, a step that is none, an
 * option that there is not) throws `Options.InvalidOptions` where the step is
 * made.
 *
 * @since 0.1.0
 */
import { type Message, type ModelError, type ModelRequest, type ModelResponse, Options } from "@mandate/core"
import type * as Duration from "effect/Duration"
import type * as Effect from "effect/Effect"
import type { Answer, Call } from "./Call.ts"
import * as Given from "./Given.ts"

export * from "./Call.ts"
export * from "./TypedCall.ts"

/**
 * Tokens of one response. What is absent is not reported.
 *
 * @category models
 * @since 0.1.0
 */
export interface Tokens {
  readonly input?: number
  readonly output?: number
  readonly cacheRead?: number
  readonly cacheWrite?: number
  readonly reasoning?: number
}

/**
 * A step that is chosen when it is asked for, from the request. It is asked
 * again when the same step of the run is asked for again.
 *
 * @category models
 * @since 0.1.0
 */
export type Dynamic = (
  request: ModelRequest.ModelRequest,
  call: ModelRequest.ModelCall
) => Step | Effect.Effect<Step>

/**
 * What a scripted model does when it is called once. Made by the functions of
 * this module; a function of the request is a step too.
 *
 * @category models
 * @since 0.1.0
 */
export type Step =
  | Call
  | Dynamic
  | Answer
  | { readonly _tag: "Fail"; readonly reason: ModelError.ModelErrorReason; readonly options: FailOptions }
  | { readonly _tag: "StreamError"; readonly text: string; readonly reason: ModelError.ModelErrorReason }
  | { readonly _tag: "Unfinished"; readonly text: string }
  | { readonly _tag: "Hang"; readonly text: string }
  | { readonly _tag: "Defect"; readonly defect: unknown }
  | { readonly _tag: "Delay"; readonly duration: Duration.Input; readonly step: Step }
  | { readonly _tag: "WithUsage"; readonly tokens: Tokens; readonly step: Step }
  | { readonly _tag: "Again"; readonly steps: readonly [Step, ...ReadonlyArray<Step>] }

/**
 * What a failure says beside its reason: how long to wait (a bare number is
 * milliseconds), tokens the attempt used, a detail, an HTTP status.
 *
 * @category models
 * @since 0.1.0
 */
export interface FailOptions {
  readonly retryAfter?: Duration.Input
  readonly usage?: Tokens
  readonly detail?: string
  readonly status?: number
}

/**
 * Answers with text and stops.
 *
 * @category constructors
 * @since 0.1.0
 */
export const text = (text: string): Step => {
  checkText({ text })
  return parts([{ type: "text", text }], "stop")
}

/**
 * Calls tools, in order. Strings among the calls are text beside them.
 *
 * @category constructors
 * @since 0.1.0
 */
export const calls = (...content: ReadonlyArray<string | Call>): Step => {
  checkCalls({ content })
  return parts(content.map(toPart), "tool-calls")
}

/**
 * Answers with any parts and any finish reason.
 *
 * @category constructors
 * @since 0.1.0
 */
export const parts = (
  parts: ReadonlyArray<Message.AssistantPart | Call>,
  finishReason: ModelResponse.FinishReason
): Step => {
  checkParts({ parts, finishReason })
  return { _tag: "Answer", parts: [...parts], finishReason }
}

/**
 * Answers with text, calls, or both, cut at a token limit (`length`).
 *
 * @category constructors
 * @since 0.1.0
 */
export const cut = (...content: ReadonlyArray<string | Call>): Step => {
  checkCut({ content })
  return parts(content.map(toPart), "length")
}

/**
 * Refuses (`content-filter`), with or without text.
 *
 * @category constructors
 * @since 0.1.0
 */
export const contentFilter = (text?: string): Step => parts(textParts(text), "content-filter")

/**
 * Asks for the same conversation again (`pause`), with or without text.
 *
 * @category constructors
 * @since 0.1.0
 */
export const pause = (text?: string): Step => parts(textParts(text), "pause")

/**
 * Answers with a response that is not whole (`interrupted`).
 *
 * @category constructors
 * @since 0.1.0
 */
export const interrupted = (text?: string): Step => parts(textParts(text), "interrupted")

/**
 * Fails with a `ModelError`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fail = (reason: ModelError.ModelErrorReason, options?: FailOptions): Step => {
  checkFail({ reason })
  return { _tag: "Fail", reason, options: Options.orThrow("Step.fail", decodeFail(options)) }
}

/**
 * Streams text as deltas, then fails. Without streaming it only fails.
 *
 * @category constructors
 * @since 0.1.0
 */
export const streamError = (text: string, reason: ModelError.ModelErrorReason): Step => {
  checkStreamError({ text, reason })
  return { _tag: "StreamError", text, reason }
}

/**
 * Streams text as deltas, then ends without a finish part. Without streaming
 * it is {@link interrupted}.
 *
 * @category constructors
 * @since 0.1.0
 */
export const unfinished = (text: string): Step => {
  checkUnfinished({ text })
  return { _tag: "Unfinished", text }
}

/**
 * Never answers. It can be interrupted, and the model remembers that it was.
 * A streamed call gives `text` as deltas before it hangs.
 *
 * @category constructors
 * @since 0.1.0
 */
export const hang = (text = ""): Step => {
  checkHang({ text })
  return { _tag: "Hang", text }
}

/**
 * Dies with a defect, as a broken client does.
 *
 * @category constructors
 * @since 0.1.0
 */
export const defect = (defect: unknown): Step => ({ _tag: "Defect", defect })

/**
 * Waits on the `Clock`, then does `step`. A bare number is milliseconds.
 *
 * @category combinators
 * @since 0.1.0
 */
export const delay = (duration: Duration.Input, step: Step): Step => {
  checkDelay({ duration, step })
  return { _tag: "Delay", duration, step }
}

/**
 * Sets the tokens that the response or the failure says it used.
 *
 * @category combinators
 * @since 0.1.0
 */
export const withUsage = (step: Step, tokens: Tokens): Step => {
  checkWithUsage({ step, tokens })
  return { _tag: "WithUsage", tokens: Options.orThrow("Step.withUsage", decodeTokens(tokens)), step }
}

/**
 * Lets the response say nothing about usage.
 *
 * @category combinators
 * @since 0.1.0
 */
export const withoutUsage = (step: Step): Step => withUsage(step, {})

/**
 * Does `first` the first time it is asked for, and the later ones when the
 * same step of the run is asked for again: after a crash, or after the run
 * failed and was recovered. The last one is repeated.
 *
 * **When to use**
 *
 * Use it to mend what failed: `Step.again(Step.fail("authentication"),
 * Step.text("done"))`. A plain step is the same however often it is asked for.
 *
 * @category combinators
 * @since 0.1.0
 */
export const again = (first: Step, ...later: ReadonlyArray<Step>): Step => {
  const steps = [first, ...later] as const
  checkAgain({ steps })
  return { _tag: "Again", steps }
}

const checkText = Given.args("Step.text", { text: Options.text })
const checkCalls = Given.args("Step.calls", { content: Given.content })
const checkCut = Given.args("Step.cut", { content: Given.content })
const checkParts = Given.args("Step.parts", { parts: Options.list(Options.any), finishReason: Options.text })
const checkFail = Given.args("Step.fail", { reason: Given.reason })
const checkStreamError = Given.args("Step.streamError", { text: Options.text, reason: Given.reason })
const checkUnfinished = Given.args("Step.unfinished", { text: Options.text })
const checkHang = Given.args("Step.hang", { text: Options.text })
const checkDelay = Given.args("Step.delay", { duration: Given.wait, step: Given.step })
const checkWithUsage = Given.args("Step.withUsage", { step: Given.step, tokens: Options.any })
const checkAgain = Given.args("Step.again", { steps: Given.steps })

// Numbers that no provider should report can be scripted too.
const decodeTokens = Options.make<Tokens>("count", {
  input: Options.any,
  output: Options.any,
  cacheRead: Options.any,
  cacheWrite: Options.any,
  reasoning: Options.any
})

const decodeFail = Options.make<FailOptions>("option", {
  retryAfter: Given.wait,
  usage: Options.record(),
  detail: Options.text,
  status: Options.checked<number>("a number", (status) => typeof status === "number")
})

const toPart = (content: string | Call): Message.AssistantPart | Call =>
  typeof content === "string" ? { type: "text", text: content } : content

const textParts = (text: string | undefined): ReadonlyArray<Message.AssistantPart> =>
  text === undefined ? [] : [{ type: "text", text }]
