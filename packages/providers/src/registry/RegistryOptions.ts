/**
 * The options of a registry of AI SDK models, as untrusted input.
 *
 * @since 0.1.0
 */
import type { LanguageModelV4 } from "@ai-sdk/provider"
import { type ModelClient, Options as CallerOptions } from "@mandate/core"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as FallbackOptions from "../fallback/FallbackOptions.ts"
import * as AiSdk from "../v4/Bridge.ts"
import type * as ProviderModels from "./ProviderModels.ts"

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
  readonly fallback?: FallbackOptions.FallbackOptions
  readonly gateway?: boolean
}

/**
 * Decodes the options, and every model and role in them.
 *
 * @category decoding
 * @since 0.1.0
 */
export const decode = (given: unknown): Result.Result<Options, CallerOptions.Issues> =>
  Result.flatMap(decodeKeys(given), (options) => {
    const models = entries("models", options.models, isModel, model)
    const roles = entries("roles", options.roles, isTarget, target)
    const fallback = FallbackOptions.decode(options.fallback)
    const [first, ...rest] = [
      ...models.issues,
      ...roles.issues,
      ...(Result.isFailure(fallback) ? fallback.failure.map((issue) => `fallback: ${issue}`) : [])
    ]
    return first !== undefined ? Result.fail<CallerOptions.Issues>([first, ...rest]) : Result.succeed({
      ...options,
      ...(options.models === undefined ? {} : { models: models.values as NonNullable<Options["models"]> }),
      ...(options.roles === undefined ? {} : { roles: roles.values as NonNullable<Options["roles"]> }),
      ...(Result.isSuccess(fallback) ? { fallback: fallback.success } : {})
    })
  })

const isTarget = (value: unknown): boolean =>
  typeof value === "string" ||
  (Array.isArray(value) && value.length > 0 && [...value].every((id) => typeof id === "string"))

const isModel = (value: unknown): boolean =>
  FallbackOptions.isClient(value) ||
  (Predicate.hasProperty(value, "doGenerate") && typeof value.doGenerate === "function")

const target = "the id of a model, or a list of at least one"
const model = "a language model of the AI SDK, or a ModelClient"

const decodeKeys = CallerOptions.make<Options>("option", {
  ...AiSdk.fields,
  provider: CallerOptions.checked<NonNullable<Options["provider"]>>(
    "a provider of the AI SDK, which has languageModel(id)",
    (provider) => Predicate.hasProperty(provider, "languageModel") && typeof provider.languageModel === "function"
  ),
  models: CallerOptions.record(),
  roles: CallerOptions.record(),
  default: CallerOptions.checked(target, isTarget),
  separator: CallerOptions.text,
  fallback: CallerOptions.any,
  gateway: CallerOptions.flag
})

// Each value is read once, and checked by a decoder with its name alone, whatever that name is.
const entries = (
  option: string,
  values: { readonly [name: string]: unknown } | undefined,
  is: (value: unknown) => boolean,
  expected: string
) => {
  // Of names that cannot be read, the decoder says so.
  const names = Result.getOrElse(Result.try(() => Object.keys(values ?? {})), () => [])
  const fields = Object.fromEntries(names.map((name) => [name, CallerOptions.checked(expected, is)]))
  const decoded = CallerOptions.make<{ readonly [name: string]: unknown }>("name", fields)(values)
  return Result.isSuccess(decoded)
    ? { values: decoded.success, issues: [] }
    : { values: {}, issues: decoded.failure.map((issue) => `${option}: ${issue}`) }
}
