/**
 * All that a suspended run waits on, at any depth: a view computed from the
 * rows and records of the runs that wait.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type { CorruptRow } from "../service/CorruptRow.ts"
import type { RunStore, StoreError } from "../service/RunStore.ts"
import * as Ids from "../values/Ids.ts"
import type { PendingInterrupt } from "../values/Interrupt.ts"
import { resultKey } from "../values/RunRecord.ts"
import * as Interrupts from "./Interrupts.ts"
import * as OpenRun from "./OpenRun.ts"

/**
 * Lists what an open run and the runs below it wait on, in call order at every
 * level. Fails with the first run that cannot be read: without it the list
 * would not be all that is waited on.
 *
 * @category getters
 * @since 0.1.0
 */
export const list = (
  store: RunStore["Service"],
  runId: string
): Effect.Effect<ReadonlyArray<PendingInterrupt>, StoreError | CorruptRow> => below(store, runId, [])

/**
 * Whether an open run, or one below it that waits, can go on without an answer:
 * it has not heard of the end of a child, which was cancelled while it waited,
 * or it waits on nothing. Fails as {@link list} does.
 *
 * @category getters
 * @since 0.1.0
 */
export const canGoOn: (
  store: RunStore["Service"],
  runId: string
) => Effect.Effect<boolean, StoreError | CorruptRow> = Effect.fnUntraced(function*(store, runId) {
  const loaded = yield* store.load(runId)
  if (loaded === undefined || loaded.row.state === "Settled") return false
  const { records } = yield* Effect.fromResult(OpenRun.decode(loaded))
  let waits = Interrupts.open(records).length > 0
  for (const row of yield* store.children(runId)) {
    const state = yield* Effect.fromResult(OpenRun.state(row))
    if (state === "Settled" && !records.results.has(resultKey(row.callKey ?? ""))) return true
    if (state !== "Suspended") continue
    if (yield* canGoOn(store, row.runId)) return true
    waits = true
  }
  return !waits
})

const below: (
  store: RunStore["Service"],
  runId: string,
  path: ReadonlyArray<Ids.CallKey>
) => Effect.Effect<ReadonlyArray<PendingInterrupt>, StoreError | CorruptRow> = Effect.fnUntraced(
  function*(store, runId, path) {
    const loaded = yield* store.load(runId)
    if (loaded === undefined || loaded.row.state === "Settled") return []
    const { records, run } = yield* Effect.fromResult(OpenRun.decode(loaded))
    const child = {
      threadId: run.threadId,
      runId: run.runId,
      subagent: run.agentId,
      depth: run.depth,
      ...(run.call === undefined ? {} : { call: run.call })
    }
    const { agentPath } = run
    const own = Interrupts.open(records).map(({ askedAt, call, id, request }) => ({
      call,
      pending: [{ id: Ids.join(path, id), run: child, agentPath, request, askedAt }] as ReadonlyArray<PendingInterrupt>
    }))
    const delegated = yield* Effect.forEach(
      yield* store.children(runId),
      Effect.fnUntraced(function*(row) {
        const call = (row.callKey ?? "") as Ids.CallKey
        const isWaiting = (yield* Effect.fromResult(OpenRun.state(row))) === "Suspended"
        return { call, pending: isWaiting ? yield* below(store, row.runId, [...path, call]) : [] }
      })
    )
    return [...own, ...delegated]
      .sort((a, b) => Ids.compareCalls(a.call, b.call))
      .flatMap(({ pending }) => pending)
  }
)
