/**
 * The runs that are driven in this process.
 *
 * **Details**
 *
 * Invariants:
 *
 * 1. A run has at most one drive here at a time.
 * 2. Who waits for a drive waits for a deferred, never for a fiber: a drive
 *    that cannot be interrupted keeps nobody waiting.
 * 3. A closing drive tells nobody how its fiber ended. What it comes out as is
 *    for whoever closes it to say.
 *
 * @since 0.1.0
 */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import type * as Fiber from "effect/Fiber"
import type { DriveEnd, DriveRequest } from "../service/RunHost.ts"
import type { Fenced, StoreError } from "../service/RunStore.ts"
import { endOf, type LiveRun, reportLate } from "./LiveRun.ts"

/**
 * The drives that are in progress, by the ids of their runs.
 *
 * @category models
 * @since 0.1.0
 */
export class LiveRuns {
  readonly #runs = new Map<string, LiveRun>()
  // Fibers of settled runs that have not ended yet.
  readonly #lingering = new Set<Fiber.Fiber<unknown, unknown>>()

  /** The drive of a run. */
  get(runId: string): LiveRun | undefined {
    return this.#runs.get(runId)
  }

  /** The drives of a run and of all that is below it, its own first. */
  treeOf(runId: string): ReadonlyArray<LiveRun> {
    const top = this.#runs.get(runId)
    const below = [...this.#runs.values()].filter((run) => run.request.parentRunId === runId)
    return [...(top === undefined ? [] : [top]), ...below.flatMap((run) => this.treeOf(run.request.fence.runId))]
  }

  /** Starts a drive. `deadline` runs once its time is used up. */
  start(request: DriveRequest, deadline: (run: LiveRun) => Effect.Effect<void>): LiveRun {
    const run: LiveRun = { request, done: Deferred.makeUnsafe(), fiber: undefined, timer: undefined, isClosing: false }
    this.#runs.set(request.fence.runId, run)
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
    fiber.addObserver((exit) => this.#ended(run, exit))
    return run
  }

  /**
   * Ends drives from outside, each as `how` says of its run. Their fibers are
   * interrupted, and end in the background.
   */
  end(runs: ReadonlyArray<LiveRun>, how: (runId: string) => DriveEnd): void {
    for (const run of runs) {
      run.isClosing = true
      this.#interruptInBackground(run)
      this.#finish(run, how(run.request.fence.runId))
    }
  }

  /** Lets drives that were closing end by themselves, as they have by now or are about to. */
  letEnd(runs: ReadonlyArray<LiveRun>): void {
    for (const run of runs) {
      run.isClosing = false
      const exit = run.fiber?.pollUnsafe()
      if (exit !== undefined) this.#ended(run, exit)
    }
  }

  /** Interrupts all drives, and gives them with the fibers that have not ended yet. */
  interruptAll(): { readonly runs: ReadonlyArray<LiveRun>; readonly fibers: Iterable<Fiber.Fiber<unknown, unknown>> } {
    const runs = [...this.#runs.values()]
    for (const run of runs) {
      run.isClosing = true
      run.timer?.interruptUnsafe()
      run.fiber?.interruptUnsafe()
    }
    return { runs, fibers: [...runs.flatMap((run) => run.fiber ?? []), ...this.#lingering] }
  }

  #ended(run: LiveRun, exit: Exit.Exit<DriveEnd, Fenced | StoreError>): void {
    this.#lingering.delete(run.fiber!)
    run.timer?.interruptUnsafe()
    if (run.isClosing) return reportLate(run, exit)
    this.#finish(run, endOf(exit))
  }

  #finish(run: LiveRun, end: DriveEnd): void {
    if (this.#runs.get(run.request.fence.runId) === run) this.#runs.delete(run.request.fence.runId)
    Deferred.doneUnsafe(run.done, Effect.succeed(end))
  }

  #interruptInBackground({ fiber, timer }: LiveRun): void {
    timer?.interruptUnsafe()
    if (fiber === undefined || fiber.pollUnsafe() !== undefined) return
    this.#lingering.add(fiber)
    fiber.interruptUnsafe()
  }
}
