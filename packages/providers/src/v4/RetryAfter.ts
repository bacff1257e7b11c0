/**
 * How long a provider asks to wait.
 *
 * @since 0.1.0
 */
import * as RateLimitReset from "./RateLimitReset.ts"

/**
 * Reads how many milliseconds a provider asks to wait, from the headers of its
 * response.
 *
 * **Details**
 *
 * `retry-after-ms` is read first: milliseconds. Then `retry-after`: seconds, or
 * a date, from which `now` (milliseconds since 1970) is taken. Where neither
 * can be read and `isLimit` is true, the headers that say when a limit is reset
 * are read: see `RateLimitReset`. A fraction is rounded up, a date that has
 * passed is 0, and a wait that is too large to count is
 * `Number.MAX_SAFE_INTEGER`. Anything else is `undefined`.
 *
 * @category getters
 * @since 0.1.0
 */
export const fromHeaders = (headers: unknown, now: number, isLimit = false): number | undefined => {
  if (typeof headers !== "object" || headers === null) return undefined
  const values = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), text(value)]))
  return fromMillis(values.get("retry-after-ms") ?? "") ?? fromText(values.get("retry-after") ?? "", now) ??
    (isLimit ? RateLimitReset.fromHeaders(values, now) : undefined)
}

/**
 * Reads the wait that the body of a failed response asks for: seconds with the
 * unit, such as `34.07s` in Google's `retryDelay`.
 *
 * @category getters
 * @since 0.1.0
 */
export const fromBody = (delay: string | undefined): number | undefined => {
  const seconds = /^(\d{1,20}(?:\.\d{1,9})?)s$/.exec(delay ?? "")?.[1]
  return seconds === undefined ? undefined : whole(Number(seconds) * 1_000)
}

/**
 * A wait as a whole number of milliseconds, from 0 to
 * `Number.MAX_SAFE_INTEGER`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const whole = (millis: number): number => Math.min(Number.MAX_SAFE_INTEGER, Math.max(0, Math.ceil(millis)))

const fromMillis = (value: string): number | undefined => decimal.test(value) ? whole(Number(value)) : undefined

const fromText = (value: string, now: number): number | undefined => {
  if (decimal.test(value)) return whole(Number(value) * 1_000)
  const until = date.test(value) ? Date.parse(value) : Number.NaN
  return Number.isNaN(until) ? undefined : whole(until - now)
}

const decimal = /^\d+(\.\d+)?$/

// The name of a day first and a whole year: `Date.parse` alone makes a date of nearly anything, `-5` among it.
const date = /^[a-z]{3,9},? .*\b\d{4}\b/i

// A header that is there twice is a list in some clients.
const text = (value: unknown): string => typeof value === "string" || typeof value === "number" ? `${value}`.trim() : ""
