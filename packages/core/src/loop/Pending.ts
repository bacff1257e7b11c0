/**
 * All that a suspended run waits on, at any depth: a view computed from the
 * rows and records of the runs that wait.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as CorruptRow from "../service/CorruptRow.ts"
import type { RunRow } from "../service/RunRow.ts"
import type { RunStore, StoreError } from "../service/RunStore.ts"
import * as Ids from "../values/Ids.ts"
import type { PendingInterrupt } from "../values/Interrupt.ts"
import { toolCalls } from "../values/Message.ts"
import { resultKey, stepKey } from "../values/RunRecord.ts"
import type { ActiveRun } from "./ActiveRun.ts"
import * as Children from "./Children.ts"
import * as Interrupts from "./Interrupts.ts"
import type { Records } from "./Journal.ts"
import * as OpenRun from "./OpenRun.ts"

/**
 * What a suspended run waits on.
 *
 * **Details**
 *
 * `pending` is in call order at every level. `canGoOn`: the run, or one below
 * it that waits, needs no answer to go on. It has not heard of the end of a
 * child, which was cancelled while it waited, or it waits on nothing.
 *
 * @category models
 * @since 0.1.0
 */
export interface Waits {
  readonly pending: ReadonlyArray<PendingInterrupt>
  readonly canGoOn: boolean
}

/**
 * What an open run and the runs below it wait on. Fails with the first run that
 * cannot be read: without it the list would not be all that is waited on.
 *
 * @category getters
 * @since 0.1.0
 */
export const of = (
  store: RunStore["Service"],
  runId: string
): Effect.Effect<Waits, StoreError | CorruptRow.CorruptRow> => below(store, runId, [])

/**
 * The list of {@link of} alone.
 *
 * @category getters
 * @since 0.1.0
 */
export const list = (
  store: RunStore["Service"],
  runId: string
): Effect.Effect<ReadonlyArray<PendingInterrupt>, StoreError | CorruptRow.CorruptRow> =>
  Effect.map(of(store, runId), ({ pending }) => pending)

const below: (
  store: RunStore["Service"],
  runId: string,
  path: ReadonlyArray<Ids.CallKey>
) => Effect.Effect<Waits, StoreError | CorruptRow.CorruptRow> = Effect.fnUntraced(function*(store, runId, path) {
  const loaded = yield* store.load(runId)
  if (loaded === undefined || loaded.row.state === "Settled") return { pending: [], canGoOn: false }
  const { records, run } = yield* Effect.fromResult(OpenRun.decode(loaded))
  const own = ownOf(run, records, path)
  const children = yield* Effect.forEach(
    yield* Children.of(store, runId),
    Effect.fnUntraced(function*(row) {
      const call = yield* Effect.fromResult(callOf(row, records))
      const state = yield* Effect.fromResult(OpenRun.state(row))
      const isUnheard = state === "Settled" && !records.results.has(resultKey(call))
      const waits = state === "Suspended" ? yield* below(store, row.runId, [...path, call]) : undefined
      return { call, isUnheard, waits }
    })
  )
  const waiting = [
    ...own,
    ...children.flatMap(({ call, waits }) => waits === undefined ? [] : [{ call, ...waits }])
  ].sort((a, b) => Ids.compareCalls(a.call, b.call))
  return {
    pending: waiting.flatMap(({ pending }) => pending),
    canGoOn: waiting.length === 0 || waiting.some(({ canGoOn }) => canGoOn) ||
      children.some(({ isUnheard }) => isUnheard)
  }
})

const ownOf = (run: ActiveRun, records: Records, path: ReadonlyArray<Ids.CallKey>) => {
  const { agentId, agentPath, call, depth, runId, threadId } = run
  const child = { threadId, runId, subagent: agentId, depth, ...(call === undefined ? {} : { call }) }
  return Interrupts.open(records).map(({ askedAt, call, id, request }) => ({
    call,
    pending: [{ id: Ids.join(path, id), run: child, agentPath, request, askedAt }] as ReadonlyArray<PendingInterrupt>,
    canGoOn: false
  }))
}

// Nobody would ever hear of the end of a child whose call there is not.
const callOf = (row: RunRow, records: Records): Result.Result<Ids.CallKey, CorruptRow.CorruptRow> => {
  const key = row.callKey ?? ""
  const step = Number.parseInt(key)
  const calls = toolCalls(records.steps.get(stepKey(step))?.response.parts ?? [])
  const call = calls.map((_, index) => Ids.callKey(step, index)).find((call) => call === key)
  return call === undefined
    ? Result.fail(CorruptRow.of(row, `its parent made no call ${key}`))
    : Result.succeed(call)
}
