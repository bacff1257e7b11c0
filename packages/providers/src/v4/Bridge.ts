/**
 * Any language model of the Vercel AI SDK as a model of Mandate.
 *
 * **Details**
 *
 * The model's client is called directly, with neither `ai` nor `effect/ai`
 * between. The folder `v4/` maps requests, responses and failures to and from
 * version 4 of the AI SDK's model specification.
 *
 * @since 0.1.0
 */
import type { LanguageModelV4, LanguageModelV4CallOptions } from "@ai-sdk/provider"
import type { ModelClient, ModelError, ModelRequest, ModelResponse } from "@mandate/core"
import { ModelRegistry, Options as CallerOptions } from "@mandate/core"
import * as Effect from "effect/Effect"
import type * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as MediaTypes from "../files/MediaTypes.ts"
import * as Families from "../strict/Family.ts"
import * as StrictTools from "../strict/StrictTools.ts"
import * as CallOptions from "./CallOptions.ts"
import * as Failure from "./Failure.ts"
import * as Prompt from "./Prompt.ts"
import * as Response from "./Response.ts"
import * as ResponseStream from "./ResponseStream.ts"
import * as SelfContained from "./SelfContained.ts"
import * as SupportedUrls from "./SupportedUrls.ts"
import * as ToolFiles from "./ToolFiles.ts"

/**
 * What is not in the model itself.
 *
 * **Details**
 *
 * - `settings`: settings of every call. A setting of the request wins, header
 *   by header and provider option by provider option. Default: none
 * - `structuredAnswers`: whether the model gives native structured answers
 *   beside tools. Typed answers are then asked for with the request, and the
 *   tool `submit_report` is not offered. Default: `false`
 * - `mediaTypes`: media types of the files that the model takes, such as
 *   `application/pdf` and `image/*`. A run with another file is then refused
 *   before it starts. Default: not known, and the provider decides
 * - `strictSchemas`: holds the model to the schemas of its tools, in the way
 *   of a family of providers (`true`: the one that the model's provider
 *   belongs to). See {@link make}. Default: `false`
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly settings?: ModelRequest.ModelSettings
  readonly structuredAnswers?: boolean
  readonly mediaTypes?: ReadonlyArray<string>
  readonly strictSchemas?: boolean | Family
}

/**
 * Providers that hold their models to a schema in the same way.
 *
 * **Details**
 *
 * - `openai`: OpenAI, Azure, and whatever speaks their format
 * - `anthropic`: Anthropic, also through Bedrock and Vertex
 * - `google`: Gemini
 *
 * @category models
 * @since 0.1.0
 */
export type Family = Families.Family

/**
 * Makes a model client of an AI SDK model.
 *
 * **Details**
 *
 * A call is one HTTP request of the model's own client: nothing is retried,
 * and interrupting the call, or leaving its stream, aborts the request. A
 * stream gives every part whole, in the order of a whole response, beside its
 * deltas; one that breaks off in any way fails. Every failure is a
 * `ModelError` in words of our own; what the provider sent is read only to
 * tell the reason. What the client says it left out of a request (a setting
 * that the model does not take) is logged at level `Debug`.
 *
 * A request holds its whole history. OpenAI's responses format would keep
 * responses at the provider and refer to them: it gets `store: false`, and
 * reasoning comes and goes as encrypted content. The provider option
 * `openai: { store: true }` in `settings`, or of an agent, turns that back;
 * one with `conversation` or `previousResponseId` leaves it to the application.
 *
 * With `strictSchemas` tools are sent with `strict: true` and schemas that say
 * no more than such providers take: every key required, an optional one
 * nullable, no further keys, `anyOf` for `oneOf`; bounds become part of the
 * descriptions. Arguments come back in the plain form, with optional keys
 * absent where they are `null`; only their deltas are as the model wrote them.
 * Records, tuples, and values of any kind cannot be put so, nor can schemas
 * that refer to themselves with `anthropic` and `google`: `build` and `bind`
 * then fail and name the tool or the subagent. A tool with `Tool.Strict` set
 * to `false` is sent as it is. With `google`, tool results that are no object
 * are sent as `{ "result": … }`, and failures as `{ "error": … }`.
 *
 * **Gotchas**
 *
 * A model of an older specification (`v2`, `v3`) is refused by the compiler.
 * At run time `make` accepts it and every call fails with the reason
 * `unsupported`: upgrade its provider package, or convert it with
 * `wrapLanguageModel({ model, middleware: [] })` of `ai`.
 *
 * AI SDK telemetry (`registerTelemetry`) sees nothing of these calls, and
 * Mandate makes no spans of them: watch the events of a run instead.
 *
 * **Example** (Two models, one by id)
 *
 * ```ts
 * import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
 * import { ModelRegistry, Options as CallerOptions } from "@mandate/core"
 * import { AiSdk } from "@mandate/providers"
 *
 * const provider = createOpenAICompatible({ name: "local", baseURL: "http://localhost:11434/v1" })
 *
 * export const models = ModelRegistry.layer({
 *   default: AiSdk.make(provider("large")),
 *   models: { fast: AiSdk.make(provider("small"), { settings: { temperature: 0 } }) }
 * })
 * ```
 *
 * @see {@link layer} for a registry with just this model
 * @category constructors
 * @since 0.1.0
 */
export const make = (model: LanguageModelV4, options?: Options): ModelClient.ModelClient =>
  of(model, CallerOptions.orThrow("AiSdk.make", Result.flatMap(decodeModel({ model }), () => decode(options))))

/**
 * Makes a model client of a model and options that were checked. Further keys
 * of the options are not looked at.
 *
 * @category constructors
 * @since 0.1.0
 */
export const of = (model: LanguageModelV4, options: Options): ModelClient.ModelClient => {
  const identity = Failure.identify(model)
  const unsupported = Failure.unsupportedVersion(model.specificationVersion)
  const prepared = prepare(model, options.settings ?? {})
  const strict = strictTools(identity, options.strictSchemas ?? false)
  const toError = (problem: Failure.Problem): ModelError.ModelError => Failure.toError(identity, problem)
  const ready = (request: ModelRequest.ModelRequest) =>
    unsupported === undefined ? prepared(strict?.send(request) ?? request) : Effect.fail(unsupported)
  return {
    ...identity,
    structuredAnswers: options.structuredAnswers ?? false,
    ...(strict === undefined ? {} : { refusesSchema: strict.refusesSchema }),
    refusesFile: (file) => {
      const reason = MediaTypes.refuses(options.mediaTypes, file)
      return reason === undefined ? SupportedUrls.refuses(model, file) : Effect.succeed(reason)
    },
    generate: (request) =>
      Effect.flatMap(ready(request), (call) => generate(model, call)).pipe(
        Effect.map((response) => strict?.receive(request, response) ?? response),
        Effect.mapError(toError)
      ),
    stream: (request) =>
      Stream.unwrap(Effect.map(ready(request), (call) => ResponseStream.make(model, call))).pipe(
        Stream.map((piece) => strict?.receivePiece(request, piece) ?? piece),
        Stream.mapError(toError)
      )
  }
}

/**
 * Layer of a registry whose default model is an AI SDK model.
 *
 * **Example** (The model of an application)
 *
 * ```ts
 * import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
 * import { AiSdk } from "@mandate/providers"
 *
 * const provider = createOpenAICompatible({ name: "local", baseURL: "http://localhost:11434/v1" })
 *
 * export const model = AiSdk.layer(provider("large"))
 * ```
 *
 * @see {@link make} for several models, and for what a call does
 * @category layers
 * @since 0.1.0
 */
export const layer = (model: LanguageModelV4, options?: Options): Layer.Layer<ModelRegistry.ModelRegistry> =>
  Result.match(Result.flatMap(decodeModel({ model }), () => decode(options)), {
    onSuccess: (given) => ModelRegistry.layer({ default: of(model, given) }),
    onFailure: (issues) => ModelRegistry.refused("AiSdk.layer", issues)
  })

/**
 * Schemas of the options, by key.
 *
 * @category schemas
 * @since 0.1.0
 */
export const fields: CallerOptions.Fields<Options> = {
  settings: CallerOptions.any,
  structuredAnswers: CallerOptions.flag,
  mediaTypes: CallerOptions.texts,
  strictSchemas: CallerOptions.checked<boolean | Family>(
    "true, false or one of \"openai\", \"anthropic\", \"google\"",
    (value) => typeof value === "boolean" || value === "openai" || value === "anthropic" || value === "google"
  )
}

const decode = CallerOptions.make<Options>("option", fields)

const decodeModel = CallerOptions.make<{ readonly model: LanguageModelV4 }>("argument", {
  model: CallerOptions.checked<LanguageModelV4>(
    "a language model of the AI SDK, such as openai(\"gpt-5\") gives",
    (model) => Predicate.hasProperty(model, "doGenerate") && typeof model.doGenerate === "function"
  )
}, ["model"])

const strictTools = (model: Failure.Identity, family: boolean | Family): StrictTools.StrictTools | undefined => {
  if (family === false) return undefined
  return StrictTools.make(family === true ? Families.of(model) : family)
}

const prepare = (model: LanguageModelV4, settings: ModelRequest.ModelSettings) => {
  const selfContained = SelfContained.options(Failure.identify(model))
  return Effect.fnUntraced(function*(
    request: ModelRequest.ModelRequest
  ): Effect.fn.Return<LanguageModelV4CallOptions, Failure.Problem> {
    const { messages, urls } = Prompt.make(request.messages, ToolFiles.takenBy(model))
    yield* SupportedUrls.check(model, urls)
    return CallOptions.make(request, settings, messages, selfContained)
  })
}

const generate = Effect.fnUntraced(function*(
  model: LanguageModelV4,
  options: LanguageModelV4CallOptions
): Effect.fn.Return<ModelResponse.ModelResponse, Failure.Problem> {
  const result = yield* Failure.attempt((abortSignal) => model.doGenerate({ ...options, abortSignal }))
  const response = yield* Effect.fromResult(Response.make(result))
  yield* Response.logWarnings(result.warnings)
  return response
})
