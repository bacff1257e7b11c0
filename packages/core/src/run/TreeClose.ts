/**
 * Closes a run and everything below it from outside their loops: for a cancel,
 * a deadline, or a failure that a parent takes over.
 *
 * **Details**
 *
 * Invariants:
 *
 * 1. Each run of the tree is settled once, with the messages and the usage that
 *    its records add up to; calls without a result get one that says why. One
 *    whose last request was refused for good leaves no messages.
 * 2. A run's tree usage counts each run below it once, settled or open.
 * 3. Each task of a closed run ends in its events, those too whose child had
 *    settled before and had no result yet.
 *
 * @since 0.1.0
 */
import type { NonEmptyReadonlyArray } from "effect/Array"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as ActiveRun from "../loop/ActiveRun.ts"
import * as Announce from "../loop/Announce.ts"
import * as Children from "../loop/Children.ts"
import * as OpenRun from "../loop/OpenRun.ts"
import * as RefusedRequest from "../loop/RefusedRequest.ts"
import * as Transcript from "../loop/Transcript.ts"
import type { CorruptRow } from "../service/CorruptRow.ts"
import type { ClosedRun, Fence, LoadedRun, RunRow, Settlement } from "../service/RunRow.ts"
import type { RunStore, StoreError } from "../service/RunStore.ts"
import type { ParentCall } from "../values/ChildRun.ts"
import type { CallKey, RunId, ThreadId } from "../values/Ids.ts"
import type { NewEvent } from "../values/RunEvent.ts"
import { childFailure, type Settled } from "../values/RunOutcome.ts"
import { resultKey } from "../values/RunRecord.ts"
import * as Usage from "../values/Usage.ts"
import * as StoredRun from "./StoredRun.ts"

/**
 * How the runs of a tree are to be settled, the top first.
 *
 * @category models
 * @since 0.1.0
 */
export interface Plan {
  readonly runs: ReadonlyArray<ClosedRun & { readonly fence: Fence }>
  readonly events: ReadonlyArray<NewEvent>
  readonly usage: Usage.RunUsage
  readonly rootThreadId: ThreadId
}

/**
 * Plans the close of a tree: `top` is how its first run ends, the others end
 * `Cancelled`.
 *
 * **Details**
 *
 * `tree` holds the open runs, parents first, as the store gives them. Fails with
 * the first row that cannot be read. `at` is the time now in milliseconds,
 * `activeMillis` the active time of a run that is driven here.
 *
 * @category constructors
 * @since 0.1.0
 */
export const plan = Effect.fnUntraced(function*(
  store: RunStore["Service"],
  tree: NonEmptyReadonlyArray<LoadedRun>,
  top: Top
): Effect.fn.Return<Plan, StoreError | CorruptRow> {
  const closed = new Map<string, Closed>()
  const order: Array<Closed> = []
  for (const loaded of [...tree].reverse()) {
    const settled = yield* settledChildren(store, loaded.row)
    const outcome: Settled = loaded === tree[0] ? top.outcome : { _tag: "Cancelled" }
    const next = yield* Effect.fromResult(closeOne(loaded, outcome, top, settled, closed))
    closed.set(loaded.row.runId, next)
    order.unshift(next)
  }
  const [first] = order as [Closed, ...Array<Closed>]
  return {
    runs: order.map(({ fence, run, settlement }) => ({
      fence,
      settlement,
      keepChildren: run.limits.childRetention
    })),
    events: order.toReversed().flatMap((one) => eventsOf(one, closed, top.at)),
    usage: first.usage,
    rootThreadId: first.run.rootThreadId
  }
})

/**
 * Fails with the first run of a tree that a close could not read.
 *
 * @category getters
 * @since 0.1.0
 */
export const check: (store: RunStore["Service"], runId: string) => Effect.Effect<void, StoreError | CorruptRow> = Effect
  .fnUntraced(function*(store, runId) {
    const loaded = yield* store.load(runId)
    if (loaded === undefined || loaded.row.state === "Settled") return
    yield* Effect.fromResult(OpenRun.decode(loaded))
    for (const row of yield* Children.of(store, runId)) {
      if (row.state === "Settled") yield* Effect.fromResult(StoredRun.usage(row))
      else yield* check(store, row.runId)
    }
  })

interface Top {
  readonly outcome: Settled
  readonly notRun: string
  readonly at: number
  readonly activeMillis?: (runId: string) => number | undefined
}

interface Closed {
  /** How children ended that had settled before and had no result yet. */
  readonly unheard: ReadonlyArray<Ended>
  readonly run: ActiveRun.ActiveRun
  readonly fence: Fence
  readonly outcome: Settled
  readonly settlement: Settlement
  readonly usage: Usage.RunUsage
}

interface Ended {
  readonly child: Pick<RunRow, "agentId" | "threadId" | "runId">
  readonly call: ParentCall
  readonly outcome: Settled
  readonly usage: Usage.RunUsage
}

const settledChildren = (
  store: RunStore["Service"],
  row: RunRow
): Effect.Effect<ReadonlyArray<RunRow>, StoreError | CorruptRow> =>
  Effect.map(Children.of(store, row.runId), (children) => children.filter((child) => child.state === "Settled"))

const closeOne = (
  loaded: LoadedRun,
  outcome: Settled,
  { activeMillis, at, notRun }: Top,
  settled: ReadonlyArray<RunRow>,
  closed: ReadonlyMap<string, Closed>
): Result.Result<Closed, CorruptRow> =>
  Result.gen(function*() {
    const open = yield* OpenRun.decode(loaded)
    const { records, run } = open
    const transcript = StoredRun.transcript(open, notRun)
    const unheard: Array<Ended> = []
    for (const child of settled) {
      if (records.results.has(resultKey(child.callKey ?? ""))) continue
      const usage = yield* StoredRun.usage(child)
      Transcript.addChild(transcript, usage.tree)
      // The run of a posture has ended with a pair of its own.
      if (Announce.isDelegated(yield* OpenRun.place(child))) continue
      const call = { key: child.callKey as CallKey, toolCallId: child.toolCallId ?? "" }
      unheard.push({ child, call, outcome: yield* StoredRun.outcome(child), usage })
    }
    for (const child of closed.values()) {
      if (child.run.parentRunId === run.runId) Transcript.addChild(transcript, child.usage.tree)
    }
    const usage = Transcript.usage(transcript)
    // A failure that cannot be read stands in the way of no cancel.
    const failure = loaded.row.state === "Failed" ? Result.getOrUndefined(StoredRun.failure(loaded.row)) : undefined
    return {
      unheard,
      run,
      fence: ActiveRun.fence(run, loaded.epoch),
      outcome,
      usage,
      settlement: {
        outcome: JSON.stringify(outcome),
        usage: JSON.stringify(Usage.storedRun(usage)),
        messages: JSON.stringify(RefusedRequest.keptMessages(transcript, records, outcome, failure)),
        // A drive that is cut off has worked for longer than its last record says.
        activeMillis: Math.max(StoredRun.activeMillis(loaded.row, records), activeMillis?.(run.runId) ?? 0),
        stoppedAt: at
      }
    }
  })

// Children end before their parents do.
const eventsOf = (one: Closed, closed: ReadonlyMap<string, Closed>, at: number): ReadonlyArray<NewEvent> => {
  const { outcome, run, unheard, usage } = one
  const parent = run.parentRunId === undefined ? undefined : closed.get(run.parentRunId)
  return [
    ...unheard.map((ended) => taskSettled(run, ended, at)),
    ...Announce.settled(run, outcome, usage, at),
    ...(parent === undefined || run.call === undefined || Announce.isDelegated(run)
      ? []
      : [taskSettled(parent.run, { child: run, call: run.call, outcome, usage }, at)])
  ]
}

const taskSettled = (
  parent: ActiveRun.ActiveRun,
  { call, child, outcome, usage }: Ended,
  at: number
): NewEvent => {
  const failure = childFailure(outcome)
  return {
    ...ActiveRun.origin(parent),
    _tag: "TaskSettled",
    at,
    ...call,
    subagent: child.agentId,
    childThreadId: child.threadId as ThreadId,
    childRunId: child.runId as RunId,
    ...(failure === undefined ? {} : { failure }),
    usage: usage.tree
  }
}
