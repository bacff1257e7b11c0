/**
 * The models of an application, by id.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import * as ErrorClass from "../values/ErrorClass.ts"
import type { ModelClient } from "./ModelClient.ts"

/**
 * No model has the id that an agent asks for, or there is no default model.
 *
 * @category errors
 * @since 0.1.0
 */
export class UnknownModel extends ErrorClass.TaggedError<UnknownModel>("~mandate/UnknownModel")("UnknownModel", {
  modelId: Schema.UndefinedOr(Schema.String),
  known: Schema.Array(Schema.String)
}) {
  override get message(): string {
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
 * Layer with a default model, models by id, or both.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (models: {
  readonly default?: ModelClient
  readonly models?: { readonly [modelId: string]: ModelClient }
}): Layer.Layer<ModelRegistry> => {
  const byId = new Map(Object.entries(models.models ?? {}))
  const known = [...byId.keys()].sort()
  return Layer.succeed(ModelRegistry, {
    get: (modelId) => {
      const client = modelId === undefined ? models.default : byId.get(modelId)
      return client === undefined ? Effect.fail(new UnknownModel({ modelId, known })) : Effect.succeed(client)
    }
  })
}
