/**
 * The models of AI SDK providers and registries, by id.
 *
 * @since 0.1.0
 */
import type { ModelClient } from "@mandate/core"
import { ModelRegistry } from "@mandate/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as ClientPackage from "./env/ClientPackage.ts"
import * as ModelFallback from "./ModelFallback.ts"
import * as ProviderModels from "./registry/ProviderModels.ts"
import * as RegistryOptions from "./registry/RegistryOptions.ts"
import type { Options, Target } from "./registry/RegistryOptions.ts"
import * as AiSdk from "./v4/Bridge.ts"
import * as Failure from "./v4/Failure.ts"

export { PackageNotLoaded } from "./env/ClientPackage.ts"
export type { Provider } from "./registry/ProviderModels.ts"
export type { Options, Target } from "./registry/RegistryOptions.ts"

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
  const decoded = RegistryOptions.decode(given)
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
