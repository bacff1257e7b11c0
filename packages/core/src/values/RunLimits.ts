/**
 * The limits of one run, fixed when it starts.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { Count } from "./Checked.ts"
import { defaults, type DelegationConfig, MinReportBytes } from "./DelegationConfig.ts"
import * as ToolLimits from "./ToolLimits.ts"

/**
 * Steps an agent may take when it sets no limit.
 *
 * @category constants
 * @since 0.1.0
 */
export const defaultMaxSteps = 32

/**
 * Schema for the limits a run keeps in its row from its start until it
 * settles, whatever its agent's definition says by then.
 *
 * **Details**
 *
 * The bounds of `DelegationConfig` (how deep the run may delegate stands
 * beside them, since it is inherited), `maxSteps` (model responses), and
 * `reasks` (times an answer that does not decode is asked for again).
 *
 * The bounds of `ToolLimits` and `maxRepeats` (times a run may make one call)
 * are absent in rows that were written before there were such bounds: those
 * runs have none. Without `maxRepeats` a run may make a call any number of
 * times.
 *
 * @category schemas
 * @since 0.1.0
 */
export const RunLimits = Schema.Struct({
  maxConcurrentChildren: Count,
  maxTasksPerTurn: Count,
  maxReportBytes: Schema.Int.check(Schema.isGreaterThanOrEqualTo(MinReportBytes)),
  childRetention: Count,
  maxSteps: Count,
  reasks: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 5 })),
  maxToolResultBytes: Schema.optionalKey(Count),
  maxCallsPerResponse: Schema.optionalKey(Count),
  maxConcurrentTools: Schema.optionalKey(Count),
  maxRepeats: Schema.optionalKey(Count)
})

/**
 * The limits of one run.
 *
 * @category models
 * @since 0.1.0
 */
export type RunLimits = typeof RunLimits.Type

/**
 * Limits of a run whose agent has these settings.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  config: DelegationConfig,
  steps: { readonly maxSteps: number; readonly reasks: number; readonly maxRepeats: number | undefined },
  tools: ToolLimits.ToolLimits
): RunLimits => ({
  maxConcurrentChildren: config.maxConcurrentChildren ?? defaults.maxConcurrentChildren,
  maxTasksPerTurn: config.maxTasksPerTurn ?? defaults.maxTasksPerTurn,
  maxReportBytes: config.maxReportBytes ?? defaults.maxReportBytes,
  childRetention: config.childRetention ?? defaults.childRetention,
  maxSteps: steps.maxSteps,
  reasks: steps.reasks,
  maxToolResultBytes: tools.maxToolResultBytes ?? ToolLimits.defaults.maxToolResultBytes,
  maxCallsPerResponse: tools.maxCallsPerResponse ?? ToolLimits.defaults.maxCallsPerResponse,
  maxConcurrentTools: tools.maxConcurrentTools ?? ToolLimits.defaults.maxConcurrentTools,
  ...(steps.maxRepeats === undefined ? {} : { maxRepeats: steps.maxRepeats })
})
