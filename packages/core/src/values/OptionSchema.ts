/**
 * Schemas of single options. What they expect reads on after "must be".
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Schema from "effect/Schema"
import { Count } from "./Checked.ts"
import * as ValueKind from "./ValueKind.ts"

export { Count as count } from "./Checked.ts"

/**
 * Schema for an option that a predicate checks. `expected` says what it takes,
 * in words that follow "must be".
 *
 * @category schemas
 * @since 0.1.0
 */
export const checked = <A = unknown>(
  expected: string,
  is: (value: unknown) => boolean
): Schema.declare<A> => Schema.declare(is as (value: unknown) => value is A, { expected })

/**
 * Schema for an option that its own decoder checks, or anything at all.
 *
 * @category schemas
 * @since 0.1.0
 */
export const any: typeof Schema.Unknown = Schema.Unknown

/**
 * Schema for an option that is a positive whole number with a bound: `least`,
 * `most`, or both.
 *
 * @category schemas
 * @since 0.1.0
 */
export const countWithin = (bounds: { readonly least?: number; readonly most?: number }): typeof Count => {
  const { least = 1, most = Number.MAX_SAFE_INTEGER } = bounds
  return Count.check(
    // What is not a count at all is said once.
    Schema.makeFilter((count) => !isCount(count) || count >= least, { expected: `at least ${least}` }),
    Schema.makeFilter((count) => !isCount(count) || count <= most, { expected: `at most ${most}` })
  )
}

const isCount = (value: number): boolean => Number.isSafeInteger(value) && value > 0

/**
 * Schema for an option that is a string.
 *
 * @category schemas
 * @since 0.1.0
 */
export const text: Schema.declare<string> = checked("a string", (value) => typeof value === "string")

/**
 * Schema for an option that is `true` or `false`.
 *
 * @category schemas
 * @since 0.1.0
 */
export const flag: Schema.declare<boolean> = checked("true or false", (value) => typeof value === "boolean")

/**
 * Schema for an option that is a function.
 *
 * @category schemas
 * @since 0.1.0
 */
export const func: Schema.declare<(...args: ReadonlyArray<never>) => unknown> = checked(
  "a function",
  (value) => typeof value === "function"
)

/**
 * Schema for an option that is a duration: a positive one, and a finite one.
 *
 * @category schemas
 * @since 0.1.0
 */
export const duration: Schema.declare<Duration.Input> = checked("a positive, finite duration", (value) => {
  const millis = millisOf(value)
  return millis > 0 && millis < Number.POSITIVE_INFINITY
})

/**
 * Schema for an option that is one of some strings.
 *
 * @category schemas
 * @since 0.1.0
 */
export const oneOf = <const A extends string>(literals: ReadonlyArray<A>): Schema.declare<A> =>
  checked(
    `one of ${literals.map((literal) => JSON.stringify(literal)).join(", ")}`,
    (value) => (literals as ReadonlyArray<unknown>).includes(value)
  )

/**
 * Schema for an option that is a list.
 *
 * @category schemas
 * @since 0.1.0
 */
export const list = <S extends Schema.Top>(item: S): Schema.$Array<S> =>
  Schema.Array(item).annotate({ message: "Expected a list" })

/**
 * Schema for an option that is a plain object with any keys.
 *
 * @category schemas
 * @since 0.1.0
 */
export const record = <A>(): Schema.declare<{ readonly [key: string]: A }> =>
  checked("a plain object", ValueKind.isPlainObject)

/**
 * Schema for an option that is a plain object whose every value a predicate
 * takes. `values` says what they are, in words that follow "a plain object of".
 *
 * @category schemas
 * @since 0.1.0
 */
export const recordOf = <A>(
  values: string,
  is: (value: unknown) => boolean
): Schema.declare<{ readonly [key: string]: A }> =>
  checked(`a plain object of ${values}`, (value) => ValueKind.isPlainObject(value) && Object.values(value).every(is))

/**
 * Schema for an option that is a list of strings.
 *
 * @category schemas
 * @since 0.1.0
 */
export const texts: Schema.$Array<typeof text> = list(text)

/**
 * The milliseconds of what may be a duration; `NaN` for anything else.
 *
 * @category getters
 * @since 0.1.0
 */
export const millisOf = (value: unknown): number => {
  // A duration made of `NaN` is zero.
  if (typeof value === "number") return value
  return Option.match(Option.flatten(Option.liftThrowable(Duration.fromInput)(value as Duration.Input)), {
    onNone: () => Number.NaN,
    onSome: Duration.toMillis
  })
}
