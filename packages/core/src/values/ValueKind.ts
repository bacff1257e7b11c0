/**
 * What kind of value something is, in words for an error message.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"

/**
 * Names the kind of a value: `a string`, `an array`, `a Map`, `an instance of
 * Client`. Numbers, booleans, `null` and `undefined` are named by their value;
 * nothing else of the value is shown, since it may be a secret. Never throws,
 * whatever the value is.
 *
 * @category formatting
 * @since 0.1.0
 */
export const of = (value: unknown): string => {
  switch (typeof value) {
    case "string":
      return value === "" ? "an empty string" : "a string"
    case "number":
    case "boolean":
    case "undefined":
      return String(value)
    case "bigint":
      return "a bigint"
    case "symbol":
      return "a symbol"
    case "function":
      return "a function"
    case "object":
      return value === null ? "null" : ofObject(value)
  }
}

/**
 * Whether a value is an object as a literal or `JSON.parse` makes it: its
 * prototype is `null` or the `Object.prototype` of any realm. A `Proxy` that
 * throws is not one.
 *
 * @category predicates
 * @since 0.1.0
 */
export const isPlainObject = (value: unknown): value is { readonly [key: PropertyKey]: unknown } => {
  if (typeof value !== "object" || value === null) return false
  return Result.getOrElse(
    Result.try(() => {
      const prototype: unknown = Object.getPrototypeOf(value)
      return prototype === null || prototype === Object.prototype || isForeignRoot(prototype as object)
    }),
    () => false
  )
}

// `Object.prototype` of another realm, such as that of a test runner.
const isForeignRoot = (prototype: object): boolean =>
  Object.getPrototypeOf(prototype) === null && Object.hasOwn(prototype, "isPrototypeOf") &&
  Object.hasOwn(prototype, "__defineGetter__")

// A proxy, or a getter for the tag or the constructor, can throw.
const ofObject = (value: object): string =>
  Result.getOrElse(Result.try(() => describe(value)), () => "an object that cannot be read")

const describe = (value: object): string => {
  if (Array.isArray(value)) return "an array"
  const tag = Object.prototype.toString.call(value).slice(8, -1)
  if (tag !== "Object" && isName(tag)) return withArticle(tag)
  if (isPlainObject(value)) return "an object"
  const name: unknown = value.constructor?.name
  return isName(name) ? `an instance of ${name}` : "an instance of a class"
}

const isName = (name: unknown): name is string => typeof name === "string" && /^[A-Za-z_$][\w$]{0,63}$/.test(name)

const withArticle = (name: string): string => `${/^[AEIOU]/.test(name) ? "an" : "a"} ${name}`
