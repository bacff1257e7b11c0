/**
 * How long a provider asks to wait.
 *
 * @since 0.1.0
 */

/**
 * Reads how many milliseconds a provider asks to wait, from the headers of its
 * response.
 *
 * **Details**
 *
 * `retry-after-ms` is read first: milliseconds. Then `retry-after`: seconds, or
 * a date, from which `now` (milliseconds since 1970) is taken. A fraction is
 * rounded up, a date that has passed is 0. Anything else is `undefined`.
 *
 * @category getters
 * @since 0.1.0
 */
export const fromHeaders = (headers: unknown, now: number): number | undefined => {
  if (typeof headers !== "object" || headers === null) return undefined
  const values = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), String(value).trim()]))
  const millis = values.get("retry-after-ms") ?? ""
  if (decimal.test(millis)) return whole(Number(millis))
  const after = values.get("retry-after") ?? ""
  if (decimal.test(after)) return whole(Number(after) * 1_000)
  return date.test(after) ? whole(Date.parse(after) - now) : undefined
}

const decimal = /^\d+(\.\d+)?$/

// The name of a day first and a whole year: `Date.parse` alone makes a date of nearly anything, `-5` among it.
const date = /^[a-z]{3,9},? .*\b\d{4}\b/i

const whole = (millis: number): number | undefined => {
  const rounded = Math.max(0, Math.ceil(millis))
  return Number.isSafeInteger(rounded) ? rounded : undefined
}
