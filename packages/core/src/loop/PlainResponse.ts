/**
 * The fast way to read a response: texts, reasoning and calls with counted
 * usage and nothing else, as most responses are. Whatever else there may be is
 * for the schema to read.
 *
 * **Details**
 *
 * Invariants:
 *
 * 1. Each property of the client's objects is read once, and the response is a
 *    copy of what was read.
 * 2. A response that is given is one that the schema takes, within its bounds,
 *    and all its texts are well formed.
 *
 * @since 0.1.0
 */
import type { AssistantPart } from "../values/Message.ts"
import { type FinishReason, maxBytes, maxParts, type ModelResponse } from "../values/ModelResponse.ts"

/**
 * Reads a response; nothing where the schema has to. Reading it may throw what
 * its getters throw.
 *
 * @category constructors
 * @since 0.1.0
 */
export const read = (given: unknown): ModelResponse | undefined => {
  if (!isPlain(given, responseKeys)) return undefined
  const { finishReason, parts, usage } = given
  if (!finishReasons.has(finishReason as string) || !Array.isArray(parts) || parts.length > maxParts) return undefined
  if (!isPlain(usage, usageKeys)) return undefined
  const inputTokens = counts(usage["inputTokens"], inputCounts)
  const outputTokens = counts(usage["outputTokens"], outputCounts)
  if (inputTokens === undefined || outputTokens === undefined) return undefined
  const left = { bytes: maxBytes }
  const copies: Array<AssistantPart> = []
  for (let index = 0; index < parts.length; index++) {
    const copy = part(parts[index], left)
    if (copy === undefined) return undefined
    copies.push(copy)
  }
  return { parts: copies, finishReason: finishReason as FinishReason, usage: { inputTokens, outputTokens } }
}

const part = (given: unknown, left: { bytes: number }): AssistantPart | undefined => {
  if (typeof given !== "object" || given === null) return undefined
  const type = "type" in given ? given.type : undefined
  switch (type) {
    case "text":
    case "reasoning": {
      if (!isPlain(given, textKeys)) return undefined
      const text = given["text"]
      return isText(text, left) ? { type, text } : undefined
    }
    case "tool-call": {
      if (!isPlain(given, callKeys)) return undefined
      const { arguments: args, id, name } = given
      return isText(id, left) && isText(name, left) && isText(args, left)
        ? { type, id, name, arguments: args }
        : undefined
    }
    default:
      return undefined
  }
}

const isText = (value: unknown, left: { bytes: number }): value is string => {
  if (typeof value !== "string" || !value.isWellFormed()) return false
  left.bytes -= value.length
  return left.bytes >= 0
}

const counts = (
  given: unknown,
  names: ReadonlySet<string>
): { readonly [name: string]: number } | undefined => {
  if (!isPlain(given, names)) return undefined
  const copy: Record<string, number> = {}
  for (const name of Object.keys(given)) {
    const value = given[name]
    if (!Number.isSafeInteger(value) || (value as number) < 0) return undefined
    copy[name] = value as number
  }
  return copy
}

const isPlain = (
  value: unknown,
  keys: ReadonlySet<string>
): value is { readonly [key: string]: unknown } => {
  if (typeof value !== "object" || value === null || Object.getPrototypeOf(value) !== Object.prototype) return false
  for (const key of Object.keys(value)) if (!keys.has(key)) return false
  return true
}

const responseKeys: ReadonlySet<string> = new Set(["parts", "finishReason", "usage"])
const usageKeys: ReadonlySet<string> = new Set(["inputTokens", "outputTokens"])
const textKeys: ReadonlySet<string> = new Set(["type", "text"])
const callKeys: ReadonlySet<string> = new Set(["type", "id", "name", "arguments"])
const inputCounts: ReadonlySet<string> = new Set(["total", "cacheRead", "cacheWrite"])
const outputCounts: ReadonlySet<string> = new Set(["total", "reasoning"])
const finishReasons: ReadonlySet<string> = new Set(
  ["stop", "tool-calls", "length", "content-filter", "pause", "error", "interrupted", "other"] satisfies ReadonlyArray<
    FinishReason
  >
)
