/**
 * Drives runs in this process.
 *
 * **Details**
 *
 * Invariants:
 *
 * 1. A run has at most one drive here at a time. One that lost the run to a
 *    newer epoch is given up for that of whoever has it now.
 * 2. Who waits for a drive waits for a deferred, never for a fiber: a drive
 *    that cannot be interrupted keeps nobody waiting.
 * 3. A closing drive tells nobody how its fiber ended. What it comes out as is
 *    what the close settled.
 * 4. No run below a closing one starts a drive.
 * 5. A deadline has no grace: the tree is taken over and settled at once, its
 *    fibers end in the background. A cancel interrupts leaves first, waits for
 *    them up to the grace, and then settles.
 * 6. A run that is cancelled before its drive has started here does not start:
 *    who asks for its drive hears how the cancel ended it.
 * 7. Once the host is closed, no drive starts.
 *
 * @since 0.1.0
 */
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import type { CorruptRow } from "../service/CorruptRow.ts"
import type { RunEvents } from "../service/RunEvents.ts"
import type { DriveEnd, DriveRequest, RunHost } from "../service/RunHost.ts"
import type { LeaseRequest } from "../service/RunRow.ts"
import type { Fenced, RunStore, StoreError } from "../service/RunStore.ts"
import type { Settled } from "../values/RunOutcome.ts"
import * as Usage from "../values/Usage.ts"
import { brokenOff, endOf, interruptLeavesFirst, type LiveRun, realTime, reportLate } from "./LiveRun.ts"
import * as SettleTree from "./SettleTree.ts"
import * as TreeClose from "./TreeClose.ts"

/**
 * Creates a host that drives runs until its scope closes. Closing it interrupts
 * what it drives, waits for finalizers up to `closeGrace` of real time, and
 * leaves those runs open.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (options: {
  readonly store: RunStore["Service"]
  readonly events: RunEvents
  readonly lease: Effect.Effect<LeaseRequest>
  readonly cancelGrace: Duration.Duration
  readonly closeGrace: Duration.Duration
}): Effect.Effect<RunHost, never, Scope.Scope> => {
  const { cancelGrace, closeGrace, store } = options
  const live = new Map<string, LiveRun>()
  // Runs that are being cancelled and are not driven here.
  const resting = new Map<string, Deferred.Deferred<DriveEnd>>()
  // Fibers of settled runs that have not ended yet.
  const lingering = new Set<Fiber.Fiber<unknown, unknown>>()
  let isClosed = false

  const start = (request: DriveRequest): LiveRun => {
    const run: LiveRun = { request, done: Deferred.makeUnsafe(), fiber: undefined, timer: undefined, isClosing: false }
    live.set(request.fence.runId, run)
    const { timeLeftMillis } = request
    if (timeLeftMillis !== undefined) {
      run.timer = Effect.runForkWith(request.context)(
        Effect.andThen(Effect.sleep(Math.max(0, timeLeftMillis)), deadline(run))
      )
    }
    if (run.isClosing) return run
    const fiber = Effect.runForkWith(request.context)(
      // What a run does first may be what cancels it: its fiber is known by then.
      Effect.withFiber((self: Fiber.Fiber<unknown, unknown>) => {
        run.fiber = self as typeof fiber
        return request.loop
      })
    )
    fiber.addObserver((exit) => ended(run, exit))
    return run
  }

  const ended = (run: LiveRun, exit: Exit.Exit<DriveEnd, Fenced | StoreError>): void => {
    lingering.delete(run.fiber!)
    run.timer?.interruptUnsafe()
    if (run.isClosing) return reportLate(run, exit)
    finish(run, endOf(exit))
  }

  const finish = (run: LiveRun, end: DriveEnd): void => {
    if (live.get(run.request.fence.runId) === run) live.delete(run.request.fence.runId)
    Deferred.doneUnsafe(run.done, Effect.succeed(end))
  }

  const interruptInBackground = ({ fiber, timer }: LiveRun): void => {
    timer?.interruptUnsafe()
    if (fiber === undefined || fiber.pollUnsafe() !== undefined) return
    lingering.add(fiber)
    fiber.interruptUnsafe()
  }

  const treeOf = (runId: string): ReadonlyArray<LiveRun> => {
    const top = live.get(runId)
    const below = [...live.values()].filter((run) => run.request.parentRunId === runId)
    return [...(top === undefined ? [] : [top]), ...below.flatMap((run) => treeOf(run.request.fence.runId))]
  }

  const close = (runs: ReadonlyArray<LiveRun>, runId: string, plan: TreeClose.Plan, outcome: Settled): void =>
    endAll(runs, runId, { _tag: "Settled", outcome, usage: plan.usage }, cancelled)

  // Calls that were to start below a closing run wait for good: one that could not be closed does not go on.
  const breakOff = (runs: ReadonlyArray<LiveRun>, runId: string, end: DriveEnd): void => endAll(runs, runId, end, lost)

  const endAll = (runs: ReadonlyArray<LiveRun>, runId: string, top: DriveEnd, below: DriveEnd): void => {
    for (const run of runs) {
      run.isClosing = true
      interruptInBackground(run)
      finish(run, run.request.fence.runId === runId ? top : below)
    }
  }

  // There was nothing to close: the run has ended, or is about to end, by itself.
  const letEnd = (runs: ReadonlyArray<LiveRun>): void => {
    for (const run of runs) {
      run.isClosing = false
      const exit = run.fiber?.pollUnsafe()
      if (exit !== undefined) ended(run, exit)
    }
  }

  const deadline = (run: LiveRun): Effect.Effect<void> =>
    Effect.uninterruptible(Effect.suspend(() => {
      if (run.isClosing || Deferred.isDoneUnsafe(run.done)) return Effect.void
      const { epoch, runId } = run.request.fence
      const runs = treeOf(runId)
      for (const one of runs) one.isClosing = true
      const outcome: Settled = { _tag: "BudgetExceeded", limit: "time" }
      // Where another process has the run by now, the time is that one's to tell.
      return SettleTree.settle(options, runId, { outcome, notRun: "the time budget is used up" }, {
        only: epoch,
        held: epoch
      }).pipe(
        Effect.flatMap((plan) => {
          if (plan !== undefined) return Effect.sync(() => close(runs, runId, plan, outcome))
          const isTaken = Effect.map(store.load(runId), (loaded) => (loaded?.row.state ?? "Settled") !== "Settled")
          return Effect.map(isTaken, (taken) => taken ? breakOff(runs, runId, lost) : letEnd(runs))
        }),
        Effect.catchCause((cause) =>
          Effect.andThen(
            Effect.logError(`The deadline of the run "${runId}" could not be noted`, cause),
            Effect.sync(() => breakOff(runs, runId, brokenOff(cause)))
          )
        )
      )
    }))

  const giveUp = (runId: string): void => breakOff(treeOf(runId), runId, lost)

  const cancel = (runId: string): Effect.Effect<boolean, StoreError | Fenced | CorruptRow> =>
    Effect.uninterruptible(Effect.gen(function*() {
      // A tree that cannot be read as a whole is left to go on.
      yield* TreeClose.check(store, runId)
      const closing = live.get(runId)
      if (closing?.isClosing === true) {
        const end = yield* Deferred.await(closing.done)
        return end._tag === "Settled" || (yield* cancel(runId))
      }
      const runs = treeOf(runId)
      for (const run of runs) run.isClosing = true
      const atRest = closing === undefined ? keepAtRest(runId) : undefined
      yield* interruptLeavesFirst(runs, cancelGrace)
      const outcome: Settled = { _tag: "Cancelled" }
      const held = closing?.request.fence.epoch
      const settle = SettleTree.settle(options, runId, { outcome, notRun: "the run was cancelled" }, { held })
      const plan = yield* Effect.onError(
        // A parent that goes on may have taken its child's lease meanwhile; the child waits here and takes none again.
        Effect.catchTag(settle, "Fenced", () => settle),
        (cause) =>
          Effect.sync(() => {
            breakOff(runs, runId, brokenOff(cause))
            atRest?.(brokenOff(cause))
          })
      )
      if (plan === undefined) letEnd(runs)
      else close(runs, runId, plan, outcome)
      atRest?.(plan === undefined ? lost : { _tag: "Settled", outcome, usage: plan.usage })
      return plan !== undefined
    }))

  const keepAtRest = (runId: string): (end: DriveEnd) => void => {
    const done = resting.get(runId) ?? Deferred.makeUnsafe<DriveEnd>()
    resting.set(runId, done)
    return (end) => {
      resting.delete(runId)
      Deferred.doneUnsafe(done, Effect.succeed(end))
    }
  }

  const drive = (request: DriveRequest): Effect.Effect<Effect.Effect<DriveEnd>> =>
    Effect.sync(() => {
      if (isClosed) return Effect.succeed(leftOpen)
      const parent = request.parentRunId === undefined ? undefined : live.get(request.parentRunId)
      // A parent that is not live has been closed, and its fibers are about to end.
      if (request.parentRunId !== undefined && parent?.isClosing !== false) return Effect.never
      const { epoch, runId } = request.fence
      const known = live.get(runId)
      if (known !== undefined && !known.isClosing && known.request.fence.epoch < epoch) giveUp(runId)
      const done = resting.get(runId) ?? (live.get(runId) ?? start(request)).done
      // A parent that is closing by now is not to go on with what it waited for.
      return Effect.flatMap(
        Deferred.await(done),
        (end) => parent?.isClosing === true ? Effect.never : Effect.succeed(end)
      )
    })

  const shutdown = Effect.suspend(() => {
    isClosed = true
    const runs = [...live.values()]
    for (const run of runs) {
      run.isClosing = true
      run.timer?.interruptUnsafe()
      run.fiber?.interruptUnsafe()
    }
    const fibers = [...runs.flatMap((run) => run.fiber ?? []), ...lingering]
    return Effect.andThen(
      Effect.raceFirst(Fiber.awaitAll(fibers), realTime(closeGrace)),
      Effect.sync(() => runs.forEach((run) => finish(run, leftOpen)))
    )
  })

  return Effect.acquireRelease(
    Effect.succeed<RunHost>({
      drive,
      cancel,
      ensureOpen: Effect.suspend(() => isClosed ? Effect.die(new Error(closed)) : Effect.void),
      abandon: (runId) => Effect.sync(() => giveUp(runId)),
      isClosing: (runId) => live.get(runId)?.isClosing === true,
      isLive: (runId, epoch) => {
        const known = live.get(runId)
        return known !== undefined && (epoch === undefined || known.request.fence.epoch >= epoch)
      }
    }),
    () => shutdown
  )
}

// The likely reason is a layer that was provided to `build` and not to what runs the agent.
const closed =
  "The runtime is closed: provide the layer of Mandate around what runs agents, not only around what builds them"

const lost: DriveEnd = { _tag: "Lost", isClosed: false }
const leftOpen: DriveEnd = { _tag: "Lost", isClosed: true }
const cancelled: DriveEnd = { _tag: "Settled", outcome: { _tag: "Cancelled" }, usage: Usage.zeroRun }
