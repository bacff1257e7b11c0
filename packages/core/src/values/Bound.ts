/**
 * Bounds as callers set them.
 *
 * @since 0.1.0
 */
import * as ValueKind from "./ValueKind.ts"

/**
 * What is wrong with a bound that is not a positive whole number.
 *
 * @category getters
 * @since 0.1.0
 */
export const problem = (name: string, value: unknown): ReadonlyArray<string> =>
  Number.isSafeInteger(value) && (value as number) > 0
    ? []
    : [`${name} must be a positive whole number, not ${ValueKind.of(value)}`]
