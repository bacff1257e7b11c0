/**
 * Bounds on the results of single tools.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"

/**
 * Annotation of a tool whose result may have another size than those of the
 * agent's other tools.
 *
 * **Details**
 *
 * `tool.annotate(MaxResultBytes, 1_048_576)` lets its result, and its error,
 * have that many UTF-8 bytes as the model reads it. The agent's own bound for
 * this tool, `withToolLimits({ toolResultBytes })`, comes first. A positive
 * whole number; default: the agent's `maxToolResultBytes`.
 *
 * @category annotations
 * @since 0.1.0
 */
export const MaxResultBytes = Context.Reference<number | undefined>("~mandate/MaxResultBytes", {
  defaultValue: () => undefined
})
