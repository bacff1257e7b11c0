/**
 * The signal among the options of a promise.
 *
 * @since 0.1.0
 */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Options from "../values/Options.ts"
import * as ValueKind from "../values/ValueKind.ts"

/**
 * A signal that cancels what it is given to.
 *
 * @category models
 * @since 0.1.0
 */
export interface Cancellable {
  readonly signal?: AbortSignal | undefined
}

/**
 * Decodes options that are a signal alone.
 *
 * @category decoding
 * @since 0.1.0
 */
export const decode: Options.Decode<Cancellable> = Options.make<Cancellable>("option", {
  signal: Options.checked<AbortSignal>(
    "an AbortSignal",
    (value) =>
      Predicate.hasProperty(value, "aborted") && Predicate.hasProperty(value, "addEventListener") &&
      typeof value.addEventListener === "function"
  )
})

/**
 * Takes the signal out of the options of a verb. The rest is the verb's to
 * decode; what is not a plain object has no signal.
 *
 * @category decoding
 * @since 0.1.0
 */
export const split = (
  options: unknown
): Result.Result<{ readonly signal: AbortSignal | undefined; readonly rest: unknown }, Options.Issues> =>
  Result.getOrElse(
    Result.try(() => {
      if (!ValueKind.isPlainObject(options) || !Object.hasOwn(options, "signal")) {
        return Result.succeed({ signal: undefined, rest: options })
      }
      const { signal, ...rest } = options
      return Result.map(decode({ signal }), ({ signal }) => ({ signal, rest }))
    }),
    () => Result.succeed({ signal: undefined, rest: options })
  )
