/**
 * The model that the environment names.
 *
 * @since 0.1.0
 */
import type { ModelClient } from "@mandate/core"
import { ModelRegistry, Options as CallerOptions } from "@mandate/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as AiSdk from "../v4/Bridge.ts"
import { type EnvError, InvalidVariable, ModelNotSet, UnknownProvider } from "./EnvError.ts"
import * as EnvProvider from "./EnvProvider.ts"
import * as Variables from "./Variables.ts"

export type { EnvError } from "./EnvError.ts"
export { InvalidVariable, MissingVariable, ModelNotSet, UnknownProvider } from "./EnvError.ts"
export { PackageNotLoaded } from "./ClientPackage.ts"

/**
 * What is not in the environment.
 *
 * **Details**
 *
 * - `variable`: the variable that names the model. Default: `MANDATE_MODEL`
 * - `settings`, `structuredAnswers`, `mediaTypes`, `strictSchemas`: as for
 *   `AiSdk.make`
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends AiSdk.Options {
  readonly variable?: string
}

/**
 * The providers that can be named.
 *
 * @category constants
 * @since 0.1.0
 */
export const providers: ReadonlyArray<string> = [...EnvProvider.providers.keys()]

/**
 * Makes the model that the environment names as `<provider>/<model>`.
 *
 * **Details**
 *
 * Variables are read through `Config`, and through nothing else:
 *
 * | provider | package | variables |
 * | --- | --- | --- |
 * | `openai` (responses), `openai-chat` | `@ai-sdk/openai` | `OPENAI_API_KEY`, `OPENAI_BASE_URL`? |
 * | `anthropic` | `@ai-sdk/anthropic` | `ANTHROPIC_API_KEY`, `ANTHROPIC_BASE_URL`? |
 * | `google` | `@ai-sdk/google` | `GOOGLE_GENERATIVE_AI_API_KEY`, `GOOGLE_GENERATIVE_AI_BASE_URL`? |
 * | `openai-compatible` | `@ai-sdk/openai-compatible` | `OPENAI_BASE_URL`, `OPENAI_API_KEY`? |
 *
 * Those with a question mark may be absent; an empty variable is absent. The
 * package is loaded when its provider is named, and only then has to be
 * installed. No error holds what a variable holds, save the name of a provider.
 *
 * @see {@link layer} for a registry with this model
 * @category constructors
 * @since 0.1.0
 */
export const make = (options?: Options): Effect.Effect<ModelClient.ModelClient, EnvError> =>
  Effect.map(named(options), ({ client }) => client)

/**
 * Layer of a registry whose default model is the one that the environment
 * names. It is also found by its name, `<provider>/<model>`.
 *
 * **Details**
 *
 * Without a named model the layer fails with `ModelNotSet`, which a caller can
 * answer with a model of its own.
 *
 * **Example** (A model of one's own where none is named)
 *
 * ```ts
 * import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
 * import { AiSdk } from "@mandate/providers"
 * import { Layer } from "effect"
 *
 * const local = createOpenAICompatible({ name: "local", baseURL: "http://localhost:11434/v1" })
 *
 * export const model = AiSdk.fromEnv().pipe(
 *   Layer.catchTag("ModelNotSet", () => AiSdk.layer(local("small")))
 * )
 * ```
 *
 * @see {@link make} for the variables
 * @category layers
 * @since 0.1.0
 */
export const layer = (options?: Options): Layer.Layer<ModelRegistry.ModelRegistry, EnvError> =>
  Layer.unwrap(
    Effect.map(
      named(options),
      ({ client, name }) => ModelRegistry.layer({ default: client, models: { [name]: client } })
    )
  )

const decode = CallerOptions.make<Options>("option", { ...AiSdk.fields, variable: CallerOptions.text })

const named = Effect.fnUntraced(function*(
  given?: Options
): Effect.fn.Return<{ readonly name: string; readonly client: ModelClient.ModelClient }, EnvError> {
  const options = yield* CallerOptions.orDie("AiSdk.fromEnv", decode(given))
  const variable = options.variable ?? "MANDATE_MODEL"
  const name = yield* Variables.text(variable)
  if (name === undefined) return yield* new ModelNotSet({ variable, known: providers })
  const slash = name.indexOf("/")
  const modelId = name.slice(slash + 1)
  if (slash === -1 || !isModelId(modelId)) {
    return yield* new InvalidVariable({ variable, problem: "must name a model as <provider>/<model>" })
  }
  const provider = name.slice(0, slash)
  const makeModel = EnvProvider.providers.get(provider)
  if (makeModel === undefined) {
    return yield* new UnknownProvider({ variable, provider: looksLikeName(provider), known: providers })
  }
  const model = yield* makeModel(modelId, { structuredAnswers: options.structuredAnswers === true })
  return { name, client: AiSdk.of(model, options) }
})

const isModelId = (modelId: string): boolean => /^[\x21-\x7e]{1,256}$/.test(modelId)

const looksLikeName = (provider: string): string | undefined =>
  /^[a-z][a-z0-9.-]{0,31}$/i.test(provider) ? provider : undefined
