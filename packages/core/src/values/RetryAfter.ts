/**
 * How long a provider asks to wait before the same call, and the longest such
 * wait that an agent accepts.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"

/**
 * The longest wait that an agent accepts by default: 60 000 milliseconds.
 *
 * @category constants
 * @since 0.1.0
 */
export const defaultMax = 60_000

/**
 * The longest wait as a definition sets it, in milliseconds: `Infinity` for no
 * bound, 0 to fail whenever the provider asks to wait. `undefined` for a value
 * that is not a duration of zero or more.
 *
 * @category constructors
 * @since 0.1.0
 */
export const max = (input: unknown): number | undefined => {
  if (input === undefined) return defaultMax
  // `Duration` makes 0 of NaN.
  const millis = typeof input === "number"
    ? Option.some(input)
    : Option.map(Duration.fromInput(input as Duration.Input), Duration.toMillis)
  return Option.getOrUndefined(Option.filter(millis, (found) => found >= 0))
}

/**
 * What is wrong with the longest wait that a definition sets, if anything.
 *
 * @category getters
 * @since 0.1.0
 */
export const problems = (input: unknown): ReadonlyArray<string> =>
  max(input) === undefined
    ? ["maxRetryAfter must be a duration of zero or more, such as \"30 seconds\"; a number is in milliseconds"]
    : []

/**
 * A wait in milliseconds as a person reads it, rounded up: in the largest unit
 * of which there are two or more, such as 24 hours.
 *
 * @category formatting
 * @since 0.1.0
 */
export const describe = (millis: number): string => {
  if (millis > years) return "more than 10 years"
  const [size, name] = units.find(([size]) => millis >= size * 2) ?? [1, "millisecond"]
  const count = Math.ceil(millis / size)
  return `${count} ${name}${count === 1 ? "" : "s"}`
}

const units: ReadonlyArray<readonly [size: number, name: string]> = [
  [86_400_000, "day"],
  [3_600_000, "hour"],
  [60_000, "minute"],
  [1_000, "second"]
]

const years = 10 * 366 * 86_400_000
