/**
 * How far a run has come, for those who may not see what it says.
 *
 * @since 0.1.0
 */
import type { RunEvent } from "@mandate/core"
import * as Stream from "effect/Stream"

/**
 * How far a subagent has come, its own subagents included: counts and names,
 * nothing it said. The AI SDK shows it as a preliminary tool result.
 *
 * @category models
 * @since 0.1.0
 */
export interface AgentProgress {
  readonly status: "working"
  readonly agent: string
  readonly modelCalls: number
  readonly toolCalls: number
  readonly tasks: number
}

/**
 * The progress of a run by its events, whenever it changes.
 *
 * @category constructors
 * @since 0.1.0
 */
export const of = (
  agent: string,
  events: Stream.Stream<RunEvent.RunEvent>
): Stream.Stream<AgentProgress> =>
  Stream.mapAccum(
    events,
    (): AgentProgress => ({ status: "working", agent, modelCalls: 0, toolCalls: 0, tasks: 0 }),
    (last, event) => {
      const next = after(last, event)
      return [next, next === last ? [] : [next]]
    }
  )

const after = (last: AgentProgress, event: RunEvent.RunEvent): AgentProgress => {
  switch (event._tag) {
    case "ModelCallCompleted":
      return { ...last, modelCalls: last.modelCalls + 1 }
    case "ToolExecuted":
      return { ...last, toolCalls: last.toolCalls + 1 }
    case "TaskStarted":
      return { ...last, tasks: last.tasks + 1 }
    default:
      return last
  }
}
