/**
 * Freezes plain data.
 *
 * @since 0.1.0
 */

/**
 * Freezes a value and all that it holds, and gives it back.
 *
 * @category combinators
 * @since 0.1.0
 */
export const deepFreeze = <A>(value: A): A => {
  if (typeof value !== "object" || value === null || Object.isFrozen(value)) return value
  Object.values(value).forEach(deepFreeze)
  return Object.freeze(value)
}
