/**
 * A run while it is driven in this process, and how its fiber comes to an end.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import type * as Context from "effect/Context"
import type * as Deferred from "effect/Deferred"
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import { CorruptRow, failure as corruptFailure } from "../service/CorruptRow.ts"
import type { DriveEnd, DriveRequest } from "../service/RunHost.ts"
import { Fenced, StoreError } from "../service/RunStore.ts"
import * as StoreFailure from "../service/StoreFailure.ts"
import type { Failure } from "../values/RunOutcome.ts"

/**
 * A run while it is driven.
 *
 * **Details**
 *
 * `isClosing`: the drive is being ended from outside, and what it comes out as
 * is for that to say.
 *
 * @category models
 * @since 0.1.0
 */
export interface LiveRun {
  readonly request: DriveRequest
  readonly done: Deferred.Deferred<DriveEnd>
  fiber: Fiber.Fiber<DriveEnd, Fenced | StoreError> | undefined
  timer: Fiber.Fiber<unknown, unknown> | undefined
  isClosing: boolean
}

/**
 * How a drive came out, by how its fiber ended.
 *
 * @category getters
 * @since 0.1.0
 */
export const endOf = (exit: Exit.Exit<DriveEnd, Fenced | StoreError>): DriveEnd =>
  exit._tag === "Success" ? exit.value : brokenOff(exit.cause)

/**
 * How a drive came out that something has ended which it could not note.
 *
 * @category getters
 * @since 0.1.0
 */
export const brokenOff = (cause: Cause.Cause<Fenced | StoreError | CorruptRow>): DriveEnd => {
  const failed = (failure: Failure): DriveEnd => ({ _tag: "Failed", failure })
  const error = Option.getOrUndefined(Cause.findErrorOption(cause))
  if (error instanceof StoreError) return failed(StoreFailure.of(error))
  if (error instanceof CorruptRow) return failed(corruptFailure(error))
  return error === undefined && Cause.hasDies(cause)
    ? { _tag: "Failed", failure: { _tag: "Defect", where: "the run store" }, cause: Cause.squash(cause) }
    : { _tag: "Lost", isClosed: false }
}

/**
 * Logs what outlives its run and fails then; that is worth a line and no more.
 *
 * @category running
 * @since 0.1.0
 */
export const reportLate = (run: LiveRun, exit: Exit.Exit<unknown, unknown>): void => {
  if (exit._tag === "Success" || Cause.hasInterruptsOnly(exit.cause)) return
  if (Cause.findErrorOption(exit.cause).pipe(Option.exists((error) => error instanceof Fenced))) return
  Effect.runForkWith(run.request.context)(
    Effect.logWarning(`Work of the settled run "${run.request.fence.runId}" failed late`, exit.cause)
  )
}

/**
 * Interrupts runs and waits for them up to a grace, each as soon as what it has
 * below it has ended, so that none goes on while others end.
 *
 * @category running
 * @since 0.1.0
 */
export const interruptLeavesFirst = (runs: ReadonlyArray<LiveRun>, grace: Duration.Duration): Effect.Effect<void> =>
  Effect.contextWith((context: Context.Context<never>) => {
    const interrupt = (run: LiveRun): Effect.Effect<void> =>
      Effect.andThen(
        Effect.forEach(
          runs.filter((other) => other.request.parentRunId === run.request.fence.runId),
          interrupt,
          { concurrency: "unbounded", discard: true }
        ),
        Effect.suspend(() => run.fiber === undefined ? Effect.void : Fiber.interrupt(run.fiber))
      )
    const tops = runs.filter((run) => !runs.some((other) => other.request.fence.runId === run.request.parentRunId))
    const all = Effect.forEach(tops, interrupt, { concurrency: "unbounded", discard: true })
    // Who cancels may be interrupted itself; the wait has a fiber of its own, which the grace ends.
    return Effect.asVoid(Fiber.await(Effect.runForkWith(context)(Effect.timeoutOption(all, grace))))
  })

/**
 * Waits by the machine's clock, whatever clock the runtime has.
 *
 * @category running
 * @since 0.1.0
 */
export const realTime = (duration: Duration.Duration): Effect.Effect<void> =>
  Effect.callback((resume) => {
    const timer = setTimeout(() => resume(Effect.void), Duration.toMillis(duration))
    return Effect.sync(() => clearTimeout(timer))
  })
