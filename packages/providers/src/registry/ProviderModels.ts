/**
 * The models of an AI SDK provider, by id.
 *
 * @since 0.1.0
 */
import { NoSuchModelError } from "@ai-sdk/provider"
import type { LanguageModelV4 } from "@ai-sdk/provider"
import * as Result from "effect/Result"
import * as Failure from "../v4/Failure.ts"

/**
 * What gives language models by id: a `ProviderV4`, such as the result of
 * `createProviderRegistry`, `customProvider` or `createOpenAI`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Provider {
  languageModel(modelId: string): LanguageModelV4
}

/**
 * A model, or why the provider cannot make it.
 *
 * @category models
 * @since 0.1.0
 */
export type Found = Result.Result<LanguageModelV4, Failure.Problem>

/**
 * Finds a model. `undefined`: the provider says that there is none.
 *
 * **Details**
 *
 * A provider that throws anything else knows the model and cannot make it, such
 * as for want of an API key.
 *
 * @category getters
 * @since 0.1.0
 */
export const find = (provider: Provider, modelId: string): Found | undefined => {
  const found = ask(provider, modelId)
  if (Result.isFailure(found)) {
    return NoSuchModelError.isInstance(found.failure) ? undefined : Result.fail(Failure.classify(found.failure, 0))
  }
  return isObject(found.success) ? Result.succeed(found.success) : undefined
}

/**
 * Finds a model of a `createProviderRegistry`, whose ids are
 * `<provider><separator><model>`, by an id with a slash in place of the
 * separator. The id as it is wins.
 *
 * @category getters
 * @since 0.1.0
 */
export const findSlashed = (provider: Provider, modelId: string, separator: string): Found | undefined => {
  const found = find(provider, modelId)
  const slash = modelId.indexOf("/")
  return found !== undefined || slash === -1
    ? found
    : find(provider, `${modelId.slice(0, slash)}${separator}${modelId.slice(slash + 1)}`)
}

/**
 * The names of a registry's providers, as `<name>/*`. Other providers cannot
 * say which models they have, and give nothing.
 *
 * @category getters
 * @since 0.1.0
 */
export const names = (provider: Provider, separator: string): ReadonlyArray<string> => {
  // A registry that is asked for a provider it does not have says which ones it has. No provider has this name.
  const refused = ask(provider, `mandate\u0000${separator}mandate`)
  if (Result.isSuccess(refused) || !NoSuchModelError.isInstance(refused.failure)) return []
  const { availableProviders } = refused.failure as { readonly availableProviders?: unknown }
  return Array.isArray(availableProviders)
    ? availableProviders.filter((name) => typeof name === "string").map((name) => `${name}/*`)
    : []
}

const ask = (provider: Provider, modelId: string): Result.Result<unknown, unknown> =>
  Result.try({ try: () => provider.languageModel(modelId), catch: (thrown) => thrown })

const isObject = (model: unknown): model is LanguageModelV4 => typeof model === "object" && model !== null
