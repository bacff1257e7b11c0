/**
 * A model client that rejects what a strict provider would reject.
 *
 * @since 0.1.0
 */
import { type ModelClient, ModelError, ModelRegistry, type ModelRequest } from "@mandate/core"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Stream from "effect/Stream"
import * as StrictRules from "./StrictRules.ts"

/**
 * A request that was rejected: every rule it broke, and which call it was of.
 *
 * @category models
 * @since 0.1.0
 */
export interface Violation {
  readonly broken: ReadonlyArray<StrictRules.Broken>
  readonly request: ModelRequest.ModelRequest
  readonly call: ModelRequest.ModelCall
}

/**
 * A client that remembers the requests it rejected.
 *
 * @category models
 * @since 0.1.0
 */
export interface StrictClient extends ModelClient.ModelClient {
  /** Rejected requests in order of arrival. */
  readonly violations: Effect.Effect<ReadonlyArray<Violation>>
}

/**
 * Service with the requests that the strict models of a registry rejected.
 *
 * @category services
 * @since 0.1.0
 */
export class StrictProvider extends Context.Service<StrictProvider, {
  /** Rejected requests of all models, in order of arrival. */
  readonly violations: Effect.Effect<ReadonlyArray<Violation>>
}>()("~mandate/testing/StrictProvider") {}

/**
 * Wraps a client so that a request which breaks a rule of `StrictRules` fails
 * with a `ModelError` of reason `invalid-request`, whose detail names the
 * rules, and never reaches the client.
 *
 * @category constructors
 * @since 0.1.0
 */
export const wrap = (client: ModelClient.ModelClient): Effect.Effect<StrictClient> =>
  Effect.sync(() => {
    const violations: Array<Violation> = []
    return { ...strict(client, violations), violations: Effect.sync(() => [...violations]) }
  })

/**
 * Layer with the models of another registry layer, each wrapped as by
 * {@link wrap}, and all else that the other layer gives.
 *
 * **Example** (A strict scripted model)
 *
 * ```ts
 * import { ScriptedModel, Step, StrictProvider } from "@mandate/testing"
 *
 * const models = StrictProvider.layer(ScriptedModel.layer({ clerk: [Step.text("done")] }))
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = <A, E, R>(
  registry: Layer.Layer<A | ModelRegistry.ModelRegistry, E, R>
): Layer.Layer<A | ModelRegistry.ModelRegistry | StrictProvider, E, R> => Layer.provideMerge(wrapping(), registry)

// Made anew for each registry: a layer that is shared is built once, with the first one.
const wrapping = () =>
  Layer.effectContext(
    Effect.map(ModelRegistry.ModelRegistry, (registry) => {
      const violations: Array<Violation> = []
      return Context.make(StrictProvider, { violations: Effect.sync(() => [...violations]) }).pipe(
        Context.add(ModelRegistry.ModelRegistry, {
          get: (modelId) => Effect.map(registry.get(modelId), (client) => strict(client, violations))
        })
      )
    })
  )

const strict = (client: ModelClient.ModelClient, violations: Array<Violation>): ModelClient.ModelClient => {
  const reject = (request: ModelRequest.ModelRequest, call: ModelRequest.ModelCall) =>
    Effect.suspend(() => {
      const broken = StrictRules.check(request)
      if (broken.length === 0) return Effect.void
      violations.push({ broken, request, call })
      const detail = broken.map(({ detail, rule }) => `${rule} (${detail})`).join("; ")
      const { modelId, provider } = client
      return Effect.fail(new ModelError.ModelError({ reason: "invalid-request", provider, modelId, detail }))
    })

  const { stream } = client
  return {
    ...client,
    generate: (request, call) => Effect.andThen(reject(request, call), client.generate(request, call)),
    ...stream === undefined ? {} : {
      stream: (request, call) => Stream.unwrap(Effect.as(reject(request, call), stream(request, call)))
    }
  }
}
