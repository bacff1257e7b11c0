/**
 * Events of runs.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { ChildFailure } from "./ChildFailure.ts"
import { ParentCall } from "./ChildRun.ts"
import { DelegateStatus } from "./DelegateResult.ts"
import { CallKey, CompositeId, RunId, ThreadId } from "./Ids.ts"
import { FinishReason } from "./ModelResponse.ts"
import type { Named } from "./Named.ts"
import { RunUsage, Usage } from "./Usage.ts"

/**
 * Fields of every event: where in the tree it happened.
 *
 * **Details**
 *
 * `rootThreadId` is the thread of the run that a caller started, `agentPath`
 * the agent ids from that run down to this one, `depth` its length below the
 * root (0 for the root), `call` the task call that started the run, and `at`
 * the time in milliseconds since 1970.
 */
const origin = {
  rootThreadId: ThreadId,
  threadId: ThreadId,
  runId: RunId,
  agentId: Schema.String,
  agentPath: Schema.Array(Schema.String),
  depth: Schema.Natural,
  call: Schema.optionalKey(ParentCall),
  at: Schema.Finite
}

// Durable events are numbered per root thread by the store, from 1. Live events have no number.
const durable = { ...origin, sequence: Schema.Natural }
const live = origin

const step = { step: Schema.Natural }
const taskCall = {
  key: CallKey,
  toolCallId: Schema.String,
  subagent: Schema.String,
  childThreadId: ThreadId,
  childRunId: RunId
}
const tool = { key: CallKey, toolCallId: Schema.String, tool: Schema.String }
const delegate = {
  subSessionId: Schema.String,
  posture: Schema.String,
  postureVersion: Schema.String,
  callerRunId: Schema.optionalKey(RunId),
  parentTurn: Schema.optionalKey(Schema.String)
}

/**
 * Schema for how a run came out, as events name it.
 *
 * @category schemas
 * @since 0.1.0
 */
export const EndStatus = Schema.Literals([
  "Completed",
  "Blocked",
  "InvalidReport",
  "StepLimitReached",
  "BudgetExceeded",
  "Cancelled",
  "ModelFailed",
  "ToolFatal"
])

/**
 * Schema for all events of runs.
 *
 * **Details**
 *
 * Durable events have a `sequence` and carry no content; the store appends
 * them in the transaction of what they describe. Live events are for watching,
 * are not stored, and carry content. A slow reader is not waited for: it gets
 * an `EventsMissed` in place of the live events it missed, never of a durable
 * one.
 *
 * No run holds what is said of a call from code that starts none: its
 * `sequence` is 0, and no store has it. That is the pair of a call that found
 * its result, and a `DelegateRefused`. The latter stands on the run whose
 * handler made the call; for a call from outside of any run its root, thread
 * and agent are `delegate/<posture>`.
 *
 * @category schemas
 * @since 0.1.0
 */
export const RunEvent = Schema.TaggedUnion({
  RunStarted: durable,
  RunSuspended: { ...durable, pending: Schema.Array(CompositeId) },
  RunResumed: durable,
  RunRecovered: durable,
  RunSettled: { ...durable, status: EndStatus, usage: RunUsage },
  RunFailed: { ...durable, reason: Schema.String },
  ModelCallCompleted: {
    ...durable,
    ...step,
    provider: Schema.String,
    modelId: Schema.String,
    finishReason: FinishReason,
    usage: Usage
  },
  ToolExecuted: { ...durable, ...tool, isError: Schema.Boolean },
  TaskStarted: { ...durable, ...taskCall },
  TaskSettled: {
    ...durable,
    ...taskCall,
    failure: Schema.optionalKey(ChildFailure),
    usage: Usage
  },
  DelegateStart: { ...durable, ...delegate },
  DelegateComplete: {
    ...durable,
    ...delegate,
    status: DelegateStatus,
    tokensUsed: Schema.Natural,
    toolCallsUsed: Schema.Natural
  },
  DelegateRefused: {
    ...durable,
    key: Schema.optionalKey(CallKey),
    posture: Schema.String,
    reason: Schema.String,
    parentTurn: Schema.optionalKey(Schema.String)
  },
  HandedOff: { ...durable, from: Schema.String, to: Schema.String },
  Blocked: { ...durable, guardrail: Schema.String, reason: Schema.String },
  ModelCallStarted: { ...live, ...step, attempt: Schema.Natural, provider: Schema.String, modelId: Schema.String },
  ModelAttemptDiscarded: { ...live, ...step, attempt: Schema.Natural, reason: Schema.String },
  TextDelta: { ...live, ...step, attempt: Schema.Natural, delta: Schema.String },
  ReasoningDelta: { ...live, ...step, attempt: Schema.Natural, delta: Schema.String },
  ToolInputDelta: {
    ...live,
    ...step,
    attempt: Schema.Natural,
    toolCallId: Schema.String,
    tool: Schema.String,
    delta: Schema.String
  },
  ToolStarted: { ...live, ...tool, input: Schema.Json },
  ToolProgress: { ...live, ...tool, value: Schema.Json },
  ToolFinished: { ...live, ...tool, output: Schema.Json, isError: Schema.Boolean },
  EventsMissed: { rootThreadId: ThreadId, missed: Schema.Natural, at: Schema.Finite }
})

/**
 * An event of a run.
 *
 * @category models
 * @since 0.1.0
 */
export type RunEvent = Named<typeof RunEvent.Type>

/**
 * An event that stores keep.
 *
 * @category models
 * @since 0.1.0
 */
export type DurableEvent = Extract<RunEvent, { readonly sequence: number }>

/**
 * An event that is only seen by those who watch.
 *
 * @category models
 * @since 0.1.0
 */
export type LiveEvent = Exclude<RunEvent, { readonly sequence: number } | { readonly _tag: "EventsMissed" }>

/**
 * A durable event that its store has not numbered yet.
 *
 * @category models
 * @since 0.1.0
 */
export type NewEvent = DurableEvent extends infer E ? E extends DurableEvent ? Omit<E, "sequence"> : never : never

/**
 * Where in a tree of runs an event happened.
 *
 * @category models
 * @since 0.1.0
 */
export interface Origin {
  readonly rootThreadId: ThreadId
  readonly threadId: ThreadId
  readonly runId: RunId
  readonly agentId: string
  readonly agentPath: ReadonlyArray<string>
  readonly depth: number
  readonly call?: ParentCall
}
