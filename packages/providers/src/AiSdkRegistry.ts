/**
 * The models of AI SDK providers and registries, by id.
 *
 * @since 0.1.0
 */
import type { LanguageModelV4 } from "@ai-sdk/provider"
import type { ModelClient } from "@mandate/core"
import { ModelRegistry, Options as CallerOptions } from "@mandate/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as ClientPackage from "./env/ClientPackage.ts"
import * as ModelFallback from "./ModelFallback.ts"
import * as ProviderModels from "./registry/ProviderModels.ts"
import * as AiSdk from "./v4/Bridge.ts"
import * as Failure from "./v4/Failure.ts"

export { PackageNotLoaded } from "./env/ClientPackage.ts"
export type { Provider } from "./registry/ProviderModels.ts"

/**
 * Id of a model, or ids of models that stand in for one another, the preferred
 * one first.
 *
 * @category models
 * @since 0.1.0
 */
export type Target = string | readonly [string, ...ReadonlyArray<string>]

/**
 * Where the models of a registry come from.
 *
 * **Details**
 *
 * - `provider`: gives models by id; of `createProviderRegistry`,
 *   `customProvider`, or a provider package
 * - `models`: models by id: AI SDK models, or clients made by `AiSdk.make` and
 *   others
 * - `roles`: names that agents use for what a model is to do (`fast`,
 *   `reasoning`), and the ids behind them
 * - `default`: the model of agents that name none: a role, an id, or a list
 * - `separator`: the separator of the `createProviderRegistry` in `provider`.
 *   Default: `:`, as it is there
 * - `fallback`: when a list goes on to the next model. Default: see
 *   `ModelFallback`
 * - `gateway`: gives ids that are found nowhere else to the AI SDK's global
 *   provider: the AI Gateway, or what `AI_SDK_DEFAULT_PROVIDER` is set to.
 *   Needs the package `ai`. Default: `false`
 *
 * `settings`, `structuredAnswers`, `mediaTypes` and `strictSchemas` are those of
 * every AI SDK model here. A client that was made before keeps its own.
 *
 * @category models
 * @since 0.1.0
 */
export interface Options extends AiSdk.Options {
  readonly provider?: ProviderModels.Provider
  readonly models?: { readonly [modelId: string]: LanguageModelV4 | ModelClient.ModelClient }
  readonly roles?: { readonly [role: string]: Target }
  readonly default?: Target
  readonly separator?: string
  readonly fallback?: ModelFallback.Options
  readonly gateway?: boolean
}

/**
 * Layer of a registry with the models of AI SDK providers.
 *
 * **Details**
 *
 * An id is looked up among the roles, then in `models`, then with the
 * `provider`, then with the gateway where that was asked for. The provider is
 * asked for the id as it is and then, where the id has a slash, with the
 * separator in its place: `openai/gpt-5` finds `openai:gpt-5`. Roles name ids
 * and not other roles.
 *
 * An id that nothing knows is an `UnknownModel`, which lists the roles, the ids
 * of `models`, and the providers of a `createProviderRegistry` as `<name>/*`;
 * other providers cannot list what they have. So is a list with one such id. A
 * provider package takes every id, right or wrong, and leaves it to its server.
 *
 * A model that its provider knows and cannot make, such as for want of an API
 * key, is found, and its calls fail: in a list the next one is asked.
 *
 * **Gotchas**
 *
 * Calls of a model of version `v2` or `v3` in `models`, or from a provider
 * package of that age, fail as `AiSdk.make` says. `createProviderRegistry` and
 * `customProvider` of `ai` 7 convert such models themselves.
 *
 * **Example** (Two providers and two roles)
 *
 * ```ts
 * import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
 * import { AiSdkRegistry } from "@mandate/providers"
 * import { createProviderRegistry } from "ai"
 *
 * const provider = createProviderRegistry({
 *   here: createOpenAICompatible({ name: "here", baseURL: "http://localhost:11434/v1" }),
 *   there: createOpenAICompatible({ name: "there", baseURL: "http://models.internal/v1" })
 * })
 *
 * export const models = AiSdkRegistry.layer({
 *   provider,
 *   roles: { fast: "here/small", reasoning: ["there/large", "here/large"] },
 *   default: "fast"
 * })
 * ```
 *
 * @see `ModelFallback.make` for when the next model of a list is asked
 * @category layers
 * @since 0.1.0
 */
export const layer: {
  (
    options: Options & { readonly gateway: true }
  ): Layer.Layer<ModelRegistry.ModelRegistry, ClientPackage.PackageNotLoaded>
  (options: Options & { readonly gateway?: false }): Layer.Layer<ModelRegistry.ModelRegistry>
} = (given: Options): Layer.Layer<ModelRegistry.ModelRegistry> => {
  const decoded = decode(given)
  if (Result.isFailure(decoded)) return ModelRegistry.refused("AiSdkRegistry.layer", decoded.failure)
  const options = decoded.success
  return Layer.effect(
    ModelRegistry.ModelRegistry,
    // The overloads say when the package can be missing.
    Effect.map(options.gateway === true ? gateway : Effect.undefined, (last) => make(options, last)) as Effect.Effect<
      ModelRegistry.ModelRegistry["Service"]
    >
  )
}

const decode = CallerOptions.make<Options>("option", {
  ...AiSdk.fields,
  provider: CallerOptions.any,
  models: CallerOptions.record(),
  roles: CallerOptions.record(),
  default: CallerOptions.any,
  separator: CallerOptions.text,
  fallback: CallerOptions.any,
  gateway: CallerOptions.flag
})

const make = (
  options: Options,
  gateway: ProviderModels.Provider | undefined
): ModelRegistry.ModelRegistry["Service"] => {
  const models = new Map(Object.entries(options.models ?? {}))
  const roles = new Map(Object.entries(options.roles ?? {}))
  const separator = options.separator ?? ":"

  const client = (modelId: string): ModelClient.ModelClient | undefined => {
    const own = models.get(modelId)
    if (own !== undefined) return "generate" in own ? own : AiSdk.of(own, options)
    const found = (options.provider && ProviderModels.findSlashed(options.provider, modelId, separator)) ??
      (gateway && ProviderModels.find(gateway, modelId))
    if (found === undefined) return undefined
    return Result.isSuccess(found) ? AiSdk.of(found.success, options) : failing(modelId, found.failure)
  }

  const known = (): ReadonlyArray<string> => {
    const listed = options.provider === undefined ? [] : ProviderModels.names(options.provider, separator)
    return [...new Set([...roles.keys(), ...models.keys(), ...listed])].sort()
  }

  const clientOf = (
    modelId: string
  ): Effect.Effect<ModelClient.ModelClient, ModelRegistry.UnknownModel> =>
    Effect.suspend(() => {
      const found = client(modelId)
      return found === undefined
        ? Effect.fail(new ModelRegistry.UnknownModel({ modelId, known: known() }))
        : Effect.succeed(found)
    })

  const clientsOf = (
    target: Target
  ): Effect.Effect<ModelClient.ModelClient, ModelRegistry.UnknownModel> => {
    const [first, ...others] = typeof target === "string" ? [target] : target
    return Effect.flatMap(
      clientOf(first),
      (preferred) =>
        Effect.map(
          Effect.forEach(others, clientOf),
          (standIns) => ModelFallback.make([preferred, ...standIns], options.fallback)
        )
    )
  }

  return {
    get: (modelId) => {
      const target = modelId ?? options.default
      if (target === undefined) return Effect.fail(new ModelRegistry.UnknownModel({ modelId, known: known() }))
      return clientsOf(typeof target === "string" ? roles.get(target) ?? target : target)
    }
  }
}

const failing = (modelId: string, problem: Failure.Problem): ModelClient.ModelClient => {
  const identity = Failure.identify({ provider: undefined, modelId })
  const error = Effect.sync(() => Failure.toError(identity, problem))
  return { ...identity, generate: () => Effect.flip(error), stream: () => Stream.fromEffect(Effect.flip(error)) }
}

// `customProvider` is what resolves a plain string id with the AI SDK's global provider.
const gateway = Effect.map(
  ClientPackage.load("ai", "gateway: true", () => import("ai").catch(ClientPackage.missing)),
  ({ customProvider }): ProviderModels.Provider => ({
    languageModel: (modelId) => customProvider({ languageModels: { [modelId]: modelId } }).languageModel(modelId)
  })
)
