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
import type { Branch } from "../loop/Branch.ts"
import type { Drive } from "../loop/Drive.ts"
import * as Journal from "../loop/Journal.ts"
import { request } from "../run/Runnable.ts"
import * as StoredRun from "../run/StoredRun.ts"
import type { DriveEnd } from "../service/RunHost.ts"
import type { LoadedRun } from "../service/RunRow.ts"
import * as Budget from "../values/Budget.ts"
import { action } from "../values/ChildFailure.ts"
import * as Ids from "../values/Ids.ts"
import type { NewEvent } from "../values/RunEvent.ts"
import { inherited } from "../values/RunOutcome.ts"
import * as Usage from "../values/Usage.ts"
import * as Slots from "./Slots.ts"
import { conclude, type Lost, type Task, taskPlace } from "./TaskResult.ts"

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
  if (row.state === "Suspended") return { _tag: "Suspended", usage: noUsage, pending: [] }
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
