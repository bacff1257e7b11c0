/**
 * Options and filters of callers, decoded as untrusted input: whatever the
 * types say, code without types, a cast or a parsed file may give anything.
 *
 * **Details**
 *
 * Each options object has one decoder, made once by {@link make} from a schema
 * for each key, and every function that takes the options calls it first.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import { identity } from "effect/Function"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as DidYouMean from "./DidYouMean.ts"
import { InvalidOptions } from "./InvalidOptions.ts"
import * as JsonWalk from "./JsonWalk.ts"
import * as SchemaIssues from "./SchemaIssues.ts"
import * as Utf8 from "./Utf8.ts"
import * as ValueKind from "./ValueKind.ts"

export { InvalidOptions } from "./InvalidOptions.ts"
export * from "./OptionSchema.ts"

/**
 * What is wrong with options, a sentence each.
 *
 * @category models
 * @since 0.1.0
 */
export type Issues = readonly [string, ...ReadonlyArray<string>]

/**
 * Decodes options, or says all that is wrong with them.
 *
 * @category models
 * @since 0.1.0
 */
export type Decode<A> = (value: unknown) => Result.Result<A, Issues>

/**
 * A schema for each key of an options object. A key that is missing here is a
 * type error.
 *
 * @category models
 * @since 0.1.0
 */
export type Fields<A> = { readonly [K in keyof A]-?: Schema.Top & { readonly DecodingServices: never } }

/**
 * Makes the decoder of an options object.
 *
 * **Details**
 *
 * `noun` is the word for one key, such as `option` or `limit`. `undefined`
 * options are none, and a key that is `undefined` is absent; keys of
 * `required` may not be. What is decoded is a copy with the keys that are
 * present, each read once.
 *
 * Refused are: anything but a plain object (arrays, maps, dates, promises,
 * instances of classes, `null`, primitives), keys that are not in `fields`
 * (symbols and `__proto__` too), properties that throw when they are read, and
 * values that do not fit their schema. An issue names the key, what is allowed,
 * and the kind of value that was given, never a string or an object itself.
 *
 * **Example** (Options of a function)
 *
 * ```ts
 * import { Options } from "@mandate/core"
 * import { Result } from "effect"
 *
 * interface SearchOptions {
 *   readonly limit?: number
 *   readonly caseSensitive?: boolean
 * }
 *
 * const decode = Options.make<SearchOptions>("option", { limit: Options.count, caseSensitive: Options.flag })
 *
 * console.assert(Result.isSuccess(decode({ limit: 10 })))
 * console.assert(Result.isFailure(decode({ limt: 10 })))
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <A extends object>(
  noun: string,
  fields: Fields<A>,
  required: ReadonlyArray<keyof A & string> = []
): Decode<A> => {
  const names = Object.keys(fields)
  const decoders = new Map(
    Object.entries<Schema.Top>(fields).map(([name, schema]) => [
      name,
      Schema.decodeUnknownResult(Schema.toType(schema) as Schema.Codec<unknown>, { errors: "all" })
    ])
  )
  const allowed = `the ${noun}s are ${names.join(", ")}`
  const none = required.length === 0 ? Object.freeze({}) as A : undefined

  const decodeKey = (
    from: { readonly [key: PropertyKey]: unknown },
    key: PropertyKey
  ): Result.Result<unknown, ReadonlyArray<string>> => {
    const decoder = typeof key === "string" ? decoders.get(key) : undefined
    if (decoder === undefined) return Result.fail([unknownKey(key, noun, names, allowed)])
    const value = from[key]
    if (value === undefined) return Result.succeed(undefined)
    return Result.mapError(
      decoder(value),
      (error) =>
        SchemaIssues.list(error).slice(0, maxIssues).map(({ message, path }) =>
          Utf8.cut(
            `${JsonWalk.pathText([key, ...path])} ${requirement(message)}, not ${ValueKind.of(at(value, path))}`,
            maxBytes
          )
        )
    )
  }

  const decodeObject = (value: { readonly [key: PropertyKey]: unknown }): Result.Result<A, Issues> => {
    const decoded: Record<string, unknown> = {}
    const issues: Array<string> = []
    for (const key of Reflect.ownKeys(value)) {
      if (issues.length >= maxIssues) break
      const result = flatten(Result.try({
        try: () => decodeKey(value, key),
        catch: () => [`${nameOf(key)} cannot be read`]
      }))
      if (Result.isFailure(result)) issues.push(...result.failure)
      // Not by assignment: `__proto__` is a key like any other.
      else if (result.success !== undefined) {
        Object.defineProperty(decoded, key, {
          value: result.success,
          enumerable: true,
          writable: true,
          configurable: true
        })
      }
    }
    for (const name of required) {
      if (!Object.hasOwn(decoded, name) && !issues.some((issue) => issue.startsWith(name))) {
        issues.push(`${name} is required; ${allowed}`)
      }
    }
    const [first, ...rest] = issues
    return first === undefined ? Result.succeed(decoded as A) : Result.fail([first, ...rest])
  }

  return (value) => {
    if (value === undefined && none !== undefined) return Result.succeed(none)
    return flatten(Result.try({
      try: () =>
        ValueKind.isPlainObject(value)
          ? decodeObject(value)
          : Result.fail<Issues>([`it must be a plain object, not ${ValueKind.of(value)}; ${allowed}`]),
      catch: (): Issues => [`it must be a plain object, and cannot be read; ${allowed}`]
    }))
  }
}

/**
 * Puts options over those that were given before, key by key. A key that is
 * `undefined` changes nothing. What is not a plain object stays as it is, so
 * that it is refused where the options are decoded.
 *
 * @category combinators
 * @since 0.1.0
 */
export const merge = <A extends object>(before: A, given: A | undefined): A => {
  if (given === undefined) return before
  return Result.getOrElse(
    Result.try(() => {
      if (!ValueKind.isPlainObject(given)) return given
      if (!ValueKind.isPlainObject(before)) return before
      const present = Reflect.ownKeys(given).flatMap((key) => {
        const value = (given as { readonly [key: PropertyKey]: unknown })[key]
        return value === undefined ? [] : [[key, { value, enumerable: true }] as const]
      })
      return Object.freeze(Object.defineProperties({ ...before }, Object.fromEntries(present)))
    }),
    () => given
  )
}

/**
 * Takes decoded options, or dies with {@link InvalidOptions}: for effects and
 * layers that have no typed failure for their options.
 *
 * @category combinators
 * @since 0.1.0
 */
export const orDie = <A>(of: string, decoded: Result.Result<A, Issues>): Effect.Effect<A> =>
  Result.isSuccess(decoded)
    ? Effect.succeed(decoded.success)
    : Effect.die(new InvalidOptions({ of, issues: decoded.failure }))

/**
 * Takes decoded options, or throws {@link InvalidOptions}: for plain functions
 * that have no typed failure for their options.
 *
 * @category combinators
 * @since 0.1.0
 */
export const orThrow = <A>(of: string, decoded: Result.Result<A, Issues>): A =>
  Result.getOrThrowWith(decoded, (issues) => new InvalidOptions({ of, issues }))

const flatten = Result.flatMap(identity) as <A, E>(result: Result.Result<Result.Result<A, E>, E>) => Result.Result<A, E>

const maxIssues = 16
const maxBytes = 240

const nameOf = (key: PropertyKey): string => Utf8.cut(typeof key === "symbol" ? "a symbol" : String(key), 64)

const unknownKey = (key: PropertyKey, noun: string, names: ReadonlyArray<string>, allowed: string): string => {
  if (typeof key !== "string") return `there is no ${noun} that is a symbol; ${allowed}`
  const shown = `there is no ${noun} ${JSON.stringify(Utf8.cut(key, 64))}`
  const meant = DidYouMean.find(key, names)
  return `${shown}; ${allowed}${meant === undefined ? "" : ` (did you mean "${meant}"?)`}`
}

// What schemas expect, as the end of a sentence about the key.
const requirement = (message: string): string =>
  message.startsWith("Expected ") ? `must be ${message.slice("Expected ".length)}` : `is not valid (${message})`

const at = (value: unknown, path: ReadonlyArray<PropertyKey>): unknown =>
  path.reduce<any>((inner, key) => inner?.[key], value)
