/**
 * When the next model of a list is asked, as untrusted input.
 *
 * @since 0.1.0
 */
import { type ModelClient, ModelError, Options as CallerOptions } from "@mandate/core"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"

/**
 * When the next model is asked. `ModelFallback.Options` says what each one is.
 *
 * @category models
 * @since 0.1.0
 */
export interface FallbackOptions {
  readonly reasons?: ReadonlyArray<ModelError.ModelErrorReason>
  readonly retries?: number
}

/**
 * Decodes the options.
 *
 * @category decoding
 * @since 0.1.0
 */
export const decode: CallerOptions.Decode<FallbackOptions> = CallerOptions.make<FallbackOptions>("option", {
  reasons: CallerOptions.list(CallerOptions.oneOf(ModelError.ModelErrorReason.literals)),
  retries: CallerOptions.checked<number>(
    "a whole number that is not negative",
    (value) => Number.isSafeInteger(value) && (value as number) >= 0
  )
})

/**
 * Decodes the models of a list: at least one client.
 *
 * @category decoding
 * @since 0.1.0
 */
export const decodeModels = (
  models: unknown
): Result.Result<readonly [ModelClient.ModelClient, ...ReadonlyArray<ModelClient.ModelClient>], CallerOptions.Issues> =>
  Result.map(decodeArgument({ models }), ({ models }) => models as [ModelClient.ModelClient])

/**
 * Whether a value is a model client.
 *
 * @category predicates
 * @since 0.1.0
 */
export const isClient = (value: unknown): value is ModelClient.ModelClient =>
  Predicate.hasProperty(value, "generate") && typeof value.generate === "function" &&
  Predicate.hasProperty(value, "provider") && Predicate.hasProperty(value, "modelId")

const decodeArgument = CallerOptions.make<{ readonly models: ReadonlyArray<ModelClient.ModelClient> }>("argument", {
  models: CallerOptions.checked<ReadonlyArray<ModelClient.ModelClient>>(
    "a list of at least one ModelClient, such as AiSdk.make(model) gives",
    (models) => Array.isArray(models) && models.length > 0 && [...models].every(isClient)
  )
}, ["models"])
