/**
 * Looks through values for what JSON cannot carry, and says where it is.
 *
 * @since 0.1.0
 */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"

/**
 * The most levels a value may nest. Schemas are applied by recursion, and what
 * nests deeper could overflow the stack.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxDepth = 256

/**
 * Finds a cycle or a nesting of more than {@link maxDepth} levels in any value,
 * and gives a line that names the path.
 *
 * @category getters
 * @since 0.1.0
 */
export const endless = (value: unknown): string | undefined => walk(value, () => undefined)

/**
 * Finds the first thing in a value that is not JSON, and gives a line that
 * names the path.
 *
 * @category getters
 * @since 0.1.0
 */
export const notJson = (value: unknown): string | undefined =>
  walk(value, (leaf) => isJsonLeaf(leaf) ? undefined : "Expected a JSON value")

/**
 * Copies a value that is JSON, reading each part of it once, or gives a line
 * that names the first part that is not.
 *
 * **Details**
 *
 * The copy holds plain objects and arrays alone: no getter, no `toJSON` and no
 * proxy of the value is asked again when it is written. An object with a method
 * `toJSON` is what that gives. Reading the value may throw what those throw.
 *
 * @category constructors
 * @since 0.1.0
 */
export const copyJson = (value: unknown): Result.Result<Schema.Json, string> => {
  const copy = plainCopy(value, 0)
  return copy === undefined ? copied(value, [], []) : Result.succeed(copy)
}

// Of plain objects and arrays, as most values are; nothing for all else, which needs its path or has code in it.
const plainCopy = (value: unknown, depth: number): Schema.Json | undefined => {
  if (typeof value !== "object" || value === null) return isJsonLeaf(value) ? value as Schema.Json : undefined
  if (depth >= maxDepth) return undefined
  if (Array.isArray(value)) {
    const copies: Array<Schema.Json> = []
    for (let index = 0; index < value.length; index++) {
      const copy = plainCopy(value[index], depth + 1)
      if (copy === undefined) return undefined
      copies.push(copy)
    }
    return "toJSON" in value ? undefined : copies
  }
  if (Object.getPrototypeOf(value) !== Object.prototype || "toJSON" in value) return undefined
  const copies: Record<string, Schema.Json> = {}
  for (const key of Object.keys(value)) {
    const copy = key === "__proto__"
      ? undefined
      : plainCopy((value as { readonly [key: string]: unknown })[key], depth + 1)
    if (copy === undefined) return undefined
    copies[key] = copy
  }
  return copies
}

const copied = (
  given: unknown,
  path: ReadonlyArray<string>,
  above: ReadonlyArray<object>
): Result.Result<Schema.Json, string> => {
  const value = isNode(given) && hasToJson(given) ? given.toJSON(path[path.length - 1] ?? "") : given
  if (!isNode(value)) {
    return isJsonLeaf(value)
      ? Result.succeed(value as Schema.Json)
      : Result.fail(`${pathText(path)}: Expected a JSON value`)
  }
  if (above.includes(value)) return Result.fail(`${pathText(path)}: Expected no cycle`)
  if (above.length >= maxDepth) return Result.fail(`the value: Expected at most ${maxDepth} levels of nesting`)
  const inside = [...above, value]
  const copies: Array<[string, Schema.Json]> = []
  for (const [key, item] of entriesOf(value)) {
    const copy = copied(item, [...path, key], inside)
    if (Result.isFailure(copy)) return copy
    copies.push([key, copy.success])
  }
  return Result.succeed(Array.isArray(value) ? copies.map(([, item]) => item) : Object.fromEntries(copies))
}

// Of an array each place, empty ones too.
const entriesOf = (value: object): ReadonlyArray<[string, unknown]> =>
  Array.isArray(value) ? Array.from(value, (item: unknown, index) => [String(index), item]) : Object.entries(value)

const hasToJson = (value: object): value is { readonly toJSON: (key: string) => unknown } =>
  "toJSON" in value && typeof value.toJSON === "function"

/**
 * Finds the first leaf of which something is wrong, and gives a line that names
 * the path. Keys for which `isKnown` is false are shown as `*`.
 *
 * @category getters
 * @since 0.1.0
 */
export const find = (
  value: unknown,
  leafProblem: (leaf: unknown) => string | undefined,
  isKnown: (key: string) => boolean = () => true
): string | undefined => walk(value, leafProblem, (key) => /^\d+$/.test(key) || isKnown(key) ? key : "*")

/**
 * A path as lines name it: `facts[0].claim`, or `the value` for the root.
 *
 * @category formatting
 * @since 0.1.0
 */
export const pathText = (path: ReadonlyArray<PropertyKey>): string => {
  const text = path.map((key) => /^\d+$/.test(String(key)) ? `[${String(key)}]` : `.${oneLine(String(key))}`).join("")
  return text === "" ? "the value" : text.replace(/^\./, "")
}

/**
 * A text with its line breaks and control characters escaped: names may hold
 * anything, and a line is one line.
 *
 * @category formatting
 * @since 0.1.0
 */
export const oneLine = (text: string): string =>
  text.replace(/[\p{Cc}\p{Zl}\p{Zp}]/gu, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`)

const walk = (
  value: unknown,
  leafProblem: (leaf: unknown) => string | undefined,
  shown: (key: string) => string = (key) => key
): string | undefined => {
  const found = search(value, [], leafProblem)
  if (found === undefined) return undefined
  return `${found.isDeep === true ? "the value" : pathText(found.path.reverse().map(shown))}: ${found.problem}`
}

// The path is put together on the way back, from the end: most values have no problem, and some have a million leaves.
interface Found {
  readonly path: Array<string>
  readonly problem: string
  readonly isDeep?: boolean
}

const search = (
  value: unknown,
  above: Array<object>,
  leafProblem: (leaf: unknown) => string | undefined
): Found | undefined => {
  if (!isNode(value)) {
    const problem = leafProblem(value)
    return problem === undefined ? undefined : { path: [], problem }
  }
  if (above.includes(value)) return { path: [], problem: "Expected no cycle" }
  if (above.length >= maxDepth) {
    return { path: [], problem: `Expected at most ${maxDepth} levels of nesting`, isDeep: true }
  }
  above.push(value)
  for (const key of Object.keys(value)) {
    const found = search((value as { readonly [key: string]: unknown })[key], above, leafProblem)
    if (found !== undefined) {
      found.path.push(key)
      return found
    }
  }
  above.pop()
  return undefined
}

// Dates, maps and other built-in objects are leaves: a schema takes them whole.
const isNode = (value: unknown): value is object => {
  if (Array.isArray(value)) return true
  if (!Predicate.isObject(value)) return false
  const isPlain = Object.getPrototypeOf(value) === Object.prototype && !(Symbol.toStringTag in value)
  return isPlain || !builtIn.has(Object.prototype.toString.call(value))
}

const builtIn: ReadonlySet<string> = new Set(
  ["Date", "Map", "Set", "RegExp", "Promise", "WeakMap", "WeakSet", "Uint8Array", "ArrayBuffer", "URL"].map((name) =>
    `[object ${name}]`
  )
)

const isJsonLeaf = (leaf: unknown): boolean =>
  leaf === null || typeof leaf === "string" || typeof leaf === "boolean" ||
  (typeof leaf === "number" && Number.isFinite(leaf))
