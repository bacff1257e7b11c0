/**
 * What a run is made of beyond the definition of its agent.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { Posture } from "./Posture.ts"

/**
 * Schema for what a run got when it started and keeps until it settles.
 *
 * **Details**
 *
 * - `tools`: names of the catalog's tools, sorted
 * - `delegate`: the whole posture that the run is made of, and its version;
 *   absent for a run of a defined agent
 *
 * @category schemas
 * @since 0.1.0
 */
export const RunBinding = Schema.Struct({
  tools: Schema.Array(Schema.String),
  delegate: Schema.optionalKey(Schema.Struct({ posture: Posture, version: Schema.String }))
})

/**
 * What a run got when it started.
 *
 * @category models
 * @since 0.1.0
 */
export type RunBinding = typeof RunBinding.Type
