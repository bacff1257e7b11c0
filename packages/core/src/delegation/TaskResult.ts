/**
 * What a parent makes of how its child came out: the report or the failure,
 * and nothing else of the child.
 *
 * @since 0.1.0
 */
import { isReadonlyArrayNonEmpty } from "effect/Array"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as ActiveRun from "../loop/ActiveRun.ts"
import type { Branch, Done } from "../loop/Branch.ts"
import type { Drive, ToolCall } from "../loop/Drive.ts"
import * as OpenRun from "../loop/OpenRun.ts"
import * as CloseFailed from "../run/CloseFailed.ts"
import * as StoredRun from "../run/StoredRun.ts"
import * as TreeClose from "../run/TreeClose.ts"
import * as CorruptRow from "../service/CorruptRow.ts"
import type { DriveEnd } from "../service/RunHost.ts"
import { Fenced, type StoreError } from "../service/RunStore.ts"
import type { ResolvedBudget } from "../values/Budget.ts"
import { action, type ChildFailure, type ChildFailurePolicy } from "../values/ChildFailure.ts"
import { statusOf } from "../values/DelegateResult.ts"
import * as Ids from "../values/Ids.ts"
import type { Json } from "../values/Json.ts"
import type { ToolOutput } from "../values/Message.ts"
import type { RunBinding } from "../values/RunBinding.ts"
import type { NewEvent } from "../values/RunEvent.ts"
import { childFailure, inherited, type Settled } from "../values/RunOutcome.ts"
import type * as Usage from "../values/Usage.ts"
import type { BoundSpec } from "./BoundSpec.ts"
import type { Kept } from "./EqualResults.ts"
import * as TaskMessage from "./TaskMessage.ts"

/**
 * One delegated task.
 *
 * **Details**
 *
 * - `context`: the child's encoded context; absent for a child that declares
 *   none or is there already
 * - `posture`: what the child gets that is a posture's run, in place of what its
 *   definition says
 * - `entered`: called when the task has got its slot
 *
 * @category models
 * @since 0.1.0
 */
export interface Task {
  readonly drive: Drive
  readonly call: ToolCall
  readonly subagent: BoundSpec
  readonly policy: ChildFailurePolicy
  readonly task: { readonly json: string; readonly prompt: string }
  readonly context?: Json | undefined
  readonly posture?: {
    readonly binding: RunBinding
    readonly budget: ResolvedBudget
    readonly depthLeft: number
  }
  readonly entered?: () => void
}

/**
 * Why a parent's drive cannot go on.
 *
 * @category models
 * @since 0.1.0
 */
export type Lost = Fenced | StoreError

/**
 * The branch of a task call whose child came out like this.
 *
 * **Details**
 *
 * A failure under `tool-error` closes a failed child in the transaction of the
 * parent's record; under `fail-run` it fails the parent and is recorded
 * nowhere. What no policy covers always fails the parent.
 *
 * @category constructors
 * @since 0.1.0
 */
export const conclude = (self: Task, end: DriveEnd): Effect.Effect<Branch, Lost> => {
  switch (end._tag) {
    case "Lost":
      return Effect.fail(new Fenced({ runId: self.drive.run.runId }))
    case "Suspended":
      return Effect.succeed({ _tag: "Waiting" })
    case "Settled":
      return Effect.succeed(settled(self, end.outcome, end.usage))
    case "Failed":
      return failedChild(self, end)
  }
}

const settled = (self: Task, outcome: Settled, usage: Usage.RunUsage): Branch => {
  const { maxReportBytes } = self.drive.run.limits
  if (outcome._tag !== "Completed") return refused(self, childFailure(outcome)!, usage.tree)
  const { bytes, output } = TaskMessage.report(outcome.answer)
  return bytes > maxReportBytes
    ? refused(self, { _tag: "ReportTooLarge", bytes, maxReportBytes }, usage.tree)
    : done(self, output, undefined, usage.tree, [])
}

/**
 * The branch of a task call whose result an equal call had given before. No run
 * is started, so there is nothing that was used.
 *
 * @category constructors
 * @since 0.1.0
 */
export const known = (self: Task, answer: Json, events?: ReadonlyArray<NewEvent>): Branch => {
  const { maxReportBytes } = self.drive.run.limits
  const { bytes, output } = TaskMessage.report(answer)
  const told = events === undefined ? {} : { events }
  if (bytes <= maxReportBytes) return { _tag: "Done", result: { output, isError: false }, ...told }
  const failure: ChildFailure = { _tag: "ReportTooLarge", bytes, maxReportBytes }
  return action(self.policy, failure) === "fail-run"
    ? { _tag: "Fail", failure: { _tag: "ChildFailed", failure, path: [self.subagent.agent.id] } }
    : { _tag: "Done", result: { output: TaskMessage.failure(failure, maxReportBytes), isError: true }, ...told }
}

/**
 * What equal calls may use of a task call that ended in this branch. The
 * child's row is there until the parent has recorded the result, and says
 * whether it was whole. A report that is too large for this caller alone is
 * whole.
 *
 * @category getters
 * @since 0.1.0
 */
export const kept = ({ call, drive }: Task, branch: Branch): Effect.Effect<Kept | undefined, Lost> => {
  if (branch._tag !== "Done") return Effect.succeed(undefined)
  return Effect.map(drive.runtime.store.load(Ids.childRunId(drive.run.runId, call.key)), (loaded) => {
    if (loaded === undefined) return undefined
    const ended = Result.all([
      OpenRun.place(loaded.row),
      StoredRun.outcome(loaded.row),
      StoredRun.usage(loaded.row)
    ])
    if (Result.isFailure(ended)) return undefined
    const [{ budget }, outcome, usage] = ended.success
    return outcome._tag === "Completed" && statusOf(outcome, usage.own, budget) === "success"
      ? { json: outcome.answer, error: undefined }
      : undefined
  })
}

const failedChild = Effect.fnUntraced(function*(
  self: Task,
  { _tag, failure, ...cause }: Extract<DriveEnd, { readonly _tag: "Failed" }>
): Effect.fn.Return<Branch, Lost> {
  const { drive, policy, subagent } = self
  const known = inherited(subagent.agent.id, failure)
  if (known === undefined) return { _tag: "Fail", failure, ...cause }
  if (action(policy, known.failure) === "fail-run") {
    return { _tag: "Fail", failure: { _tag: "ChildFailed", failure: known.failure, path: known.path } }
  }
  const { runtime } = drive
  const lease = yield* runtime.lease
  const childRunId = Ids.childRunId(drive.run.runId, self.call.key)
  const tree = yield* runtime.store.seize(childRunId, lease)
  if (!isReadonlyArrayNonEmpty(tree)) return yield* closedElsewhere(self, childRunId)
  const top = { outcome: CloseFailed.outcome(known.failure), notRun: CloseFailed.notRun, at: lease.now }
  const planned = yield* Effect.result(TreeClose.plan(runtime.store, tree, top))
  if (Result.isFailure(planned)) {
    if (planned.failure._tag === "StoreError") return yield* planned.failure
    return { _tag: "Fail", failure: CorruptRow.failure(planned.failure) }
  }
  const plan = planned.success
  const close = plan.runs.map(({ fence, ...closed }) => ({ ...closed, runId: fence.runId }))
  return { ...toolError(self, known.failure, plan.usage.tree, plan.events), close }
})

// The child was cancelled from another process after it had failed.
const closedElsewhere = Effect.fnUntraced(function*(self: Task, childRunId: Ids.RunId): Effect.fn.Return<Branch, Lost> {
  const loaded = yield* self.drive.runtime.store.load(childRunId)
  if (loaded === undefined) return yield* new Fenced({ runId: self.drive.run.runId })
  return Result.match(StoredRun.end(loaded.row), {
    onFailure: (row): Branch => ({ _tag: "Fail", failure: CorruptRow.failure(row) }),
    onSuccess: ({ outcome, usage }) => settled(self, outcome, usage)
  })
})

const refused = (self: Task, failure: ChildFailure, usage: Usage.Usage): Branch =>
  action(self.policy, failure) === "fail-run"
    ? { _tag: "Fail", failure: { _tag: "ChildFailed", failure, path: [self.subagent.agent.id] } }
    : toolError(self, failure, usage, [])

const toolError = (self: Task, failure: ChildFailure, usage: Usage.Usage, events: ReadonlyArray<NewEvent>): Done =>
  done(self, TaskMessage.failure(failure, self.drive.run.limits.maxReportBytes), failure, usage, events)

const done = (
  self: Task,
  output: ToolOutput,
  failure: ChildFailure | undefined,
  usage: Usage.Usage,
  events: ReadonlyArray<NewEvent>
): Done => {
  const place = taskPlace(self, self.drive.now())
  return {
    _tag: "Done",
    result: {
      output,
      isError: failure !== undefined,
      child: { subagent: place.subagent, threadId: place.childThreadId, runId: place.childRunId, usage }
    },
    // The run of a posture ends with a pair of its own.
    events: self.posture === undefined
      ? [...events, { ...place, _tag: "TaskSettled", usage, ...(failure === undefined ? {} : { failure }) }]
      : events,
    keepChildren: self.drive.run.limits.childRetention
  }
}

/**
 * Where a task call and its child stand, for events.
 *
 * @category getters
 * @since 0.1.0
 */
export const taskPlace = ({ call, drive, subagent }: Task, at: number) => ({
  ...ActiveRun.origin(drive.run),
  at,
  key: call.key,
  toolCallId: call.part.id,
  subagent: subagent.agent.id as Ids.AgentId,
  childThreadId: Ids.childThreadId(drive.run.runId, call.key),
  childRunId: Ids.childRunId(drive.run.runId, call.key)
})
