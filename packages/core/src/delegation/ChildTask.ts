/**
 * Runs one delegated task: the child's run, and what its parent makes of it.
 *
 * **Details**
 *
 * Invariants:
 *
 * 1. The child's ids come from the parent's run and the call's key, so a
 *    replayed call finds the child it started.
 * 2. A child that is settled gives its result from its row: no slot, no model.
 * 3. Only the report or the failure crosses to the parent. A failure is a
 *    function of the child's stored outcome and the parent's stored bounds.
 * 4. A failed child that its parent goes on without is closed in the
 *    transaction of the parent's record.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as ActiveRun from "../loop/ActiveRun.ts"
import type { Branch, Done } from "../loop/Branch.ts"
import type { Drive, ToolCall } from "../loop/Drive.ts"
import * as Journal from "../loop/Journal.ts"
import { request } from "../run/Runnable.ts"
import * as StoredRun from "../run/StoredRun.ts"
import * as TreeClose from "../run/TreeClose.ts"
import type { DriveEnd } from "../service/RunHost.ts"
import type { LoadedRun } from "../service/RunRow.ts"
import { Fenced, type StoreError } from "../service/RunStore.ts"
import * as Budget from "../values/Budget.ts"
import { action, type ChildFailure, type ChildFailurePolicy } from "../values/ChildFailure.ts"
import * as Ids from "../values/Ids.ts"
import type { ToolOutput } from "../values/Message.ts"
import type { NewEvent } from "../values/RunEvent.ts"
import { childFailure, type Failure, inherited, type Settled } from "../values/RunOutcome.ts"
import * as Usage from "../values/Usage.ts"
import type { BoundSpec } from "./BoundSpec.ts"
import * as Slots from "./Slots.ts"
import * as TaskMessage from "./TaskMessage.ts"

/**
 * One delegated task.
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
}

type Lost = Fenced | StoreError

/**
 * Runs a delegated task that passed its checks.
 *
 * @category running
 * @since 0.1.0
 */
export const run = (self: Task): Effect.Effect<Branch, Lost> =>
  Effect.flatMap(settledBefore(self), (end) =>
    end === undefined
      ? inSlot(self, Effect.flatMap(child(self), (ended) => conclude(self, ended)))
      : conclude(self, end))

// The slot is free again when the result is recorded, so that a watcher never sees more children than the bound.
const inSlot = (self: Task, work: Effect.Effect<Branch, Lost>): Effect.Effect<Branch, Lost> =>
  Effect.map(
    slotsOf(self.drive).enter(self.call.order, work),
    ({ leave, value }) => ({ ...value, whenRecorded: leave })
  )

// The slots of a run live as long as its drive.
const slots = new WeakMap<Drive, Slots.Slots>()

const slotsOf = (drive: Drive): Slots.Slots => {
  const known = slots.get(drive)
  if (known !== undefined) return known
  const made = Slots.make(drive.run.limits.maxConcurrentChildren)
  slots.set(drive, made)
  return made
}

const starting = ({ call, drive: { run }, subagent, task }: Task): ActiveRun.StartingRun => {
  const depthLeft = run.depthLeft - 1
  return {
    threadId: Ids.childThreadId(run.runId, call.key),
    rootThreadId: run.rootThreadId,
    parentRunId: run.runId,
    call: { key: call.key, toolCallId: call.part.id },
    agentId: subagent.agent.id as Ids.AgentId,
    agentPath: [...run.agentPath, subagent.agent.id],
    shape: subagent.shape,
    depth: run.depth + 1,
    depthLeft: subagent.ownMaxDepth === undefined ? depthLeft : Math.min(depthLeft, subagent.ownMaxDepth),
    limits: subagent.limits,
    // Binding has refused a budget that does not resolve.
    budget: Result.getOrElse(Budget.resolve(subagent.budget, undefined), () => ({})),
    input: task.json,
    prompt: task.prompt,
    ephemeral: false
  }
}

// Only a drive that goes on with a run can meet a child that ended before.
const settledBefore = Effect.fnUntraced(function*(self: Task): Effect.fn.Return<DriveEnd | undefined, Lost> {
  if (!self.drive.isRecovery) return undefined
  const childRunId = Ids.runId(Ids.childThreadId(self.drive.run.runId, self.call.key), 0)
  const loaded = yield* self.drive.runtime.store.load(childRunId)
  return loaded === undefined ? undefined : standing(self, loaded)
})

// How a child that is not to be driven stands; nothing for one that is.
const standing = ({ policy, subagent }: Task, { row }: LoadedRun): DriveEnd | undefined => {
  if (row.state === "Suspended") return { _tag: "Suspended", usage: noUsage }
  if (row.state === "Settled") {
    return Result.match(Result.all([StoredRun.outcome(row), StoredRun.usage(row)]), {
      onSuccess: ([outcome, usage]) => ({ _tag: "Settled", outcome, usage }),
      onFailure: corrupt
    })
  }
  if (row.state === "Running") return undefined
  return Result.match(StoredRun.failure(row), {
    onFailure: corrupt,
    onSuccess: (failure) => {
      const known = inherited(subagent.agent.id, failure)
      return known !== undefined && action(policy, known.failure) === "tool-error"
        ? { _tag: "Failed", failure, usage: noUsage }
        : undefined
    }
  })
}

const corrupt = (detail: StoredRun.Corrupt): DriveEnd => ({
  _tag: "Failed",
  failure: { _tag: "CorruptRun", ...detail },
  usage: noUsage
})

const noUsage: Usage.RunUsage = { own: Usage.zero, tree: Usage.zero }

const child = Effect.fnUntraced(function*(self: Task): Effect.fn.Return<DriveEnd, Lost> {
  const { drive, subagent } = self
  const { runtime } = drive
  // A slot that a closing run gives back may reach a call that is about to be interrupted.
  if (runtime.host.isClosing(drive.run.runId)) return yield* Effect.never
  const fresh = starting(self)
  const started = ActiveRun.started(fresh, Ids.runId(fresh.threadId, 0))
  const lease = yield* runtime.lease
  const events: ReadonlyArray<NewEvent> = [
    { ...taskPlace(self, lease.now), _tag: "TaskStarted" },
    { ...ActiveRun.origin(started), _tag: "RunStarted", at: lease.now }
  ]
  const inserted = yield* runtime.store.create(
    drive.journal.fence,
    ActiveRun.toRow(fresh),
    lease,
    Journal.encode(events)
  )
  const loaded = inserted.run
  if (inserted.created) {
    runtime.events.publish(fresh.rootThreadId, Journal.numbered(events, inserted.sequence))
    return yield* driven(self, { run: started, records: Journal.empty() }, loaded.epoch, 0)
  }
  const end = standing(self, loaded)
  if (end !== undefined) return end
  const open = StoredRun.open(loaded)
  if (Result.isFailure(open)) return corrupt(open.failure)
  if (loaded.row.state === "Failed") {
    yield* runtime.store.reopen(ActiveRun.fence(open.success.run, loaded.epoch), [])
  }
  const activeMillis = StoredRun.activeMillis(loaded.row, open.success.records)
  return subagent.shape === loaded.row.shape
    ? yield* driven(self, open.success, loaded.epoch, activeMillis)
    : corrupt({
      threadId: fresh.threadId,
      runId: started.runId,
      detail: `it was started by another shape of "${subagent.agent.id}"`
    })
})

const driven = ({ drive, subagent }: Task, open: StoredRun.OpenRun, epoch: number, activeMillis: number) =>
  Effect.flatten(Effect.flatMap(
    request(drive.runtime, subagent.agent, {
      ...open,
      epoch,
      earlier: [],
      activeMillis,
      streaming: drive.streaming,
      isRecovery: open.records.steps.size > 0
    }),
    drive.runtime.host.drive
  ))

const conclude = (self: Task, end: DriveEnd): Effect.Effect<Branch, Lost> => {
  switch (end._tag) {
    case "Lost":
      return Effect.fail(new Fenced({ runId: self.drive.run.runId }))
    case "Suspended":
      return Effect.succeed({ _tag: "Waiting" })
    case "Settled":
      return Effect.succeed(settled(self, end.outcome, end.usage))
    case "Failed":
      return failedChild(self, end.failure)
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

const failedChild = Effect.fnUntraced(function*(self: Task, failure: Failure): Effect.fn.Return<Branch, Lost> {
  const { drive, policy, subagent } = self
  const known = inherited(subagent.agent.id, failure)
  if (known === undefined) return { _tag: "Fail", failure }
  if (action(policy, known.failure) === "fail-run") {
    return { _tag: "Fail", failure: { _tag: "ChildFailed", failure: known.failure, path: known.path } }
  }
  const { runtime } = drive
  const lease = yield* runtime.lease
  const childRunId = Ids.runId(Ids.childThreadId(drive.run.runId, self.call.key), 0)
  const tree = yield* runtime.store.seize(childRunId, lease)
  const top = { outcome: closedAs(known.failure), notRun: "the run was closed after a failure", at: lease.now }
  const planned = yield* TreeClose.plan(runtime.store, tree, top)
  if (Result.isFailure(planned)) return { _tag: "Fail", failure: { _tag: "CorruptRun", ...planned.failure } }
  const plan = planned.success
  const close = plan.runs.map(({ fence, settlement }) => ({ runId: fence.runId, settlement }))
  return { ...toolError(self, known.failure, plan.usage.tree, plan.events), close }
})

// A failure that passed through levels below is the child's own end, whatever level it began at.
const closedAs = (failure: ChildFailure): Settled =>
  failure._tag === "ModelFailed" || failure._tag === "ToolFatal" ? failure : { _tag: "Cancelled" }

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
    events: [...events, { ...place, _tag: "TaskSettled", usage, ...(failure === undefined ? {} : { failure }) }],
    keepChildren: self.drive.run.limits.childRetention
  }
}

const taskPlace = ({ call, drive, subagent }: Task, at: number) => {
  const childThreadId = Ids.childThreadId(drive.run.runId, call.key)
  return {
    ...ActiveRun.origin(drive.run),
    at,
    key: call.key,
    toolCallId: call.part.id,
    subagent: subagent.agent.id as Ids.AgentId,
    childThreadId,
    childRunId: Ids.runId(childThreadId, 0)
  }
}
