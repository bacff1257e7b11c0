/**
 * Errors of the verbs: `run`, `resume`, `recover`, `cancel`, `forget` and the
 * rest.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { ChildFailure, message as childFailureMessage } from "./ChildFailure.ts"
import * as ErrorClass from "./ErrorClass.ts"
import { ModelErrorReason } from "./ModelError.ts"
import * as ModelFailureText from "./ModelFailureText.ts"
import type { Named } from "./Named.ts"
import * as StoreCode from "./StoreCode.ts"

const on = { threadId: Schema.String }

const reason = <const Tag extends string, const Fields extends Schema.Struct.Fields>(
  tag: Tag,
  fields: Fields
): Schema.TaggedStruct<Tag, Fields> => Schema.TaggedStruct(tag, fields)

/**
 * Schema for the reasons a verb fails with.
 *
 * **Details**
 *
 * A refused call changes nothing:
 *
 * - `ThreadBusy`: another drive is at work on the thread, or has taken over the
 *   run that was waited for
 * - `IncompleteRun`: the thread's last run is `Failed` or was interrupted, by a
 *   crash or by the close of the runtime that drove it; `recover` it or `cancel`
 *   it
 * - `PendingInterrupts`: the thread's run waits for answers; `resume` it
 * - `NotSuspended`: there is nothing to answer
 * - `NothingToRecover`: the thread has no run that needs recovery
 * - `UnknownThread`: the store has no such thread, or none any more
 * - `ChildThread`: the thread belongs to a child; use its root
 * - `UnknownInterrupt`: no pending interrupt has these `ids`, or it is answered
 *   twice; `pending` is what the thread waits on
 * - `InvalidAnswer`: an answer does not match what was asked
 * - `InvalidInput`: what `field` names of the call is not valid: its input,
 *   thread id, budget, answers or the like
 * - `AgentChanged`: the run was started by another shape of the agent
 * - `CorruptRun`: a stored row cannot be read
 *
 * The others are how the run failed. It stays open, and `recover` tries again:
 * `ModelFailed`, `ToolFatal`, `ChildFailed`, `StoreFailed`, `Defect`. A
 * `StoreFailed` of no thread in particular has an empty `threadId`; its
 * `operation` says what the store could not do, its `code` is the code of the
 * store's error, such as `SQLITE_FULL`. The `retryAfterMillis` of a
 * `ModelFailed` is how long the provider asked to wait.
 *
 * @category schemas
 * @since 0.1.0
 */
export const RunErrorReason = Schema.Union([
  reason("ThreadBusy", on),
  reason("IncompleteRun", on),
  reason("PendingInterrupts", { ...on, pending: Schema.Array(Schema.String) }),
  reason("NotSuspended", on),
  reason("NothingToRecover", on),
  reason("UnknownThread", on),
  reason("ChildThread", on),
  reason("UnknownInterrupt", { ...on, ids: Schema.Array(Schema.String), pending: Schema.Array(Schema.String) }),
  reason("InvalidAnswer", { ...on, id: Schema.String, issues: Schema.Array(Schema.String) }),
  reason("InvalidInput", { field: Schema.String, issues: Schema.Array(Schema.String) }),
  reason("AgentChanged", { ...on, differences: Schema.Array(Schema.String) }),
  reason("CorruptRun", { ...on, runId: Schema.String, detail: Schema.String }),
  reason("ModelFailed", {
    ...on,
    reason: ModelErrorReason,
    provider: Schema.String,
    modelId: Schema.String,
    status: Schema.optionalKey(Schema.Int),
    code: Schema.optionalKey(Schema.String),
    type: Schema.optionalKey(Schema.String),
    parameter: Schema.optionalKey(Schema.String),
    network: Schema.optionalKey(Schema.String),
    detail: Schema.optionalKey(Schema.String),
    retryAfterMillis: Schema.optionalKey(Schema.Natural)
  }),
  reason("ToolFatal", { ...on, tool: Schema.String, reason: Schema.String }),
  reason("ChildFailed", { ...on, failure: ChildFailure, path: Schema.NonEmptyArray(Schema.String) }),
  reason("StoreFailed", { threadId: Schema.String, operation: Schema.String, code: Schema.optionalKey(Schema.String) }),
  reason("Defect", { ...on, where: Schema.String })
])

/**
 * Why a verb failed.
 *
 * @category models
 * @since 0.1.0
 */
export type RunErrorReason = Named<typeof RunErrorReason.Type>

/**
 * The one error of every verb. Match a single reason with
 * `Effect.catchReason("RunError", "ThreadBusy", ...)`.
 *
 * **Details**
 *
 * The error of a run that failed by a bug (`Defect`) in this process has what
 * was thrown as its `cause`. That is not a part of the error's encoded form,
 * nor of what is stored: it may hold anything.
 *
 * @category errors
 * @since 0.1.0
 */
export class RunError extends ErrorClass.TaggedError<RunError>("~mandate/RunError")("RunError", {
  reason: RunErrorReason
}) {
  override get message(): string {
    return describe(this.reason, this.cause)
  }
}

const describe = (reason: RunErrorReason, cause: unknown): string => {
  switch (reason._tag) {
    case "ThreadBusy":
      return `The thread "${reason.threadId}" is busy: a run of it is being driven; wait for it, or cancel it`
    case "IncompleteRun":
      return `The last run of the thread "${reason.threadId}" did not end; recover it or cancel it first`
    case "PendingInterrupts":
      return `The thread "${reason.threadId}" waits for answers to ${reason.pending.join(", ")}; resume it`
    case "NotSuspended":
      return `The thread "${reason.threadId}" does not wait for an answer; its status says what it does`
    case "NothingToRecover":
      return `The thread "${reason.threadId}" has no run to recover: its last run has ended, or waits for answers`
    case "UnknownThread":
      return `There is no thread "${reason.threadId}" in the store; it was never started here, or was forgotten`
    case "ChildThread":
      return `The thread "${reason.threadId}" belongs to a child; use the thread of its root`
    case "UnknownInterrupt":
      return unknownInterrupt(reason)
    case "InvalidAnswer":
      return `The answer to "${reason.id}" is not valid: ${reason.issues.join("; ")}`
    case "InvalidInput":
      return `The ${reason.field} ${plural.includes(reason.field) ? "are" : "is"} not valid: ${
        reason.issues.join("; ")
      }`
    case "AgentChanged":
      return `The run of the thread "${reason.threadId}" was started by another shape of the agent: ${
        reason.differences.join("; ")
      }. Go on with that one, or cancel the run`
    case "CorruptRun":
      return `The run "${reason.runId}" cannot be read: ${reason.detail}`
    case "ModelFailed": {
      const { retryAfterMillis, threadId, ...facts } = reason
      const wait = retryAfterMillis === undefined ? {} : { retryAfter: retryAfterMillis }
      const text = ModelFailureText.describe({ ...facts, ...wait })
      return `${text}. ${ModelFailureText.advice(facts.reason, threadId, retryAfterMillis)}`
    }
    case "ToolFatal":
      return `The tool "${reason.tool}" ended the run: ${reason.reason}. Mend what it names, then recover the thread ` +
        `"${reason.threadId}", or cancel its run`
    case "ChildFailed":
      return `The subagent ${reason.path.join(" > ")} failed. ${childFailureMessage(reason.failure)}. ` +
        `Recover the thread "${reason.threadId}" to try again, or cancel its run`
    case "StoreFailed":
      return storeFailed(reason)
    case "Defect":
      return `The run of the thread "${reason.threadId}" failed by a bug in ${reason.where}${ofBug(cause)}`
  }
}

// What a store could not do mostly names its thread.
const storeFailed = (
  { code, operation, threadId }: Extract<RunErrorReason, { _tag: "StoreFailed" }>
): string => {
  const where = threadId === "" || operation.includes(threadId) ? "" : ` (thread "${threadId}")`
  return `The store could not ${operation}${where}${StoreCode.suffix(code)}`
}
const plural: ReadonlyArray<string> = ["answers", "files", "options"]

// The message of an error that is not of this SDK may hold anything: it is in the cause, and in the log.
const ofBug = (cause: unknown): string => {
  const own = ErrorClass.ownMessage(cause)
  if (own !== undefined) return `: ${own}`
  return `; see ${cause === undefined ? "" : "the cause of this error, and "}the log of the process that drove it`
}

const unknownInterrupt = (
  { ids, pending, threadId }: Extract<RunErrorReason, { _tag: "UnknownInterrupt" }>
): string => {
  const unknown = ids.filter((id) => !pending.includes(id))
  return unknown.length === 0
    ? `The thread "${threadId}" waits once on ${ids.join(", ")}, and more than one answer was given`
    : `The thread "${threadId}" does not wait on ${unknown.join(", ")}; it waits on ${pending.join(", ") || "nothing"}`
}
