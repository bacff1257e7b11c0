/**
 * Closes a run and everything below it from outside their loops: for a cancel,
 * a deadline, or a failure that a parent takes over.
 *
 * **Details**
 *
 * Invariants:
 *
 * 1. Each run of the tree is settled once, with the messages and the usage that
 *    its records add up to; calls without a result get one that says why.
 * 2. A run's tree usage counts each run below it once, settled or open.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as ActiveRun from "../loop/ActiveRun.ts"
import * as Announce from "../loop/Announce.ts"
import * as OpenRun from "../loop/OpenRun.ts"
import * as Transcript from "../loop/Transcript.ts"
import type { CorruptRow } from "../service/CorruptRow.ts"
import type { Fence, LoadedRun, RunRow, Settlement } from "../service/RunRow.ts"
import type { RunStore, StoreError } from "../service/RunStore.ts"
import type { ThreadId } from "../values/Ids.ts"
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
  readonly runs: ReadonlyArray<{ readonly fence: Fence; readonly settlement: Settlement }>
  readonly events: ReadonlyArray<NewEvent>
  readonly usage: Usage.RunUsage
  readonly keepChildren: number
  readonly rootThreadId: ThreadId
}

/**
 * Plans the close of a tree: `top` is how its first run ends, the others end
 * `Cancelled`.
 *
 * **Details**
 *
 * `tree` holds the open runs, at least one, parents first, as the store gives
 * them. Fails with the first row that cannot be read.
 *
 * @category constructors
 * @since 0.1.0
 */
export const plan = Effect.fnUntraced(function*(
  store: RunStore["Service"],
  tree: ReadonlyArray<LoadedRun>,
  top: { readonly outcome: Settled; readonly notRun: string; readonly at: number }
): Effect.fn.Return<Plan, StoreError | CorruptRow> {
  const closed = new Map<string, Closed>()
  const order: Array<Closed> = []
  for (const loaded of [...tree].reverse()) {
    const settled = yield* settledChildren(store, loaded.row)
    const outcome: Settled = loaded === tree[0] ? top.outcome : { _tag: "Cancelled" }
    const next = yield* Effect.fromResult(closeOne(loaded, outcome, top.notRun, settled, closed))
    closed.set(loaded.row.runId, next)
    order.unshift(next)
  }
  const first = order[0] as Closed
  return {
    runs: order.map(({ fence, settlement }) => ({ fence, settlement })),
    events: order.toReversed().flatMap((one) => eventsOf(one, closed, top.at)),
    usage: first.usage,
    keepChildren: first.run.limits.childRetention,
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
    for (const row of yield* store.children(runId)) {
      if (row.state === "Settled") yield* Effect.fromResult(StoredRun.usage(row))
      else yield* check(store, row.runId)
    }
  })

interface Closed {
  readonly run: ActiveRun.ActiveRun
  readonly fence: Fence
  readonly outcome: Settled
  readonly settlement: Settlement
  readonly usage: Usage.RunUsage
}

const settledChildren = (store: RunStore["Service"], row: RunRow): Effect.Effect<ReadonlyArray<RunRow>, StoreError> =>
  Effect.map(store.children(row.runId), (children) => children.filter((child) => child.state === "Settled"))

const closeOne = (
  loaded: LoadedRun,
  outcome: Settled,
  notRun: string,
  settled: ReadonlyArray<RunRow>,
  closed: ReadonlyMap<string, Closed>
): Result.Result<Closed, CorruptRow> =>
  Result.gen(function*() {
    const open = yield* OpenRun.decode(loaded)
    const { records, run } = open
    const transcript = StoredRun.transcript(open, notRun)
    for (const child of settled) {
      if (records.results.has(resultKey(child.callKey ?? ""))) continue
      Transcript.addChild(transcript, (yield* StoredRun.usage(child)).tree)
    }
    for (const child of closed.values()) {
      if (child.run.parentRunId === run.runId) Transcript.addChild(transcript, child.usage.tree)
    }
    const usage = Transcript.usage(transcript)
    return {
      run,
      fence: ActiveRun.fence(run, loaded.epoch),
      outcome,
      usage,
      settlement: {
        outcome: JSON.stringify(outcome),
        usage: JSON.stringify(Usage.storedRun(usage)),
        messages: JSON.stringify(Transcript.ownMessages(transcript)),
        activeMillis: StoredRun.activeMillis(loaded.row, records)
      }
    }
  })

// Children end before their parents do.
const eventsOf = (
  { outcome, run, usage }: Closed,
  closed: ReadonlyMap<string, Closed>,
  at: number
): ReadonlyArray<NewEvent> => {
  const settled = Announce.settled(run, outcome, usage, at)
  const parent = run.parentRunId === undefined ? undefined : closed.get(run.parentRunId)
  if (parent === undefined || run.call === undefined || Announce.isDelegated(run)) return settled
  const failure = childFailure(outcome)
  const failed = failure === undefined ? {} : { failure }
  return [...settled, {
    ...ActiveRun.origin(parent.run),
    _tag: "TaskSettled",
    at,
    ...run.call,
    subagent: run.agentId,
    childThreadId: run.threadId,
    childRunId: run.runId,
    ...failed,
    usage: usage.tree
  }]
}
