/**
 * Models that stand in for one another.
 *
 * @since 0.1.0
 */
import type { ModelClient, ModelRequest, ModelResponse } from "@mandate/core"
import { ModelError, Options as CallerOptions } from "@mandate/core"
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as Attempts from "./fallback/Attempts.ts"
import * as FallbackOptions from "./fallback/FallbackOptions.ts"

/**
 * When the next model is asked.
 *
 * **Details**
 *
 * - `reasons`: failures that another model could mend. Default:
 *   {@link defaultReasons}
 * - `retries`: how many times the agent's own retries ask a model again after
 *   a failure that can pass (`isRetryable`), before the next one is asked. The
 *   agent's retry schedule must allow that many. A model whose provider asks to
 *   wait longer than the agent accepts (`withMaxRetryAfter`) is not asked again.
 *   Default: 0
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly reasons?: ReadonlyArray<ModelError.ModelErrorReason>
  readonly retries?: number
}

/**
 * Failures that another model could mend: all but a request that is not valid,
 * a refusal for its content, and failures that nobody understands.
 *
 * **Details**
 *
 * A refusal is not passed on: what one provider refuses is not to be slipped to
 * the next. Name `content-filtered` among the reasons where that is wanted.
 *
 * @category constants
 * @since 0.1.0
 */
export const defaultReasons: ReadonlyArray<ModelError.ModelErrorReason> = [
  "authentication",
  "quota-exceeded",
  "rate-limited",
  "overloaded",
  "network",
  "invalid-response",
  "context-too-long",
  "unsupported"
]

/**
 * Makes one model of several: the next is asked when one fails in a way that
 * another could mend.
 *
 * **Details**
 *
 * Every call begins with the first model. The list goes by the first one's
 * names; a response of another says so in
 * `providerMetadata.mandate.answeredBy`, and every switch is logged at level
 * `Warn`. A response that is not whole (`error`, `interrupted`) is a failure
 * here too.
 *
 * Usage that failed attempts report is added to the response's, or to the
 * error's. When all fail, the error is the one that a retry can mend soonest,
 * or else the first model's; its detail names the others.
 *
 * A stream is switched only before its first element: what a watcher has seen
 * is never told again by another model. The list streams if all its models do,
 * and gives structured answers if all of them do. A schema or a file that one of
 * them cannot be sent, the list cannot.
 *
 * **Gotchas**
 *
 * Within one run the models can take turns, and each gets the others' messages
 * with their `providerMetadata`. Clients leave out what is not theirs, such as
 * another's reasoning.
 *
 * A list without a model, what is no model client, and options that are not
 * valid throw `Options.InvalidOptions`.
 *
 * **Example** (A second provider)
 *
 * ```ts
 * import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
 * import { ModelRegistry } from "@mandate/core"
 * import { AiSdk, ModelFallback } from "@mandate/providers"
 *
 * const here = createOpenAICompatible({ name: "here", baseURL: "http://localhost:11434/v1" })
 * const there = createOpenAICompatible({ name: "there", baseURL: "http://models.internal/v1" })
 *
 * export const models = ModelRegistry.layer({
 *   default: ModelFallback.make([AiSdk.make(here("large")), AiSdk.make(there("large"))])
 * })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  models: readonly [ModelClient.ModelClient, ...ReadonlyArray<ModelClient.ModelClient>],
  options?: Options
): ModelClient.ModelClient =>
  ofChecked(
    CallerOptions.orThrow("ModelFallback.make", FallbackOptions.decodeModels(models)),
    CallerOptions.orThrow("ModelFallback.make", FallbackOptions.decode(options))
  )

const ofChecked = (
  models: readonly [ModelClient.ModelClient, ...ReadonlyArray<ModelClient.ModelClient>],
  options: Options
): ModelClient.ModelClient => {
  const [first, ...others] = models
  if (others.length === 0) return first
  const reasons = new Set(options.reasons ?? defaultReasons)
  const retries = options.retries ?? 0
  const passes = (error: ModelError.ModelError, call: ModelRequest.ModelCall): boolean =>
    reasons.has(error.reason) && !(error.isRetryable && call.attempt < retries && isShort(error, call))
  const streams = models.flatMap(({ stream }) => stream === undefined ? [] : [stream])
  return {
    provider: first.provider,
    modelId: first.modelId,
    structuredAnswers: models.every((model) => model.structuredAnswers === true),
    refusesSchema: (schema) =>
      models.map((model) => model.refusesSchema?.(schema)).find((reason) => reason !== undefined),
    refusesFile: (file) =>
      Effect.map(
        Effect.forEach(models, ({ refusesFile }) => refusesFile?.(file) ?? Effect.succeed(undefined)),
        (reasons) => reasons.find((reason) => reason !== undefined)
      ),
    generate: generate(models, passes),
    ...(streams.length === models.length ? { stream: stream(models, streams, passes) } : {})
  }
}

type Passes = (error: ModelError.ModelError, call: ModelRequest.ModelCall) => boolean
type Failed = ReadonlyArray<ModelError.ModelError>

const generate = (
  models: ReadonlyArray<ModelClient.ModelClient>,
  passes: Passes
): ModelClient.ModelClient["generate"] =>
(request, call) => {
  const ask = (
    model: ModelClient.ModelClient,
    index: number,
    failed: Failed
  ): Effect.Effect<ModelResponse.ModelResponse, ModelError.ModelError> =>
    Effect.matchEffect(Effect.flatMap(model.generate(request, call), (response) => whole(model, response)), {
      onSuccess: (response) => Effect.succeed(Attempts.answered(response, model, failed)),
      onFailure: (error) => {
        const next = passes(error, call) ? models[index + 1] : undefined
        return next === undefined
          ? Effect.fail(Attempts.failure(failed, error))
          : Effect.andThen(noteSwitch(error, next), ask(next, index + 1, [...failed, error]))
      }
    })
  return Effect.suspend(() => ask(models[0]!, 0, []))
}

const stream = (
  models: ReadonlyArray<ModelClient.ModelClient>,
  streams: ReadonlyArray<NonNullable<ModelClient.ModelClient["stream"]>>,
  passes: Passes
): NonNullable<ModelClient.ModelClient["stream"]> =>
(request, call) => {
  const ask = (
    index: number,
    failed: Failed
  ): Stream.Stream<ModelResponse.ModelStreamPart, ModelError.ModelError> =>
    Stream.suspend(() => {
      const model = models[index]!
      let begun = false
      return streams[index]!(request, call).pipe(
        Stream.map((part) => {
          begun = true
          return part.type === "finish" ? Attempts.answered(part, model, failed) : part
        }),
        Stream.concat(Stream.suspend(() => begun ? Stream.empty : Stream.fail(broken(model, "network")))),
        Stream.catch((error) => {
          const next = !begun && passes(error, call) ? models[index + 1] : undefined
          return next === undefined
            ? Stream.fail(Attempts.failure(failed, error))
            : Stream.unwrap(Effect.as(noteSwitch(error, next), ask(index + 1, [...failed, error])))
        })
      )
    })
  return ask(0, [])
}

// The agent does not ask again where the provider asks to wait longer than it accepts.
const isShort = ({ retryAfter = 0 }: ModelError.ModelError, { maxRetryAfter = Infinity }: ModelRequest.ModelCall) =>
  retryAfter <= maxRetryAfter

const noteSwitch = (error: ModelError.ModelError, next: ModelClient.ModelClient): Effect.Effect<void> =>
  Effect.logWarning("A model failed and the next one is asked").pipe(
    Effect.annotateLogs({ failed: Attempts.nameOf(error), reason: error.reason, next: Attempts.nameOf(next) })
  )

const whole = (
  model: ModelClient.ModelClient,
  response: ModelResponse.ModelResponse
): Effect.Effect<ModelResponse.ModelResponse, ModelError.ModelError> => {
  switch (response.finishReason) {
    case "error":
      return Effect.fail(broken(model, "overloaded", response))
    case "interrupted":
      return Effect.fail(broken(model, "network", response))
    default:
      return Effect.succeed(response)
  }
}

const broken = (
  { modelId, provider }: ModelClient.ModelClient,
  reason: ModelError.ModelErrorReason,
  response?: ModelResponse.ModelResponse
): ModelError.ModelError =>
  new ModelError.ModelError({
    reason,
    provider,
    modelId,
    detail: "the response ended before it was whole",
    ...(response === undefined ? {} : { usage: response.usage })
  })
