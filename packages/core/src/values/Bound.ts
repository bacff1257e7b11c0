/**
 * Bounds as callers set them.
 *
 * @since 0.1.0
 */
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
