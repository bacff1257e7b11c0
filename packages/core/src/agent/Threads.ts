/**
 * Threads and runs as the store has them, whatever agents they are of.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as OpenRun from "../loop/OpenRun.ts"
import * as Pending from "../loop/Pending.ts"
import * as RunFailure from "../run/RunFailure.ts"
import * as StoredRun from "../run/StoredRun.ts"
import type { CorruptRow } from "../service/CorruptRow.ts"
import { Mandate } from "../service/Mandate.ts"
import type { ListedThread, RunRow } from "../service/RunRow.ts"
import * as Bound from "../values/Bound.ts"
import type { ParentCall } from "../values/ChildRun.ts"
import * as Ids from "../values/Ids.ts"
import type { PendingInterrupt } from "../values/Interrupt.ts"
import type { RunError } from "../values/RunError.ts"
import type { RunState } from "../values/RunOutcome.ts"
import type { RunUsage } from "../values/Usage.ts"

/**
 * Which threads to list. All fields narrow; absent ones do not.
 *
 * **Details**
 *
 * - `states`: those whose last run is in one of these states
 * - `agentId`: those whose last run is of this agent
 * - `tenant`: those of this tenant
 * - `stoppedBefore`: those whose last run is suspended, failed or settled, since
 *   before that time in milliseconds of the Unix epoch
 * - `after`: those whose id is greater, by code units: the last of the page
 *   before
 * - `limit` (100): how many at most, up to 1000
 *
 * @category models
 * @since 0.1.0
 */
export interface ThreadFilter {
  readonly states?: ReadonlyArray<RunState>
  readonly agentId?: string
  readonly tenant?: string
  readonly stoppedBefore?: number
  readonly after?: string
  readonly limit?: number
}

/**
 * A thread with its last run.
 *
 * **Details**
 *
 * `isHeld` tells whether a process holds the thread. A `Running` run of a
 * thread that nobody holds was interrupted and can be recovered. A run whose
 * row says a state that there is not is `Unreadable`; it can only be forgotten.
 * `startedAt` is when the run was started, `stoppedAt` since when it is
 * suspended, failed or settled, both in milliseconds of the Unix epoch.
 *
 * @category models
 * @since 0.1.0
 */
export interface ThreadSummary {
  readonly threadId: Ids.ThreadId
  readonly runId: Ids.RunId
  readonly agentId: string
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
 * `threadId` is the one to `resume`, by the agent `agentId`; a posture that code
 * ran has its name there, and is resumed by `DelegateRuntime`. `run` and
 * `agentPath` name the run that asked, which may be far below.
 *
 * @category models
 * @since 0.1.0
 */
export interface WaitingInterrupt extends PendingInterrupt {
  readonly threadId: Ids.ThreadId
  readonly agentId: string
  readonly tenant?: string
}

/**
 * A run of a thread, or of what was delegated from it.
 *
 * **Details**
 *
 * `startedAt` is when it was started, `stoppedAt` since when it is suspended,
 * failed or settled, both in milliseconds of the Unix epoch. `activeMillis` is
 * the time for which it was driven. `outcome` names how a settled run ended, or why a failed one failed. `usage`
 * is there once the run is settled.
 *
 * @category models
 * @since 0.1.0
 */
export interface RunSummary {
  readonly threadId: Ids.ThreadId
  readonly runId: Ids.RunId
  readonly agentId: string
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
 * Lists threads, in the order of their ids, one page.
 *
 * **Example** (What waits for a person)
 *
 * ```ts
 * import { Threads } from "@mandate/core"
 *
 * export const waiting = Threads.list({ states: ["Suspended"], limit: 20 })
 * ```
 *
 * @category getters
 * @since 0.1.0
 */
export const list = Effect.fnUntraced(function*(
  { after = "", limit = defaultLimit, ...filter }: ThreadFilter = {}
): Effect.fn.Return<ReadonlyArray<ThreadSummary>, RunError, Mandate> {
  const { lease, store } = yield* Mandate
  const issues = [
    ...Bound.problem("limit", limit),
    ...(limit > maxLimit ? [`limit must be at most ${maxLimit}, not ${limit}`] : []),
    ...(Number.isNaN(filter.stoppedBefore) ? ["stoppedBefore must be a number of milliseconds, not NaN"] : [])
  ]
  if (issues.length > 0) return yield* RunFailure.fail({ _tag: "InvalidInput", field: "filter", issues })
  const { now } = yield* lease
  const found = yield* RunFailure.fromStore("")(store.list({ after, limit, ...filter }))
  return found.map((thread) => threadSummary(thread, now))
})

/**
 * Lists threads, in the order of their ids, as pages of `limit` are read.
 * Threads that come and go meanwhile may be among them or not; none comes
 * twice.
 *
 * @category getters
 * @since 0.1.0
 */
export const all = (filter: ThreadFilter = {}): Stream.Stream<ThreadSummary, RunError, Mandate> =>
  Stream.paginate(filter.after ?? "", (after) =>
    Effect.map(list({ ...filter, after }), (page) => {
      const last = page[page.length - 1]
      return [page, last === undefined ? Option.none<string>() : Option.some<string>(last.threadId)]
    }))

/**
 * Lists what all suspended threads wait on, in the order of their ids and of
 * the calls that wait, whatever agents they are of and whatever process left
 * them.
 *
 * **Details**
 *
 * `limit` is how many threads are read at a time. A thread that cannot be read
 * is left out, and a warning in the log names it: it would hide all others.
 *
 * **Example** (An inbox)
 *
 * ```ts
 * import { Threads } from "@mandate/core"
 * import { Effect, Stream } from "effect"
 *
 * export const inbox = Effect.map(Stream.runCollect(Threads.pending()), (waiting) =>
 *   waiting.map(({ agentPath, id, threadId }) => `${threadId} ${id}, for ${agentPath.join(" > ")}`))
 * ```
 *
 * @category getters
 * @since 0.1.0
 */
export const pending = (
  filter: Omit<ThreadFilter, "states"> = {}
): Stream.Stream<WaitingInterrupt, RunError, Mandate> =>
  all({ ...filter, states: ["Suspended"] }).pipe(
    Stream.mapEffect(waitingOn),
    Stream.flattenIterable
  )

/**
 * Lists the runs of a thread, oldest first, each followed by the runs that were
 * delegated from it and are kept.
 *
 * @category getters
 * @since 0.1.0
 */
export const runs = Effect.fnUntraced(function*(
  threadId: string
): Effect.fn.Return<ReadonlyArray<RunSummary>, RunError, Mandate> {
  if (Ids.isChildThread(threadId)) return yield* RunFailure.fail({ _tag: "ChildThread", threadId })
  const { store } = yield* Mandate
  const read = RunFailure.fromStore(threadId)
  const rows = yield* read(store.thread(threadId))
  if (rows.length === 0) return yield* RunFailure.fail({ _tag: "UnknownThread", threadId })
  const below: (row: RunRow) => Effect.Effect<ReadonlyArray<RunSummary>, RunError> = Effect.fnUntraced(
    function*(row) {
      const self = yield* RunFailure.decoded(runSummary(row))
      const children = yield* Effect.forEach(yield* read(store.children(row.runId)), below)
      return [self, ...children.flat()]
    }
  )
  return (yield* Effect.forEach(rows, below)).flat()
})

const waitingOn = Effect.fnUntraced(
  function*(
    { agentId, runId, tenant, threadId }: ThreadSummary
  ): Effect.fn.Return<ReadonlyArray<WaitingInterrupt>, RunError, Mandate> {
    const { store } = yield* Mandate
    const interrupts = yield* RunFailure.fromStore(threadId)(Pending.list(store, runId))
    return interrupts.map((interrupt) => ({
      ...interrupt,
      threadId,
      agentId,
      ...(tenant === undefined ? {} : { tenant })
    }))
  },
  Effect.catchReason(
    "RunError",
    "CorruptRun",
    (reason) => Effect.as(Effect.logWarning("What a thread waits on cannot be read", reason), [])
  )
)

const defaultLimit = 100
const maxLimit = 1000

const threadSummary = (thread: ListedThread, now: number): ThreadSummary => {
  const { agentId, expiresAt, holder, runId, startedAt, stoppedAt, tenant, threadId } = thread
  return {
    threadId: threadId as Ids.ThreadId,
    runId: runId as Ids.RunId,
    agentId,
    state: Result.getOrElse(OpenRun.state(thread), () => "Unreadable" as const),
    isHeld: holder !== null && expiresAt > now,
    startedAt,
    ...(stoppedAt === null ? {} : { stoppedAt }),
    ...(tenant === "" ? {} : { tenant })
  }
}

const runSummary = (row: RunRow): Result.Result<RunSummary, CorruptRow> =>
  Result.gen(function*() {
    const state = yield* OpenRun.state(row)
    return {
      threadId: row.threadId as Ids.ThreadId,
      runId: row.runId as Ids.RunId,
      agentId: row.agentId,
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
