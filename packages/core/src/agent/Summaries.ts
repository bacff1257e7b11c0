/**
 * Threads and runs as they are listed.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as PostureCompile from "../delegation/PostureCompile.ts"
import * as OpenRun from "../loop/OpenRun.ts"
import * as StoredRun from "../run/StoredRun.ts"
import type { CorruptRow } from "../service/CorruptRow.ts"
import type { ListedThread, RunRow } from "../service/RunRow.ts"
import type { ParentCall } from "../values/ChildRun.ts"
import type * as Ids from "../values/Ids.ts"
import type { PendingInterrupt } from "../values/Interrupt.ts"
import type { RunState } from "../values/RunOutcome.ts"
import type { RunUsage } from "../values/Usage.ts"

/**
 * A thread with its last run.
 *
 * **Details**
 *
 * - `agentId`: the agent of the run, or the posture where `isPosture`: that is
 *   one that code ran, by `DelegateRuntime`
 * - `state`: a run whose row says a state that there is not is `Unreadable`; it
 *   can only be forgotten
 * - `isHeld`: whether a process holds the thread. A `Running` run of a thread
 *   that nobody holds was interrupted and can be recovered
 * - `startedAt`, `stoppedAt`: when the run was started, and since when it is
 *   suspended, failed or settled, in milliseconds of the Unix epoch
 *
 * @category models
 * @since 0.1.0
 */
export interface ThreadSummary {
  readonly threadId: Ids.ThreadId
  readonly runId: Ids.RunId
  readonly agentId: string
  readonly isPosture: boolean
  readonly state: RunState | "Unreadable"
  readonly isHeld: boolean
  readonly startedAt: number
  readonly stoppedAt?: number
  readonly tenant?: string
}

/**
 * What a thread waits on: one interrupt, and where to answer it.
 *
 * **Details**
 *
 * `threadId` is the one to `resume`, by the agent `agentId`; where `isPosture`
 * that names a posture which code ran, and `DelegateRuntime` resumes it. `run`
 * and `agentPath` name the run that asked, which may be far below.
 *
 * @category models
 * @since 0.1.0
 */
export interface WaitingInterrupt extends PendingInterrupt {
  readonly threadId: Ids.ThreadId
  readonly agentId: string
  readonly isPosture: boolean
  readonly tenant?: string
}

/**
 * A run of a thread, or of what was delegated from it.
 *
 * **Details**
 *
 * `agentId` names its agent, or its posture where `isPosture`. `startedAt` is
 * when it was started, `stoppedAt` since when it is suspended, failed or
 * settled, both in milliseconds of the Unix epoch. `activeMillis` is the time
 * for which it was driven. `outcome` names how a settled run ended, or why a
 * failed one failed. `usage` is there once the run is settled.
 *
 * @category models
 * @since 0.1.0
 */
export interface RunSummary {
  readonly threadId: Ids.ThreadId
  readonly runId: Ids.RunId
  readonly agentId: string
  readonly isPosture: boolean
  readonly depth: number
  readonly state: RunState
  readonly startedAt: number
  readonly stoppedAt?: number
  readonly activeMillis: number
  readonly parentRunId?: Ids.RunId
  readonly call?: ParentCall
  readonly outcome?: string
  readonly usage?: RunUsage
}

/**
 * A thread as it is listed at a time in milliseconds.
 *
 * @category constructors
 * @since 0.1.0
 */
export const ofThread = (thread: ListedThread, now: number): ThreadSummary => {
  const { agentId, expiresAt, holder, runId, shape, startedAt, stoppedAt, tenant, threadId } = thread
  return {
    threadId: threadId as Ids.ThreadId,
    runId: runId as Ids.RunId,
    agentId,
    isPosture: shape === PostureCompile.shape,
    state: Result.getOrElse(OpenRun.state(thread), () => "Unreadable" as const),
    isHeld: holder !== null && expiresAt > now,
    startedAt,
    ...(stoppedAt === null ? {} : { stoppedAt }),
    ...(tenant === "" ? {} : { tenant })
  }
}

/**
 * A run as it is listed. Fails where its row cannot be read.
 *
 * @category constructors
 * @since 0.1.0
 */
export const ofRun = (row: RunRow): Result.Result<RunSummary, CorruptRow> =>
  Result.gen(function*() {
    const state = yield* OpenRun.state(row)
    return {
      threadId: row.threadId as Ids.ThreadId,
      runId: row.runId as Ids.RunId,
      agentId: row.agentId,
      isPosture: row.shape === PostureCompile.shape,
      depth: row.depth,
      state,
      startedAt: row.startedAt,
      ...(row.stoppedAt === null ? {} : { stoppedAt: row.stoppedAt }),
      activeMillis: row.activeMillis,
      ...(row.parentRunId === null ? {} : { parentRunId: row.parentRunId as Ids.RunId }),
      ...(row.callKey === null ? {} : { call: { key: row.callKey as Ids.CallKey, toolCallId: row.toolCallId ?? "" } }),
      ...(state === "Settled"
        ? { outcome: (yield* StoredRun.outcome(row))._tag, usage: yield* StoredRun.usage(row) }
        : {}),
      ...(state === "Failed" ? { outcome: (yield* StoredRun.failure(row))._tag } : {})
    }
  })
