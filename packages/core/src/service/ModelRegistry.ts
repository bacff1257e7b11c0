/**
 * The models of an application, by id.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as ErrorClass from "../values/ErrorClass.ts"
import * as JsonWalk from "../values/JsonWalk.ts"
import * as Options from "../values/Options.ts"
import * as ValueKind from "../values/ValueKind.ts"
import type { ModelClient } from "./ModelClient.ts"

/**
 * No model has the id that an agent asks for, or there is no default model.
 * `problem` says what is wrong with the registry, where that is why.
 *
 * @category errors
 * @since 0.1.0
 */
export class UnknownModel extends ErrorClass.TaggedError<UnknownModel>("~mandate/UnknownModel")("UnknownModel", {
  modelId: Schema.UndefinedOr(Schema.String),
  known: Schema.Array(Schema.String),
  problem: Schema.optionalKey(Schema.String)
}) {
  override get message(): string {
    if (this.problem !== undefined) return this.problem
    const known = `known models: ${this.known.join(", ") || "none"}`
    return this.modelId === undefined
      ? `There is no default model; ${known}`
      : `There is no model "${this.modelId}"; ${known}`
  }
}

/**
 * Service that resolves model ids. An agent that names no model gets the
 * default.
 *
 * @category services
 * @since 0.1.0
 */
export class ModelRegistry extends Context.Service<ModelRegistry, {
  /** Finds the model with an id, or the default model for `undefined`. */
  readonly get: (modelId: string | undefined) => Effect.Effect<ModelClient, UnknownModel>
}>()("~mandate/ModelRegistry") {}

/**
 * The models of a registry.
 *
 * **Details**
 *
 * - `default`: the model of agents that name none
 * - `models`: models by id
 * - `aliases`: other names of models, each with the id of a model or another
 *   alias: `{ sonnet: "claude-sonnet-4-5" }`. For the short names that agent
 *   files of public collections use
 *
 * @category models
 * @since 0.1.0
 */
export interface Models {
  readonly default?: ModelClient
  readonly models?: { readonly [modelId: string]: ModelClient }
  readonly aliases?: { readonly [name: string]: string }
}

/**
 * Layer with a default model, models by id, or both.
 *
 * **Details**
 *
 * What is not valid makes every agent a definition that cannot be bound, with
 * `UnknownModel` as its problem: options of another kind, something that is no
 * `ModelClient` (a model of the AI SDK is made one by `AiSdk.make`), and an
 * alias that has the name of a model, leads to no model, or leads to itself.
 *
 * **Example** (Short names)
 *
 * ```ts
 * import { type ModelClient, ModelRegistry } from "@mandate/core"
 *
 * declare const small: ModelClient.ModelClient
 * declare const large: ModelClient.ModelClient
 *
 * export const models = ModelRegistry.layer({
 *   default: large,
 *   models: { small, large },
 *   aliases: { haiku: "small", sonnet: "large", opus: "large" }
 * })
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (models: Models): Layer.Layer<ModelRegistry> =>
  Result.match(decode(models), {
    onSuccess: (given) => {
      const values = valueProblems(given)
      const problems = values.length > 0 ? values : aliasProblems(given)
      return problems[0] === undefined
        ? resolving(given)
        : refused("ModelRegistry.layer", [problems[0], ...problems.slice(1)])
    },
    onFailure: (issues) => refused("ModelRegistry.layer", issues)
  })

/**
 * Layer for models that were not given as a function takes them: every lookup
 * fails and says so, and no agent can be bound.
 *
 * @category layers
 * @since 0.1.0
 */
export const refused = (of: string, issues: Options.Issues): Layer.Layer<ModelRegistry> => {
  const problem = new Options.InvalidOptions({ of, issues }).message
  return Layer.succeed(ModelRegistry, {
    get: (modelId) => Effect.fail(new UnknownModel({ modelId: nameOf(modelId), known: [], problem }))
  })
}

const resolving = ({ aliases = {}, default: first, models = {} }: Models): Layer.Layer<ModelRegistry> => {
  const byId = new Map(Object.entries(models))
  const names = new Map(Object.entries(aliases))
  const known = [...byId.keys(), ...names.keys()].sort()
  const find = (modelId: string): ModelClient | undefined => {
    const target = names.get(modelId)
    return target === undefined ? byId.get(modelId) : find(target)
  }
  return Layer.succeed(ModelRegistry, {
    get: (modelId) => {
      const client = modelId === undefined ? first : find(modelId)
      return client === undefined
        ? Effect.fail(new UnknownModel({ modelId: nameOf(modelId), known }))
        : Effect.succeed(client)
    }
  })
}

// Code without types may ask for anything.
const nameOf = (modelId: unknown): string | undefined =>
  modelId === undefined || typeof modelId === "string" ? modelId : ValueKind.of(modelId)

const aliasProblems = ({ aliases = {}, models = {} }: Models): ReadonlyArray<string> =>
  Object.keys(aliases).flatMap((name) => {
    if (Object.hasOwn(models, name)) return [`the alias "${name}" has the name of a model`]
    const seen = new Set<string>()
    let at = name
    while (Object.hasOwn(aliases, at)) {
      if (seen.has(at)) return [`the alias "${name}" leads to itself`]
      seen.add(at)
      at = aliases[at]!
    }
    if (Object.hasOwn(models, at)) return []
    return [`the alias "${name}" leads to no model; models: ${Object.keys(models).sort().join(", ") || "none"}`]
  })

const isClient = (value: unknown): boolean =>
  Predicate.hasProperty(value, "generate") && typeof value.generate === "function" &&
  Predicate.hasProperty(value, "provider") && Predicate.hasProperty(value, "modelId")

const takesClient = "must be a ModelClient, such as AiSdk.make(model) gives"

const valueProblems = ({ aliases = {}, default: first, models = {} }: Models): ReadonlyArray<string> => [
  ...Object.entries({ default: first, ...under("models", models) }).flatMap(([key, client]) =>
    client === undefined || isClient(client) ? [] : [`${key} ${takesClient}, not ${ValueKind.of(client)}`]
  ),
  ...Object.entries(under("aliases", aliases)).flatMap(([key, alias]) =>
    typeof alias === "string" ? [] : [`${key} must be a string, not ${ValueKind.of(alias)}`]
  )
]

const under = (name: string, values: { readonly [key: string]: unknown }): { readonly [key: string]: unknown } =>
  Object.fromEntries(Object.entries(values).map(([key, value]) => [JsonWalk.pathText([name, key]), value]))

const decode = Options.make<Models>("key", {
  default: Options.any,
  models: Options.record(),
  aliases: Options.record()
})
