/**
 * Bounds on the tasks an agent delegates.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import { Count } from "./Checked.ts"
import * as Options from "./Options.ts"

/**
 * Bounds on the tasks an agent delegates, each enforced on its own. A bound
 * that is absent keeps its default.
 *
 * **Details**
 *
 * - `maxConcurrentChildren` (4): child runs that one parent run has live at
 *   once. A call over it waits for a slot, in call order, and is never refused
 * - `maxTasksPerTurn` (16): task calls one run may make, counted over its
 *   messages in order. A call over it is a tool error
 * - `maxDepth` (1): how deep delegation nests. 1 lets the agent delegate and
 *   its children not
 * - `maxReportBytes` (65 536): UTF-8 bytes of a whole task tool message,
 *   report or error. A larger report is a tool error, never cut; at least
 *   {@link MinReportBytes}
 * - `childRetention` (16): settled child threads each parent thread keeps,
 *   newest first
 *
 * Every bound is a positive whole number; `build` refuses anything else.
 *
 * @category models
 * @since 0.1.0
 */
export interface DelegationConfig {
  readonly maxConcurrentChildren?: number
  readonly maxTasksPerTurn?: number
  readonly maxDepth?: number
  readonly maxReportBytes?: number
  readonly childRetention?: number
}

/**
 * The least `maxReportBytes`: room for every cut error, in UTF-8 bytes.
 *
 * @category constants
 * @since 0.1.0
 */
export const MinReportBytes = 512

/**
 * The bounds an agent has when it sets none.
 *
 * @category constants
 * @since 0.1.0
 */
export const defaults: Required<DelegationConfig> = {
  maxConcurrentChildren: 4,
  maxTasksPerTurn: 16,
  maxDepth: 1,
  maxReportBytes: 65_536,
  childRetention: 16
}

/**
 * What is wrong with a config, a sentence each.
 *
 * @category getters
 * @since 0.1.0
 */
export const problems = (config: DelegationConfig): ReadonlyArray<string> =>
  Result.match(decode(config), { onSuccess: () => [], onFailure: (issues) => issues })

/**
 * Decodes bounds as a caller gives them.
 *
 * @category decoding
 * @since 0.1.0
 */
export const decode: Options.Decode<DelegationConfig> = Options.make<DelegationConfig>("bound", {
  maxConcurrentChildren: Count,
  maxTasksPerTurn: Count,
  maxDepth: Count,
  maxReportBytes: Options.countWithin({ least: MinReportBytes }),
  childRetention: Count
})
