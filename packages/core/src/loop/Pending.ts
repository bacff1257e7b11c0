/**
 * All that a suspended run waits on, at any depth: a view computed from the
 * rows and records of the runs that wait.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { RunStore, StoreError } from "../service/RunStore.ts"
import * as Ids from "../values/Ids.ts"
import type { PendingInterrupt } from "../values/Interrupt.ts"
import * as ActiveRun from "./ActiveRun.ts"
import * as Interrupts from "./Interrupts.ts"
import * as Journal from "./Journal.ts"

/**
 * Lists what an open run and the runs below it wait on, in call order at every
 * level. A run that cannot be read lists nothing.
 *
 * @category getters
 * @since 0.1.0
 */
export const list = (
  store: RunStore["Service"],
  runId: string
): Effect.Effect<ReadonlyArray<PendingInterrupt>, StoreError> => below(store, runId, [])

const below: (
  store: RunStore["Service"],
  runId: string,
  path: ReadonlyArray<Ids.CallKey>
) => Effect.Effect<ReadonlyArray<PendingInterrupt>, StoreError> = Effect.fnUntraced(function*(store, runId, path) {
  const loaded = yield* store.load(runId)
  if (loaded === undefined || loaded.row.state === "Settled") return []
  const open = Result.all([ActiveRun.fromRow(loaded.row), Journal.decode(loaded.records)])
  if (Result.isFailure(open)) return []
  const [run, records] = open.success
  const child = {
    threadId: run.threadId,
    runId: run.runId,
    subagent: run.agentId,
    depth: run.depth,
    ...(run.call === undefined ? {} : { call: run.call })
  }
  const own = Interrupts.open(records).map(({ call, id, request }) => ({
    call,
    pending: [{ id: Ids.join(path, id), run: child, request }] as ReadonlyArray<PendingInterrupt>
  }))
  const children = (yield* store.children(runId)).filter((row) => row.state === "Suspended" && row.callKey !== null)
  const delegated = yield* Effect.forEach(children, (row) => {
    const call = row.callKey as Ids.CallKey
    return Effect.map(below(store, row.runId, [...path, call]), (pending) => ({ call, pending }))
  })
  return [...own, ...delegated]
    .sort((a, b) => Ids.compareCalls(a.call, b.call))
    .flatMap(({ pending }) => pending)
})
