/**
 * Who runs a delegated task.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { AgentId, CallKey, RunId, ThreadId } from "./Ids.ts"

/**
 * Schema for the tool call that started a run: its key in the parent's run,
 * and the id the provider gave it.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ParentCall = Schema.Struct({ key: CallKey, toolCallId: Schema.String })

/**
 * The tool call that started a run.
 *
 * @category models
 * @since 0.1.0
 */
export type ParentCall = typeof ParentCall.Type

/**
 * Schema for the run that a delegated task ran as.
 *
 * **Details**
 *
 * `depth` is 1 for a child of a top-level thread. A run with no parent
 * (`BoundAgent.run`) has depth 0 and no `call`.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ChildRun = Schema.Struct({
  threadId: ThreadId,
  runId: RunId,
  subagent: AgentId,
  call: Schema.optionalKey(ParentCall),
  depth: Schema.Natural
})

/**
 * The run that a delegated task ran as.
 *
 * @category models
 * @since 0.1.0
 */
export type ChildRun = typeof ChildRun.Type
