/**
 * Numbers as they are stored: counts, durations and times that every reader
 * takes, whatever they were computed from.
 *
 * @since 0.1.0
 */

/**
 * Adds two counts. The sum stays at the largest whole number that is exact.
 *
 * @category combinators
 * @since 0.1.0
 */
export const add = (self: number, that: number): number => Math.min(self + that, Number.MAX_SAFE_INTEGER)

/**
 * A count as somebody else reported it: a fraction is rounded, and what is
 * larger than any exact whole number becomes the largest one. Nothing for what
 * is not finite, is negative, or is no number at all.
 *
 * @category getters
 * @since 0.1.0
 */
export const reported = (value: unknown): number | undefined =>
  typeof value === "number" && Number.isFinite(value) && value >= 0
    ? Math.min(Math.round(value), Number.MAX_SAFE_INTEGER)
    : undefined

/**
 * A duration in milliseconds, from 0 up. JSON has no infinity, and a duration
 * that is not a number is 0.
 *
 * @category getters
 * @since 0.1.0
 */
export const duration = (millis: number): number =>
  Number.isNaN(millis) ? 0 : Math.max(0, Math.min(millis, Number.MAX_SAFE_INTEGER))

/**
 * A time in milliseconds of the Unix epoch, within what a `Date` can hold. A
 * clock that gives no number stands at 0.
 *
 * @category getters
 * @since 0.1.0
 */
export const time = (millis: number): number =>
  Number.isNaN(millis) ? 0 : Math.max(-lastDate, Math.min(millis, lastDate))

const lastDate = 8.64e15
