/**
 * Drives runs in this process.
 *
 * **Details**
 *
 * Invariants:
 *
 * 1. A drive that lost its run to a newer epoch is given up for that of whoever
 *    has it now.
 * 2. No run below a closing one starts a drive. Once the host is closed, none
 *    does.
 * 3. What a drive comes out as that is ended from outside is what the store
 *    settled.
 * 4. A deadline has no grace: the tree is taken over and settled at once, its
 *    fibers end in the background. A cancel interrupts leaves first, waits for
 *    them up to the grace, and then settles.
 * 5. A run that is cancelled before its drive has started here does not start:
 *    who asks for its drive hears how the cancel ended it.
 *
 * @since 0.1.0
 */
import * as Deferred from "effect/Deferred"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import type * as Scope from "effect/Scope"
import type { CorruptRow } from "../service/CorruptRow.ts"
import type { RunEvents } from "../service/RunEvents.ts"
import type { DriveEnd, DriveRequest, RunHost } from "../service/RunHost.ts"
import type { LeaseRequest } from "../service/RunRow.ts"
import type { Fenced, RunStore, StoreError } from "../service/RunStore.ts"
import type { Settled } from "../values/RunOutcome.ts"
import * as Usage from "../values/Usage.ts"
import { brokenOff, interruptLeavesFirst, type LiveRun, realTime } from "./LiveRun.ts"
import { LiveRuns } from "./LiveRuns.ts"
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
  const live = new LiveRuns()
  // Runs that are being cancelled and are not driven here.
  const resting = new Map<string, Deferred.Deferred<DriveEnd>>()
  let isClosed = false

  const activeMillis = (runId: string): number | undefined => live.get(runId)?.request.activeMillis()

  const close = (runs: ReadonlyArray<LiveRun>, runId: string, { usage }: TreeClose.Plan, outcome: Settled): void =>
    live.end(runs, (id) => id === runId ? { _tag: "Settled", outcome, usage } : cancelled)

  // Calls that were to start below a closing run wait for good: one that could not be closed does not go on.
  const breakOff = (runs: ReadonlyArray<LiveRun>, runId: string, end: DriveEnd): void =>
    live.end(runs, (id) => id === runId ? end : lost)

  const deadline = (run: LiveRun): Effect.Effect<void> =>
    Effect.uninterruptible(Effect.suspend(() => {
      if (run.isClosing || Deferred.isDoneUnsafe(run.done)) return Effect.void
      const { epoch, runId } = run.request.fence
      const runs = live.treeOf(runId)
      for (const one of runs) one.isClosing = true
      const outcome: Settled = { _tag: "BudgetExceeded", limit: "time" }
      // Where another process has the run by now, the time is that one's to tell.
      return SettleTree.settle(options, runId, { outcome, notRun: "the time budget is used up", activeMillis }, {
        only: epoch,
        held: epoch
      }).pipe(
        Effect.flatMap((plan) => {
          if (plan !== undefined) return Effect.sync(() => close(runs, runId, plan, outcome))
          const isTaken = Effect.map(store.load(runId), (loaded) => (loaded?.row.state ?? "Settled") !== "Settled")
          return Effect.map(isTaken, (taken) => taken ? breakOff(runs, runId, lost) : live.letEnd(runs))
        }),
        Effect.catchCause((cause) =>
          Effect.andThen(
            Effect.logError(`The deadline of the run "${runId}" could not be noted`, cause),
            Effect.sync(() => breakOff(runs, runId, brokenOff(cause)))
          )
        )
      )
    }))

  const giveUp = (runId: string): void => breakOff(live.treeOf(runId), runId, lost)

  const cancel = (runId: string): Effect.Effect<boolean, StoreError | Fenced | CorruptRow> =>
    Effect.uninterruptible(Effect.gen(function*() {
      // A tree that cannot be read as a whole is left to go on.
      yield* TreeClose.check(store, runId)
      const closing = live.get(runId)
      if (closing?.isClosing === true) {
        const end = yield* Deferred.await(closing.done)
        return end._tag === "Settled" || (yield* cancel(runId))
      }
      const runs = live.treeOf(runId)
      for (const run of runs) run.isClosing = true
      const atRest = closing === undefined ? keepAtRest(runId) : undefined
      yield* interruptLeavesFirst(runs, cancelGrace)
      const outcome: Settled = { _tag: "Cancelled" }
      const held = closing?.request.fence.epoch
      const end = { outcome, notRun: "the run was cancelled", activeMillis }
      const plan = yield* Effect.onError(
        SettleTree.insist(options, runId, end, { held }),
        (cause) =>
          Effect.sync(() => {
            breakOff(runs, runId, brokenOff(cause))
            atRest?.(brokenOff(cause))
          })
      )
      if (plan === undefined) live.letEnd(runs)
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
      const done = resting.get(runId) ?? (live.get(runId) ?? live.start(request, deadline)).done
      // A parent that is closing by now is not to go on with what it waited for.
      return Effect.flatMap(
        Deferred.await(done),
        (end) => parent?.isClosing === true ? Effect.never : Effect.succeed(end)
      )
    })

  const shutdown = Effect.suspend(() => {
    isClosed = true
    const { fibers, runs } = live.interruptAll()
    return Effect.andThen(
      Effect.raceFirst(Fiber.awaitAll(fibers), realTime(closeGrace)),
      Effect.sync(() => live.end(runs, () => leftOpen))
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
