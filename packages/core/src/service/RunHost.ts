/**
 * The seam to where runs are driven.
 *
 * @since 0.1.0
 */
import type * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { RunId, ThreadId } from "../values/Ids.ts"
import type { PendingInterrupt } from "../values/Interrupt.ts"
import type { Failure, Settled } from "../values/RunOutcome.ts"
import type { RunUsage } from "../values/Usage.ts"
import type { CorruptRow } from "./CorruptRow.ts"
import type { Fence } from "./RunRow.ts"
import type { Fenced, StoreError } from "./RunStore.ts"

/**
 * How one drive of a run came out.
 *
 * **Details**
 *
 * `Lost`: another holder has the run, or it was closed from outside; this
 * drive wrote nothing more and knows nothing of how the run stands. `isClosed`:
 * no other has taken it; the host was closed and left the run open.
 *
 * `cause` of `Failed` is what was thrown in this process, for the error that
 * the caller gets. It may hold anything and is never stored.
 *
 * @category models
 * @since 0.1.0
 */
export type DriveEnd =
  | { readonly _tag: "Settled"; readonly outcome: Settled; readonly usage: RunUsage }
  | {
    readonly _tag: "Suspended"
    readonly usage: RunUsage
    readonly pending: ReadonlyArray<PendingInterrupt>
  }
  | { readonly _tag: "Failed"; readonly failure: Failure; readonly cause?: unknown }
  | { readonly _tag: "Lost"; readonly isClosed: boolean }

/**
 * A run to drive: its identity, its loop, and what the loop may run for.
 *
 * **Details**
 *
 * `timeLeftMillis` is what the run's time budget leaves, `activeMillis` the
 * active time of the run so far. `context` is all that the loop sees of the
 * world.
 *
 * @category models
 * @since 0.1.0
 */
export interface DriveRequest {
  readonly fence: Fence
  readonly rootThreadId: ThreadId
  readonly parentRunId: RunId | undefined
  readonly timeLeftMillis: number | undefined
  readonly activeMillis: () => number
  readonly context: Context.Context<never>
  readonly loop: Effect.Effect<DriveEnd, Fenced | StoreError>
}

/**
 * Drives runs.
 *
 * @category models
 * @since 0.1.0
 */
export interface RunHost {
  /**
   * Starts to drive a run, or joins the drive that is in progress, and gives
   * the wait for how it comes out. A drive in progress that has an older epoch
   * has lost the run and is given up. Interrupting the wait changes nothing.
   */
  readonly drive: (request: DriveRequest) => Effect.Effect<Effect.Effect<DriveEnd>>

  /** Dies once the host is closed: nothing is to be written for a drive that would not start. */
  readonly ensureOpen: Effect.Effect<void>

  /** Whether a drive of the run is being closed here, so that nothing below it may start. */
  readonly isClosing: (runId: string) => boolean

  /** Whether a drive of the run is in progress here; with an epoch, whether it is one that may still write by it. */
  readonly isLive: (runId: string, epoch?: number) => boolean

  /**
   * Cancels a run and everything below it, wherever it stands: interrupts
   * what is live, leaves first, waits for finalizers up to the grace, and
   * settles every open run of the tree. Gives `false` when none was open.
   * Fails when a run of the tree cannot be read, and then settles none.
   */
  readonly cancel: (runId: string) => Effect.Effect<boolean, StoreError | Fenced | CorruptRow>

  /**
   * Gives up the drives of a run and of everything below it here, after another
   * drive took the run over: interrupts them and leaves the runs as they are.
   */
  readonly abandon: (runId: string) => Effect.Effect<void>
}
