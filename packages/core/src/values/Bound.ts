/**
 * Bounds: positive whole numbers.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * Schema for a positive whole number.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Positive = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }))

/**
 * What is wrong with a bound, if it is no positive whole number.
 *
 * @category getters
 * @since 0.1.0
 */
export const problem = (name: string, value: unknown): ReadonlyArray<string> =>
  Number.isSafeInteger(value) && (value as number) > 0
    ? []
    : [`${name} must be a positive whole number, not ${String(value)}`]
