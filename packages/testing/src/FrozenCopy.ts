/**
 * Copies of JSON-like values that nobody can change.
 *
 * @since 0.1.0
 */

/**
 * Copies plain data and freezes the copy deeply. The original stays as it is,
 * and later changes to it do not show.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <A>(value: A): A => copy(value) as A

const copy = (value: unknown): unknown => {
  if (value === null || typeof value !== "object") return value
  return Object.freeze(
    Array.isArray(value)
      ? value.map(copy)
      : Object.fromEntries(Object.entries(value).map(([key, item]) => [key, copy(item)]))
  )
}
