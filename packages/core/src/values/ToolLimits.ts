/**
 * Bounds on the tool calls of an agent.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Bound from "./Bound.ts"
import * as Options from "./Options.ts"
import * as ValueKind from "./ValueKind.ts"

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
  if (!ValueKind.isPlainObject(over)) return { ...self, [notAnObject]: true } as ToolLimits
  const { toolResultBytes }: ToolLimits = over
  const copied = ValueKind.isPlainObject(toolResultBytes) ? { toolResultBytes: { ...toolResultBytes as object } } : {}
  return { ...self, ...over, ...copied } as ToolLimits
}

/**
 * What is wrong with bounds, a sentence each.
 *
 * @category getters
 * @since 0.1.0
 */
export const problems = (limits: ToolLimits): ReadonlyArray<string> =>
  Object.hasOwn(limits, notAnObject)
    ? ["the limits of tools must be an object"]
    : Result.match(decode(limits), {
      onFailure: (issues) => issues,
      onSuccess: ({ toolResultBytes }) => toolResultBytes === undefined ? [] : ofTools(toolResultBytes)
    })

const notAnObject = "not an object"

const decode = Options.make<ToolLimits>("limit", {
  maxToolResultBytes: Options.count,
  maxCallsPerResponse: Options.count,
  maxConcurrentTools: Options.count,
  toolResultBytes: Options.any
})

const ofTools = (value: unknown): ReadonlyArray<string> =>
  ValueKind.isPlainObject(value)
    ? Object.entries(value).flatMap(([tool, bytes]) => Bound.problem(`toolResultBytes of "${tool}"`, bytes))
    : ["toolResultBytes must be an object of tool names and their bytes"]
