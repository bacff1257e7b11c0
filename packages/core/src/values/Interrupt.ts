/**
 * What a run waits on.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { ChildRun } from "./ChildRun.ts"
import { CompositeId } from "./Ids.ts"
import type { Named } from "./Named.ts"

/**
 * Schema for what a person is asked.
 *
 * **Details**
 *
 * Arguments are those that will run, decoded and encoded again, defaults
 * included.
 *
 * - `Approval`: may this tool run with these arguments
 * - `Question`: a handler asks; the answer must match the JSON Schema
 * - `Breakpoint`: the run stopped before this tool
 * - `Uncertain`: this at-most-once tool may or may not have run
 *
 * @category schemas
 * @since 0.1.0
 */
export const InterruptRequest = Schema.TaggedUnion({
  Approval: { tool: Schema.String, arguments: Schema.Json },
  Question: { tool: Schema.String, question: Schema.String, answerSchema: Schema.Json },
  Breakpoint: { tool: Schema.String, arguments: Schema.Json },
  Uncertain: { tool: Schema.String, arguments: Schema.Json }
})

/**
 * What a person is asked.
 *
 * @category models
 * @since 0.1.0
 */
export type InterruptRequest = Named<typeof InterruptRequest.Type>

/**
 * Schema for one thing a run waits on.
 *
 * **Details**
 *
 * - `id`: what an answer names it by
 * - `run`: the run that asked, at any depth below the run that lists it
 * - `agentPath`: the agent ids from the run a caller started down to that run
 * - `askedAt`: when it was asked, in milliseconds since 1970
 *
 * @category schemas
 * @since 0.1.0
 */
export const PendingInterrupt = Schema.Struct({
  id: CompositeId,
  run: ChildRun,
  agentPath: Schema.Array(Schema.String),
  request: InterruptRequest,
  askedAt: Schema.Finite
})

/**
 * One thing a run waits on.
 *
 * @category models
 * @since 0.1.0
 */
export type PendingInterrupt = typeof PendingInterrupt.Type
