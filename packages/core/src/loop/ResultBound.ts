/**
 * The bound on what a tool gives a model to read.
 *
 * **Details**
 *
 * Invariants:
 *
 * 1. No result of a tool, error or not, is recorded or shown that is over its
 *    bound. Errors of a few hundred bytes are never over it.
 * 2. A result over the bound is replaced by an error that says how large it is
 *    and that the tool ran: a model that only read that it failed would run it
 *    again. The message of an error is cut instead.
 *
 * @since 0.1.0
 */
import type * as Json from "../values/Json.ts"
import * as JsonSize from "../values/JsonSize.ts"
import type { ToolOutput } from "../values/Message.ts"
import type { RunLimits } from "../values/RunLimits.ts"
import * as Utf8 from "../values/Utf8.ts"
import { type Branch, errorOutput, failed } from "./Branch.ts"
import type { CompiledAgent, Drive, LoopTool } from "./Drive.ts"

/**
 * The most bytes that a result of a tool may have in this run; nothing for a
 * run that was started before there was such a bound.
 *
 * @category getters
 * @since 0.1.0
 */
export const of = ({ agent, run }: Drive, tool: LoopTool | undefined): number | undefined =>
  ofAgent(agent, run.limits, tool)

/**
 * The most bytes that a result of a tool of an agent may have, with the limits
 * of a run of it.
 *
 * @category getters
 * @since 0.1.0
 */
export const ofAgent = (
  { resultBytes }: Pick<CompiledAgent, "resultBytes">,
  { maxToolResultBytes }: Pick<RunLimits, "maxToolResultBytes">,
  tool: LoopTool | undefined
): number | undefined => {
  if (tool === undefined) return maxToolResultBytes
  const { name } = tool.definition
  const own = resultBytes !== undefined && Object.hasOwn(resultBytes, name) ? resultBytes[name] : tool.maxResultBytes
  return own ?? maxToolResultBytes
}

/**
 * Holds a branch to a bound in bytes.
 *
 * @category combinators
 * @since 0.1.0
 */
export const hold = (branch: Branch, maxBytes: number | undefined): Branch => {
  if (maxBytes === undefined || branch._tag !== "Done") return branch
  const { isError, output } = branch.result
  const most = isError ? Math.max(maxBytes, leastBytes) : maxBytes
  const bytes = over(output, most)
  if (bytes === undefined) return branch
  const cut = isError ? withCutMessage(output, most) : undefined
  if (cut !== undefined) return { ...branch, result: { ...branch.result, output: cut } }
  const what = isError ? "The tool failed, and its error has" : "The tool ran and did not fail, but its result has"
  return failed(
    "ResultTooLarge",
    `${what} ${bytes} bytes, over the bound of ${maxBytes} bytes, and was left out. Another call runs the tool again.`
  )
}

/**
 * Whether a value may be shown that is no result yet.
 *
 * @category getters
 * @since 0.1.0
 */
export const allows = (value: Json.Json, maxBytes: number | undefined): boolean =>
  maxBytes === undefined || JsonSize.isSurelyWithin(value, maxBytes) || JsonSize.left(value, maxBytes) >= 0

/**
 * What is wrong with a result that a person gave in place of a tool's.
 *
 * @category getters
 * @since 0.1.0
 */
export const problems = (value: Json.Json, maxBytes: number | undefined): ReadonlyArray<string> => {
  if (maxBytes === undefined) return []
  const bytes = over(typeof value === "string" ? { type: "text", value } : { type: "json", value }, maxBytes)
  return bytes === undefined ? [] : [`it has ${bytes} bytes; at most ${maxBytes} are allowed`]
}

// Room for every error that the runtime writes itself.
const leastBytes = 512

// The bytes of an output that has more than so many.
const over = (output: ToolOutput, maxBytes: number): number | undefined => {
  const { value } = output
  if (typeof value === "string" && output.type !== "json") {
    if (value.length * 3 <= maxBytes) return undefined
    const bytes = Utf8.byteLength(value)
    return bytes > maxBytes ? bytes : undefined
  }
  if (JsonSize.isSurelyWithin(value, maxBytes)) return undefined
  const bytes = JsonSize.of(value as Json.Json)
  return bytes > maxBytes ? bytes : undefined
}

// An error whose message is what makes it large still says why the call failed.
const withCutMessage = ({ type, value }: ToolOutput, maxBytes: number): ToolOutput | undefined => {
  if (type !== "json" || !isObject(value)) return undefined
  const { error, ...rest } = value
  if (!isObject(error) || Object.keys(rest).length > 0) return undefined
  const { message, reason, ...more } = error
  if (typeof message !== "string" || typeof reason !== "string" || Object.keys(more).length > 0) return undefined
  // As JSON a character has at most six times the bytes that it has as text.
  const output = errorOutput({ reason, message: Utf8.cut(message.toWellFormed(), Math.floor(maxBytes / 8)) })
  return over(output, maxBytes) === undefined ? output : undefined
}

const isObject = (value: unknown): value is { readonly [key: string]: Json.Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value)
