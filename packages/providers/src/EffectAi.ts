/**
 * Any language model of `effect/ai` as a model of Mandate.
 *
 * @since 0.1.0
 */
import type { ModelClient, ModelRequest, ModelResponse } from "@mandate/core"
import { ModelRegistry, Options as CallerOptions } from "@mandate/core"
import type * as AiError from "effect/ai/AiError"
import * as LanguageModel from "effect/ai/LanguageModel"
import * as Model from "effect/ai/Model"
import type * as AiResponse from "effect/ai/Response"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as AiContent from "./effect-ai/AiContent.ts"
import * as AiFailure from "./effect-ai/AiFailure.ts"
import * as AiPrompt from "./effect-ai/AiPrompt.ts"
import * as AiToolkit from "./effect-ai/AiToolkit.ts"
import * as MediaTypes from "./files/MediaTypes.ts"
import * as Failure from "./v4/Failure.ts"
import * as FailureLog from "./v4/FailureLog.ts"
import * as Response from "./v4/Response.ts"
import * as StreamFailure from "./v4/StreamFailure.ts"
import * as StreamParts from "./v4/StreamParts.ts"

/**
 * What is not in the model itself.
 *
 * **Details**
 *
 * - `provider`, `modelId`: names of the model. Default: those of
 *   `effect/ai/Model`, or else `effect-ai` and `unknown`
 * - `mediaTypes`: media types of the files that the model takes, such as
 *   `application/pdf` and `image/*`. A run with another file is then refused
 *   before it starts. Default: not known, and the provider decides
 * - `configure`: the services that carry the settings of one call to the
 *   model, such as the `Config` of a provider package. `effect/ai` has no
 *   settings of its own. Default: none, and settings are left out
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly provider?: string
  readonly modelId?: string
  readonly mediaTypes?: ReadonlyArray<string>
  readonly configure?: (settings: ModelRequest.ModelSettings) => Context.Context<never>
}

/**
 * Makes a model client of the `LanguageModel` service.
 *
 * **Details**
 *
 * A call is one call of the service, with tool calls left unresolved and
 * unvalidated: the loop runs and refuses them. The tools are dynamic ones with
 * the JSON Schema they have. Nothing is retried, and interrupting the call
 * interrupts the service's. Every failure is a `ModelError` in words of our
 * own.
 *
 * There are no structured answers beside tools. What is left out of a request
 * (settings without `configure`, an answer asked for) is logged by name at
 * level `Debug`.
 *
 * **Gotchas**
 *
 * Arguments reach Mandate as the provider's client read them, so they are JSON
 * again and not the model's own text. A client that fails over arguments that
 * are not JSON, or over a tool that was not offered, makes that an
 * `invalid-response`.
 *
 * Options that are not valid are a defect, `Options.InvalidOptions`.
 *
 * @see {@link layer} for a registry with just this model
 * @category constructors
 * @since 0.1.0
 */
export const make = (options?: Options): Effect.Effect<ModelClient.ModelClient, never, LanguageModel.LanguageModel> =>
  Effect.flatMap(CallerOptions.orDie("EffectAi.make", decode(options)), ofChecked)

const ofChecked = Effect.fnUntraced(function*(
  options: Options
): Effect.fn.Return<ModelClient.ModelClient, never, LanguageModel.LanguageModel> {
  const model = yield* LanguageModel.LanguageModel
  const identity = {
    provider: options.provider ?? Option.getOrElse(yield* Effect.serviceOption(Model.ProviderName), () => "effect-ai"),
    modelId: options.modelId ?? Option.getOrElse(yield* Effect.serviceOption(Model.ModelName), () => "unknown")
  }
  const toError = (problem: Failure.Problem) => Failure.toError(identity, problem)
  const context = ({ settings }: ModelRequest.ModelRequest) => options.configure?.(settings) ?? Context.empty()
  return {
    ...identity,
    structuredAnswers: false,
    refusesFile: (file) => Effect.sync(() => MediaTypes.refuses(options.mediaTypes, file)),
    generate: (request) =>
      logLeftOut(request, options).pipe(
        Effect.andThen(Effect.suspend(() => generate(model, request))),
        Effect.provideContext(context(request)),
        Effect.mapError(toError)
      ),
    stream: (request) =>
      Stream.fromEffectDrain(logLeftOut(request, options)).pipe(
        Stream.concat(Stream.suspend(() => stream(model, request))),
        Stream.provideContext(context(request)),
        Stream.mapError(toError)
      )
  }
})

/**
 * Layer of a registry whose default model is an `effect/ai` model.
 *
 * **Example** (The model of a provider package)
 *
 * ```ts
 * import { EffectAi } from "@mandate/providers"
 * import type { Layer } from "effect"
 * import type { LanguageModel } from "effect/ai"
 *
 * declare const claude: Layer.Layer<LanguageModel.LanguageModel>
 *
 * export const model = EffectAi.layer(claude, { provider: "anthropic", modelId: "claude-sonnet-4-5" })
 * ```
 *
 * @see {@link make} for several models, and for what a call does
 * @category layers
 * @since 0.1.0
 */
export const layer = <E, R>(
  model: Layer.Layer<LanguageModel.LanguageModel, E, R>,
  options?: Options
): Layer.Layer<ModelRegistry.ModelRegistry, E, R> =>
  Result.match(Result.flatMap(decodeModel({ model }), () => decode(options)), {
    onSuccess: (given) =>
      Layer.unwrap(Effect.map(ofChecked(given), (client) => ModelRegistry.layer({ default: client }))).pipe(
        Layer.provide(model)
      ),
    onFailure: (issues): Layer.Layer<ModelRegistry.ModelRegistry, E, R> =>
      ModelRegistry.refused("EffectAi.layer", issues)
  })

const decode = CallerOptions.make<Options>("option", {
  provider: CallerOptions.text,
  modelId: CallerOptions.text,
  mediaTypes: CallerOptions.texts,
  configure: CallerOptions.func
})

const decodeModel = CallerOptions.make<{ readonly model: Layer.Any }>("argument", {
  model: CallerOptions.checked("a layer of LanguageModel, such as a provider package gives", Layer.isLayer)
}, ["model"])

const callOptions = (request: ModelRequest.ModelRequest) => ({
  prompt: AiPrompt.make(request.messages),
  toolkit: AiToolkit.make(request.tools),
  toolChoice: request.tools.length === 0 ? "none" as const : request.toolChoice,
  disableToolCallResolution: true as const,
  toolCallValidation: "deferred" as const
})

const generate = Effect.fnUntraced(function*(
  model: LanguageModel.LanguageModel,
  request: ModelRequest.ModelRequest
): Effect.fn.Return<ModelResponse.ModelResponse, Failure.Problem> {
  const { content } = yield* Effect.catch(model.generateText(callOptions(request)), fail)
  const finish = content.find((part) => part.type === "finish")
  if (finish === undefined) return yield* Effect.fail(StreamFailure.cut)
  return yield* Effect.fromResult(Response.make({
    content: content.map(AiContent.fromPart).filter((part) => part !== undefined),
    finishReason: AiContent.toReason(finish),
    usage: AiContent.toUsage(finish),
    warnings: [],
    ...AiContent.toMetadata(finish)
  }))
})

const stream = (
  model: LanguageModel.LanguageModel,
  request: ModelRequest.ModelRequest
): Stream.Stream<ModelResponse.ModelStreamPart, Failure.Problem> => {
  const parts = StreamParts.make()
  const end = Stream.suspend(() => fromResult(parts.end()))
  return model.streamText(callOptions(request)).pipe(
    Stream.catch((error) => Stream.fromEffect(fail(error))),
    Stream.mapEffect((part) => Effect.flatMap(take(parts, part), Effect.fromResult)),
    Stream.flattenIterable,
    Stream.concat(end)
  )
}

const fail = (error: AiError.AiError): Effect.Effect<never, Failure.Problem> =>
  Effect.andThen(
    FailureLog.log(error),
    Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.fail(AiFailure.classify(error, now)))
  )

type Pieces = Result.Result<ReadonlyArray<StreamParts.Piece>, Failure.Problem>

const take = (
  parts: StreamParts.StreamParts,
  part: AiContent.StreamPart | AiResponse.ErrorPart
): Effect.Effect<Pieces> => {
  if (part.type === "error") {
    return Effect.map(
      Clock.currentTimeMillis,
      (now) => Result.fail(AiFailure.classifyInStream(part.error, now))
    )
  }
  const converted = AiContent.fromStreamPart(part)
  return Effect.succeed(converted === undefined ? Result.succeed([]) : parts.take(converted))
}

const fromResult = (pieces: Pieces): Stream.Stream<StreamParts.Piece, Failure.Problem> =>
  Result.isSuccess(pieces) ? Stream.fromIterable(pieces.success) : Stream.fail(pieces.failure)

const logLeftOut = (
  { answer, settings }: ModelRequest.ModelRequest,
  { configure }: Options
): Effect.Effect<void> => {
  const names = [
    ...(configure === undefined ? Object.keys(settings) : []),
    ...(answer === undefined ? [] : ["answer"])
  ]
  return names.length === 0
    ? Effect.void
    : Effect.logDebug("The model's client did not send the request as it is").pipe(
      Effect.annotateLogs({ warnings: names.map((name) => `unsupported ${name}`) })
    )
}
