/**
 * What comes of a step: a response, a failure, or nothing.
 *
 * @since 0.1.0
 */
import { type Message, ModelError, type ModelRequest, type ModelResponse, Options, type Usage } from "@mandate/core"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Given from "./Given.ts"
import type { Taken } from "./ScriptBook.ts"
import type { Call, FailOptions, Step, Tokens } from "./Step.ts"

/**
 * Name of the provider and of the model that scripted clients give.
 *
 * @category models
 * @since 0.1.0
 */
export const modelName = { provider: "scripted", modelId: "scripted" }

/**
 * What comes of a step. `text` is what a streamed call gives before it fails,
 * hangs or ends.
 *
 * @category models
 * @since 0.1.0
 */
export type StepOutcome =
  | { readonly _tag: "Response"; readonly response: ModelResponse.ModelResponse }
  | { readonly _tag: "Failure"; readonly text: string; readonly error: ModelError.ModelError }
  | { readonly _tag: "Unfinished"; readonly text: string; readonly response: ModelResponse.ModelResponse }
  | { readonly _tag: "Hanging"; readonly text: string }

/**
 * Carries out a step up to its outcome: waits its delays and asks its
 * functions.
 *
 * @category running
 * @since 0.1.0
 */
export const of = (
  taken: Taken,
  request: ModelRequest.ModelRequest,
  call: ModelRequest.ModelCall
): Effect.Effect<StepOutcome> => carryOut(taken.step, { taken, request, call, tokens: undefined })

/**
 * The whole response of an outcome, its failure, or never anything.
 *
 * @category running
 * @since 0.1.0
 */
export const response = (
  outcome: StepOutcome
): Effect.Effect<ModelResponse.ModelResponse, ModelError.ModelError> => {
  switch (outcome._tag) {
    case "Response":
    case "Unfinished":
      return Effect.succeed(outcome.response)
    case "Failure":
      return Effect.fail(outcome.error)
    case "Hanging":
      return Effect.never
  }
}

interface Asked {
  readonly taken: Taken
  readonly request: ModelRequest.ModelRequest
  readonly call: ModelRequest.ModelCall
  readonly tokens: Tokens | undefined
}

const carryOut = (step: Step, asked: Asked): Effect.Effect<StepOutcome> => {
  if (typeof step === "function") {
    return Effect.suspend(() => {
      const chosen = step(asked.request, asked.call)
      return Effect.isEffect(chosen)
        ? Effect.flatMap(chosen, (step) => carryOut(step, asked))
        : carryOut(chosen, asked)
    })
  }
  if (!Given.isStep(step)) return Effect.die(new Options.InvalidOptions({ of: "a script", issues: [noStep] }))
  switch (step._tag) {
    case "Call":
      return Effect.succeed(answer([step], "tool-calls", asked))
    case "Answer":
      return Effect.succeed(answer(step.parts, step.finishReason, asked))
    case "Fail":
      return Effect.succeed(failure(step.reason, "", step.options, asked))
    case "StreamError":
      return Effect.succeed(failure(step.reason, step.text, {}, asked))
    case "Unfinished": {
      const { response } = answer([{ type: "text", text: step.text }], "interrupted", asked)
      return Effect.succeed({ _tag: "Unfinished", text: step.text, response })
    }
    case "Hang":
      return Effect.succeed({ _tag: "Hanging", text: step.text })
    case "Defect":
      return Effect.die(step.defect)
    case "Delay":
      return Effect.andThen(Effect.sleep(step.duration), carryOut(step.step, asked))
    case "WithUsage":
      return carryOut(step.step, { ...asked, tokens: asked.tokens ?? step.tokens })
    case "Again":
      return carryOut(step.steps[Math.min(asked.taken.askedBefore, step.steps.length - 1)] ?? step.steps[0], asked)
  }
}

const answer = (
  content: ReadonlyArray<Message.AssistantPart | Call>,
  finishReason: ModelResponse.FinishReason,
  { call, taken, tokens = defaultTokens }: Asked
): Extract<StepOutcome, { readonly _tag: "Response" }> => {
  const calls = content.filter((part) => "_tag" in part)
  const parts = content.map((part): Message.AssistantPart => {
    if (!("_tag" in part)) return part
    const id = part.id ?? callId(taken, call.step, calls.indexOf(part))
    return { type: "tool-call", id, name: part.name, arguments: part.arguments }
  })
  return { _tag: "Response", response: { parts, finishReason, usage: usage(tokens) } }
}

const callId = ({ run, scriptId }: Taken, step: number, index: number): string =>
  `call-${scriptId.replaceAll(/[^a-zA-Z0-9_-]/g, "-")}-${run}-${step}-${index}`

const failure = (
  reason: ModelError.ModelErrorReason,
  text: string,
  options: FailOptions,
  asked: Asked
): StepOutcome => {
  const tokens = asked.tokens ?? options.usage
  const error = new ModelError.ModelError({
    ...modelName,
    reason,
    ...options.detail === undefined ? {} : { detail: options.detail },
    ...options.status === undefined ? {} : { status: options.status },
    ...options.retryAfter === undefined ? {} : { retryAfter: Duration.toMillis(options.retryAfter) },
    ...tokens === undefined ? {} : { usage: usage(tokens) }
  })
  return { _tag: "Failure", text, error }
}

const noStep = "what a function gives must be a step, or an effect of one"

const defaultTokens: Tokens = { input: 10, output: 5 }

const usage = ({ cacheRead, cacheWrite, input, output, reasoning }: Tokens): Usage.ModelUsage => ({
  inputTokens: {
    ...input === undefined ? {} : { total: input },
    ...cacheRead === undefined ? {} : { cacheRead },
    ...cacheWrite === undefined ? {} : { cacheWrite }
  },
  outputTokens: {
    ...output === undefined ? {} : { total: output },
    ...reasoning === undefined ? {} : { reasoning }
  }
})
