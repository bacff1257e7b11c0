/**
 * How large JSON values are, without writing them.
 *
 * @since 0.1.0
 */
import type { Json } from "./Json.ts"
import * as Utf8 from "./Utf8.ts"

/**
 * The UTF-8 bytes of the canonical JSON of a value.
 *
 * @category getters
 * @since 0.1.0
 */
export const of = (value: Json): number => {
  if (typeof value === "string") return sizeOfText(value)
  if (value === null || typeof value !== "object") return JSON.stringify(value).length
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + of(item) + 1, value.length === 0 ? 2 : 1)
  let size = 1
  for (const [key, item] of Object.entries(value)) {
    if (item !== undefined) size += sizeOfText(key) + of(item) + 2
  }
  return Math.max(size, 2)
}

/**
 * Whether the canonical JSON of a value surely has at most so many UTF-8 bytes.
 * A cheap answer that is right for all that is much smaller: `false` says
 * nothing. Reads no more of the value than it needs.
 *
 * @category getters
 * @since 0.1.0
 */
export const isSurelyWithin = (value: unknown, maxBytes: number): boolean => spend(value, maxBytes, mostPerUnit) >= 0

/**
 * How many of so many bytes are left after a value was counted as JSON, each
 * UTF-16 code unit of a text as one byte: fewer than 0 for what is surely
 * larger. Reads no more of the value than it needs, cycles included.
 *
 * @category getters
 * @since 0.1.0
 */
export const left = (value: unknown, bytes: number): number => spend(value, bytes, 1)

const sizeOfText = (text: string): number => Utf8.byteLength(JSON.stringify(text.toWellFormed()))

// A control character has six bytes as JSON (`\u0001`).
const mostPerUnit = 6

// The longest number is 24 characters long.
const scalar = (perUnit: number): number => perUnit === 1 ? 1 : 25

// What nests deeper is not looked into: it may overflow the stack.
const maxDepth = 512

const spend = (value: unknown, left: number, perUnit: number, depth = 0): number => {
  if (typeof value === "string") return left - value.length * perUnit - 2
  if (value === null || typeof value !== "object") return left - scalar(perUnit)
  if (depth > maxDepth) return perUnit === 1 ? left : -1
  let rest = left - 1
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length && rest >= 0; index++) {
      rest = spend(value[index], rest - 1, perUnit, depth + 1)
    }
    return value.length === 0 ? left - 2 : rest
  }
  for (const key of Object.keys(value)) {
    if (rest < 0) return rest
    const item = (value as { readonly [key: string]: unknown })[key]
    if (item !== undefined) rest = spend(item, rest - key.length * perUnit - 4, perUnit, depth + 1)
  }
  return rest === left - 1 ? left - 2 : rest
}
