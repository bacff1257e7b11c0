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
import * as Announce from "../loop/Announce.ts"
import type { Branch } from "../loop/Branch.ts"
import type { Drive } from "../loop/Drive.ts"
import * as Journal from "../loop/Journal.ts"
import * as OpenRun from "../loop/OpenRun.ts"
import * as Pending from "../loop/Pending.ts"
import * as Shape from "../loop/Shape.ts"
import * as Slots from "../loop/Slots.ts"
import { bindingOf, request } from "../run/Runnable.ts"
import * as StoredRun from "../run/StoredRun.ts"
import * as CorruptRow from "../service/CorruptRow.ts"
import type { DriveEnd } from "../service/RunHost.ts"
import type { LoadedRun, RunRow } from "../service/RunRow.ts"
import type { StoreError } from "../service/RunStore.ts"
import * as Budget from "../values/Budget.ts"
import { action } from "../values/ChildFailure.ts"
import * as Ids from "../values/Ids.ts"
import type { RunBinding } from "../values/RunBinding.ts"
import type { NewEvent } from "../values/RunEvent.ts"
import { inherited } from "../values/RunOutcome.ts"
import * as Usage from "../values/Usage.ts"
import * as TaskMessage from "./TaskMessage.ts"
import { conclude, type Lost, type Task, taskPlace } from "./TaskResult.ts"

/**
 * Runs a delegated task that passed its checks.
 *
 * @category running
 * @since 0.1.0
 */
export const run = (self: Task): Effect.Effect<Branch, Lost> =>
  Effect.flatMap(self.drive.isRecovery ? before(self) : notThere, ({ end, isThere }) => {
    if (end !== undefined) return conclude(self, end)
    if (!isThere && self.drive.meter?.takeChild() === false) return Effect.succeed(outOfChildRuns(self))
    const { entered } = self
    const work = entered === undefined ? child(self) : Effect.andThen(Effect.sync(entered), child(self))
    return inSlot(self, Effect.flatMap(work, (ended) => conclude(self, ended)))
  })

const outOfChildRuns = ({ drive: { meter, run } }: Task): Branch => ({
  _tag: "Done",
  result: {
    output: TaskMessage.error(
      "TreeBudgetExceeded",
      `All runs together may start ${meter?.budget.maxChildRuns ?? 0} child runs, and have`,
      run.limits.maxReportBytes
    ),
    isError: true
  }
})

// The slot is free again when the result is recorded, so that a watcher never sees more children than the bound.
const inSlot = (self: Task, work: Effect.Effect<Branch, Lost>): Effect.Effect<Branch, Lost> =>
  Effect.map(slotsOf(self.drive).enter(self.call.order, work), ({ leave, value }) => {
    self.call.whenEnded.push(leave)
    return value
  })

// The slots of a run live as long as its drive.
const slots = new WeakMap<Drive, Slots.Slots>()

const slotsOf = (drive: Drive): Slots.Slots => {
  const known = slots.get(drive)
  if (known !== undefined) return known
  const made = Slots.make(drive.run.limits.maxConcurrentChildren)
  slots.set(drive, made)
  return made
}

/**
 * The child's run as it would start.
 *
 * @category constructors
 * @since 0.1.0
 */
export const starting = (
  { call, context, drive: { run }, posture, subagent, task }: Task,
  binding: RunBinding | undefined
): ActiveRun.StartingRun => {
  const depthLeft = posture?.depthLeft ?? run.depthLeft - 1
  return {
    tenant: run.tenant,
    threadId: Ids.childThreadId(run.runId, call.key),
    rootThreadId: run.rootThreadId,
    parentRunId: run.runId,
    call: { key: call.key, toolCallId: call.part.id },
    agentId: subagent.agent.id as Ids.AgentId,
    agentPath: [...run.agentPath, subagent.agent.id],
    shape: subagent.shape.text,
    depth: run.depth + 1,
    depthLeft: subagent.ownMaxDepth === undefined ? depthLeft : Math.min(depthLeft, subagent.ownMaxDepth),
    limits: subagent.limits,
    binding: posture?.binding ?? binding,
    // Binding has refused a budget that does not resolve.
    budget: posture?.budget ?? Result.getOrElse(Budget.resolve(subagent.budget, undefined), () => ({})),
    input: task.json,
    prompt: task.prompt,
    ...(context === undefined ? {} : { context }),
    ephemeral: false
  }
}

const notThere: Effect.Effect<Before> = Effect.succeed({ isThere: false, end: undefined })

interface Before {
  readonly isThere: boolean
  readonly end: DriveEnd | undefined
}

// Only a drive that goes on with a run can meet a child that is there already.
const before = Effect.fnUntraced(function*(self: Task): Effect.fn.Return<Before, Lost> {
  const loaded = yield* stored(self)
  return { isThere: loaded !== undefined, end: loaded === undefined ? undefined : yield* standing(self, loaded) }
})

const stored = ({ call, drive }: Task): Effect.Effect<LoadedRun | undefined, Lost> =>
  drive.runtime.store.load(Ids.childRunId(drive.run.runId, call.key))

// How a child that is not to be driven stands; nothing for one that is.
const standing = (self: Task, loaded: LoadedRun): Effect.Effect<DriveEnd | undefined, StoreError> => {
  const { row } = loaded
  const state = OpenRun.state(row)
  if (Result.isFailure(state)) return Effect.succeed(corrupt(state.failure))
  switch (state.success) {
    case "Running":
      return Effect.succeed(undefined)
    case "Suspended":
      // One that has not heard yet that a child of its own was cancelled, or has such a one below it, goes on.
      return Pending.of(self.drive.runtime.store, row.runId).pipe(
        Effect.map(({ canGoOn }): DriveEnd | undefined => canGoOn ? undefined : waiting),
        Effect.catchTag("CorruptRow", (found) => Effect.succeed(corrupt(found)))
      )
    case "Settled":
      return Effect.succeed(settled(row))
    case "Failed":
      return Effect.succeed(failed(self, row))
  }
}

const settled = (row: RunRow): DriveEnd => Result.getOrElse(StoredRun.end(row), corrupt)

const failed = ({ policy, subagent }: Task, row: RunRow): DriveEnd | undefined =>
  Result.match(StoredRun.failure(row), {
    onFailure: corrupt,
    onSuccess: (failure) => {
      const known = inherited(subagent.agent.id, failure)
      return known !== undefined && action(policy, known.failure) === "tool-error"
        ? { _tag: "Failed", failure }
        : undefined
    }
  })

const corrupt = (row: CorruptRow.CorruptRow): DriveEnd => ({ _tag: "Failed", failure: CorruptRow.failure(row) })

const waiting: DriveEnd = { _tag: "Suspended", usage: Usage.zeroRun, pending: [] }

const child = Effect.fnUntraced(function*(self: Task): Effect.fn.Return<DriveEnd, Lost> {
  const { drive, subagent } = self
  const { runtime } = drive
  // A slot that a closing run gives back may reach a call that is about to be interrupted.
  if (runtime.host.isClosing(drive.run.runId)) return yield* Effect.never
  const fresh = starting(self, self.posture === undefined ? yield* bindingOf(subagent) : undefined)
  const started = ActiveRun.started(fresh, Ids.runId(fresh.threadId, 0))
  const lease = yield* runtime.lease
  const events: ReadonlyArray<NewEvent> = [
    ...(self.posture === undefined ? [{ ...taskPlace(self, lease.now), _tag: "TaskStarted" as const }] : []),
    ...Announce.started(started, lease.now)
  ]
  const inserted = yield* runtime.store.create(
    drive.journal.fence,
    ActiveRun.toRow(fresh, lease.now),
    lease,
    Journal.encode(events)
  )
  const loaded = inserted.run
  if (inserted.created) {
    if (runtime.events.isWatched(fresh.rootThreadId)) {
      runtime.events.publish(fresh.rootThreadId, Journal.numbered(events, inserted.sequence))
    }
    return yield* driven(
      self,
      { run: started, records: Journal.empty() },
      { epoch: loaded.epoch, leasedAt: lease.now },
      0
    )
  }
  const end = yield* standing(self, loaded)
  if (end !== undefined) return end
  const open = OpenRun.decode(loaded)
  if (Result.isFailure(open)) return corrupt(open.failure)
  const { state } = loaded.row
  if (state !== "Running") yield* reopen(self, open.success.run, loaded.epoch, state === "Suspended")
  const activeMillis = StoredRun.activeMillis(loaded.row, open.success.records)
  return Shape.matches(loaded.row.shape, subagent.shape)
    ? yield* driven(self, open.success, { epoch: loaded.epoch, leasedAt: lease.now }, activeMillis)
    : corrupt(CorruptRow.of(started, `it was started by another shape of "${subagent.agent.id}"`))
})

const reopen = Effect.fnUntraced(function*(
  { drive: { now, runtime } }: Task,
  run: ActiveRun.ActiveRun,
  epoch: number,
  isResumed: boolean
): Effect.fn.Return<void, Lost> {
  const events: ReadonlyArray<NewEvent> = [{
    ...ActiveRun.origin(run),
    _tag: isResumed ? "RunResumed" : "RunRecovered",
    at: now()
  }]
  const sequence = yield* runtime.store.reopen(ActiveRun.fence(run, epoch), Journal.encode(events))
  runtime.events.publish(run.rootThreadId, Journal.numbered(events, sequence))
})

const driven = Effect.fnUntraced(function*(
  self: Task,
  open: OpenRun.OpenRun,
  lease: { readonly epoch: number; readonly leasedAt: number },
  activeMillis: number
): Effect.fn.Return<DriveEnd, Lost> {
  const { drive, subagent } = self
  const wait = yield* Effect.flatMap(
    request(drive.runtime, subagent, {
      ...open,
      ...lease,
      earlier: [],
      activeMillis,
      meter: drive.meter,
      streaming: drive.streaming,
      isRecovery: open.records.steps.size > 0
    }),
    drive.runtime.host.drive
  )
  const end = yield* wait
  if (end._tag !== "Lost") return end
  // A child that another process has cancelled ended alone; one that was taken over goes with its parent.
  const loaded = yield* stored(self)
  return loaded?.row.state === "Settled" ? settled(loaded.row) : end
})
