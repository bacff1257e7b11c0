/**
 * JSON text as it is stored, sent and compared.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import * as JsonWalk from "./JsonWalk.ts"

/**
 * Any JSON value.
 *
 * @category models
 * @since 0.1.0
 */
export type Json = Schema.Json

/**
 * Serialises a JSON value canonically: RFC 8785 (JCS), that is object keys in
 * the order of their UTF-16 code units, no blanks, numbers and strings as
 * ECMAScript writes them.
 *
 * **Details**
 *
 * Two values that are equal as JSON give the same text, so the text can be
 * compared, hashed and counted. Unpaired surrogates, which have no UTF-8 form,
 * become U+FFFD.
 *
 * **Gotchas**
 *
 * The value must be JSON already: a key whose value is `undefined` is left
 * out, and functions, symbols and cycles are the caller's to refuse.
 *
 * @see https://www.rfc-editor.org/rfc/rfc8785
 * @category formatting
 * @since 0.1.0
 */
export const canonical = (value: Json): string => {
  const text = isSorted(value) ? JSON.stringify(value) : write(value)
  return isWhole(text) ? text : write(stringify(value).value)
}

/**
 * Parses JSON text of at most `maxBytes` UTF-8 bytes that nests no deeper than
 * schemas can follow.
 *
 * **Details**
 *
 * The size is looked at before anything is parsed. The failure says what was
 * wrong without quoting the text. Keys named `__proto__` are ordinary keys.
 *
 * @category constructors
 * @since 0.1.0
 */
export const parse = (text: string, maxBytes: number): Result.Result<Json, string> => {
  if (text.length > maxBytes || Buffer.byteLength(text) > maxBytes) {
    return Result.fail(`the text is larger than ${maxBytes} bytes`)
  }
  return Result.flatMap(
    Result.mapError(Result.try(() => JSON.parse(text) as Json), () => "the text is not JSON"),
    (value) => {
      const problem = JsonWalk.endless(value)
      return problem === undefined ? Result.succeed(value) : Result.fail(problem)
    }
  )
}

/**
 * Serialises a JSON value in the order of its keys, and gives the value that
 * the text stands for.
 *
 * **Details**
 *
 * Every unpaired surrogate in a string or key becomes U+FFFD. A value without
 * any is given back as it is.
 *
 * @category formatting
 * @since 0.1.0
 */
export const stringify = <A>(value: A): { readonly text: string; readonly value: A } => {
  const text = JSON.stringify(value)
  if (isWhole(text)) return { text, value }
  const repaired = JSON.parse(text, reviveWellFormed) as A
  return { text: JSON.stringify(repaired), value: repaired }
}

// `JSON.stringify` writes an unpaired surrogate as an escape and a pair as it is.
const isWhole = (text: string): boolean => !text.includes("\\ud") || !hasEscapedSurrogate.test(text)
const hasEscapedSurrogate = /\\ud[89a-f][0-9a-f]{2}/

const reviveWellFormed = (_key: string, value: Json): Json => {
  if (typeof value === "string") return value.toWellFormed()
  if (value === null || typeof value !== "object" || Array.isArray(value)) return value
  // Keys that become one name are taken in one order, whatever order they came in.
  const entries = Object.entries(value).sort(byKey)
  return entries.every(([key]) => key.isWellFormed())
    ? value
    : Object.fromEntries(entries.map(([key, item]) => [key.toWellFormed(), item]))
}

// Most values are sorted already, and the engine's own writer is far faster than ours.
const isSorted = (value: Json): boolean => {
  if (value === null || typeof value !== "object") return true
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) if (!isSorted(value[index])) return false
    return true
  }
  let last = ""
  for (const key of Object.keys(value)) {
    // Keys that look like integers come first in an object, whatever their place in the sorted text.
    const first = key.charCodeAt(0)
    if (key < last || (first >= zero && first <= nine && integerKey.test(key))) return false
    last = key
    const item = (value as { readonly [key: string]: Json | undefined })[key]
    if (item !== undefined && !isSorted(item)) return false
  }
  return true
}

const byKey = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number => a < b ? -1 : a > b ? 1 : 0

const integerKey = /^\d+$/
const [zero, nine] = [48, 57]

const write = (value: Json): string => {
  if (value === null || typeof value !== "object") return JSON.stringify(value)
  if (Array.isArray(value)) return `[${value.map((item) => write(item ?? null)).join(",")}]`
  const members = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .sort(byKey)
    .map(([key, item]) => `${JSON.stringify(key)}:${write(item)}`)
  return `{${members.join(",")}}`
}
