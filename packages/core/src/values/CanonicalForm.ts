/**
 * Any value as the JSON that it stands for, if there is exactly one.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as ErrorClass from "./ErrorClass.ts"
import type { Json } from "./Json.ts"
import * as JsonWalk from "./JsonWalk.ts"
import * as Utf8 from "./Utf8.ts"

/**
 * A value has no canonical JSON form. `path` says where, and `expected` what
 * is expected there; neither quotes a value.
 *
 * @category errors
 * @since 0.1.0
 */
export class NoCanonicalForm
  extends ErrorClass.TaggedError<NoCanonicalForm>("~mandate/NoCanonicalForm")("NoCanonicalForm", {
    path: Schema.String,
    expected: Schema.String
  })
{
  override get message(): string {
    return `There is no canonical JSON form: ${this.path}: Expected ${this.expected}`
  }
}

/**
 * The most values that one value may hold, counted each time they are reached.
 * A small value that refers to itself many times over would have a form
 * without end.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxValues = 1_000_000

/**
 * Copies a value as plain JSON, or says why it is none.
 *
 * **Details**
 *
 * JSON values are plain objects, arrays, strings, finite numbers, booleans and
 * `null`. A key whose value is `undefined` is left out, and `__proto__` is a
 * name like any other. Refused are cycles, more than 256 levels, `undefined` in
 * arrays, functions, bigints, symbols, `NaN`, instances of classes (dates and
 * maps too) and unpaired surrogates, which RFC 8785 has no form for.
 *
 * The copy shares nothing with the value: what changes later changes only one
 * of them.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (value: unknown): Result.Result<Json, NoCanonicalForm> => {
  const budget = { left: maxValues }
  // Getters and proxies run code of their own.
  const copied = Result.try({ try: () => copy(value, [], budget), catch: () => found("a value that can be read") })
  return Result.mapError(
    Result.flatMap(copied, (result) => result),
    ({ expected, path }) => new NoCanonicalForm({ path: Utf8.cut(JsonWalk.pathText(path), maxPathBytes), expected })
  )
}

// Names are the caller's, of any length.
const maxPathBytes = 200

interface Found {
  readonly path: ReadonlyArray<string>
  readonly expected: string
}

const found = (expected: string, path: ReadonlyArray<string> = []): Found => ({ path, expected })

const copy = (
  value: unknown,
  above: ReadonlyArray<object>,
  budget: { left: number }
): Result.Result<Json, Found> => {
  if (budget.left-- <= 0) return Result.fail(found(`at most ${maxValues} values`))
  if (typeof value === "string") {
    return value.isWellFormed() ? Result.succeed(value) : Result.fail(found("no unpaired surrogate"))
  }
  if (value === null || typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value))) {
    return Result.succeed(value)
  }
  if (typeof value !== "object" || !isPlain(value)) return Result.fail(found("a JSON value"))
  if (above.includes(value)) return Result.fail(found("no cycle"))
  if (above.length >= JsonWalk.maxDepth) return Result.fail(found(`at most ${JsonWalk.maxDepth} levels of nesting`))
  const inside = [...above, value]
  return Array.isArray(value) ? copyItems(value, inside, budget) : copyMembers(value, inside, budget)
}

const copyItems = (
  items: ReadonlyArray<unknown>,
  inside: ReadonlyArray<object>,
  budget: { left: number }
): Result.Result<Json, Found> => {
  const copies: Array<Json> = []
  for (let index = 0; index < items.length; index++) {
    const item = copy(items[index], inside, budget)
    if (Result.isFailure(item)) return below(String(index), item.failure)
    copies.push(item.success)
  }
  return Result.succeed(copies)
}

const copyMembers = (
  members: object,
  inside: ReadonlyArray<object>,
  budget: { left: number }
): Result.Result<Json, Found> => {
  const copies: Array<readonly [string, Json]> = []
  for (const [key, member] of Object.entries(members)) {
    if (member === undefined) continue
    if (!key.isWellFormed()) return Result.fail(found("names without unpaired surrogates"))
    const item = copy(member, inside, budget)
    if (Result.isFailure(item)) return below(key, item.failure)
    copies.push([key, item.success])
  }
  return Result.succeed(Object.fromEntries(copies))
}

const below = (key: string, { expected, path }: Found) => Result.fail(found(expected, [key, ...path]))

// The prototype of plain objects is the last of its chain, in every realm.
const isPlain = (value: object): boolean => {
  if (Array.isArray(value)) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
