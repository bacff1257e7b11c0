/**
 * Bounds on the tool calls of an agent.
 *
 * @since 0.1.0
 */
import * as Bound from "./Bound.ts"

/**
 * Bounds on the tool calls of an agent, each enforced on its own. A bound that
 * is absent keeps its default.
 *
 * **Details**
 *
 * - `maxToolResultBytes` (262 144): UTF-8 bytes of one tool's result, or error,
 *   as the model reads it: of a text itself, of anything else as canonical
 *   JSON, files in base64 included. A larger result is a tool error that says
 *   that the tool ran. Results of tasks have `maxReportBytes`
 * - `toolResultBytes`: the same for single tools, by name, before what the
 *   tools themselves are annotated with
 * - `maxCallsPerResponse` (128): tool calls of one model response. None of the
 *   calls of a larger response runs, and the model is asked again
 * - `maxConcurrentTools` (16): handlers that one run has at work at once. Other
 *   calls wait, in call order. Tasks have `maxConcurrentChildren`
 *
 * Every bound is a positive whole number; `build` refuses anything else.
 *
 * @category models
 * @since 0.1.0
 */
export interface ToolLimits {
  readonly maxToolResultBytes?: number
  readonly toolResultBytes?: { readonly [tool: string]: number }
  readonly maxCallsPerResponse?: number
  readonly maxConcurrentTools?: number
}

/**
 * The bounds an agent has when it sets none.
 *
 * @category constants
 * @since 0.1.0
 */
export const defaults = {
  maxToolResultBytes: 262_144,
  maxCallsPerResponse: 128,
  maxConcurrentTools: 16
} as const

/**
 * Sets bounds over others, field by field. What is not an object of bounds is
 * noted for {@link problems} to find.
 *
 * @category combinators
 * @since 0.1.0
 */
export const merge = (self: ToolLimits, over: ToolLimits): ToolLimits => {
  if (!isPlain(over)) return { ...self, [notAnObject]: true } as ToolLimits
  const { toolResultBytes } = over
  return { ...self, ...over, ...(isPlain(toolResultBytes) ? { toolResultBytes: { ...toolResultBytes } } : {}) }
}

/**
 * What is wrong with bounds, a sentence each.
 *
 * @category getters
 * @since 0.1.0
 */
export const problems = (limits: ToolLimits): ReadonlyArray<string> => {
  if (Object.hasOwn(limits, notAnObject)) return ["the limits of tools must be an object"]
  return Object.entries(limits).flatMap(([name, value]: [string, unknown]) => {
    if (value === undefined) return []
    if (name === "toolResultBytes") return ofTools(value)
    return Object.hasOwn(defaults, name)
      ? Bound.problem(name, value)
      : [`there is no limit "${name}"; the limits are ${[...Object.keys(defaults), "toolResultBytes"].join(", ")}`]
  })
}

const notAnObject = "not an object"

const ofTools = (value: unknown): ReadonlyArray<string> =>
  isPlain(value)
    ? Object.entries(value).flatMap(([tool, bytes]) => Bound.problem(`toolResultBytes of "${tool}"`, bytes))
    : ["toolResultBytes must be an object of tool names and their bytes"]

// Code without types may give anything.
const isPlain = (value: unknown): value is object => {
  if (typeof value !== "object" || value === null) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
