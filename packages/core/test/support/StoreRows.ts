/** Steps on the store of the context, with the rows that the contract of stores uses. */
import { assert } from "@effect/vitest"
import { Ids, type RunRow, RunStore } from "@mandate/core"
import { Effect } from "effect"
import { by, childOf, event, keepAll, newRun, record, settlement } from "../../../testing/src/storeContract/Rows.ts"

export * from "../../../testing/src/storeContract/Rows.ts"

/** Starts the next run of a thread, and gives its fence. */
export const open = Effect.fnUntraced(
  function*(threadId: string, more: Partial<RunRow.NewRun> = {}, lease = by("one")) {
    const store = yield* RunStore.RunStore
    const opened = yield* store.open(newRun(threadId, more), lease, (runId) => [event(runId, `${runId} started`)])
    if (opened._tag !== "Started") return assert.fail(`${threadId} has an open run`)
    return { threadId, runId: opened.runId, epoch: opened.epoch }
  }
)

/** Starts a child that is not there yet, and gives its fence. */
export const create = Effect.fnUntraced(function*(parent: RunRow.Fence, callKey: string, lease = by("one")) {
  const store = yield* RunStore.RunStore
  const run = childOf(parent, callKey)
  const runId = Ids.runId(run.threadId, 0)
  const { created, run: loaded } = yield* store.create(parent, run, lease, [event(runId, `${runId} started`)])
  assert.isTrue(created)
  return { threadId: run.threadId, runId, epoch: loaded.epoch }
})

/** Appends records of these names. */
export const append = Effect.fnUntraced(function*(fence: RunRow.Fence, ...names: ReadonlyArray<string>) {
  const store = yield* RunStore.RunStore
  return yield* store.append(fence, { records: names.map((name) => record(name)), events: [] })
})

/** A child that is settled and whose result its parent has recorded. */
export const finished = Effect.fnUntraced(function*(parent: RunRow.Fence, callKey: string) {
  const store = yield* RunStore.RunStore
  const child = yield* create(parent, callKey)
  yield* store.settle(child, settlement(), [event(child.runId, `${child.runId} settled`)], keepAll)
  yield* append(parent, `t/${callKey}`)
  return child
})

/** Call keys of the children of a run, in the order of the store. */
export const childKeys = Effect.fnUntraced(function*(runId: string) {
  const store = yield* RunStore.RunStore
  return (yield* store.children(runId)).map(({ callKey }) => callKey)
})

/** All that a tree is made of, to see that nothing of it changed. */
export const everything = Effect.fnUntraced(function*(threadId: string, ...runIds: ReadonlyArray<string>) {
  const store = yield* RunStore.RunStore
  return {
    thread: yield* store.thread(threadId),
    runs: yield* Effect.forEach(runIds, (runId) => store.load(runId)),
    children: yield* Effect.forEach(runIds, (runId) => store.children(runId)),
    events: yield* store.events(threadId, 0)
  }
})
