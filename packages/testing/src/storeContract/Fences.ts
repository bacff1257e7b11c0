/**
 * Rules of fences: who has lost a run changes nothing.
 *
 * @since 0.1.0
 */
import type { RunRow, RunStore } from "@mandate/core"
import * as Effect from "effect/Effect"
import { holds, same } from "../contract/Violation.ts"
import { by, childOf, closing, event, keys, record, settlement, ttl } from "./Rows.ts"
import type { Failure, Rule, Store } from "./Rule.ts"
import * as Steps from "./Steps.ts"

/**
 * The rules of fences. There is one for each write and each way to lose a run.
 *
 * @category constructors
 * @since 0.1.0
 */
export const rules = (): ReadonlyArray<Rule> => [
  ...Object.entries(writes).flatMap(([write, late]) =>
    Object.entries(losses).map(([loss, lose]) => isRefused(write, late, loss, lose))
  ),
  ...Object.entries(writes).map(([write, late]) => isTaken(write, late)),
  startsAnew,
  keepsSettled
]

type Write = (
  store: Store,
  fence: RunRow.Fence
) => Effect.Effect<unknown, RunStore.Fenced | RunStore.StoreError>

// Each would change a row, records, events, children or a lease.
const writes: { readonly [write: string]: Write } = {
  append: (store, fence) =>
    store.append(fence, {
      records: [record("late"), record("t/0.2")],
      events: [event(fence.runId, "late")],
      close: [closing({ runId: `${fence.runId}/0.2#0` }, 1, settlement("late"))],
      keepChildren: 1
    }),
  create: (store, fence) =>
    store.create(fence, childOf(fence, "9.9"), by("late"), [event(`${fence.runId}/9.9#0`, "late")]),
  "create of a child that is there": (store, fence) => store.create(fence, childOf(fence, "0.2"), by("late"), []),
  suspend: (store, fence) =>
    store.suspend(fence, { usage: "late", activeMillis: 99, stoppedAt: 99 }, [event(fence.runId, "late")]),
  fail: (store, fence) =>
    store.fail(fence, { outcome: "late", usage: "late", activeMillis: 99, stoppedAt: 99 }, [
      event(fence.runId, "late")
    ]),
  settle: (store, fence) => store.settle(fence, settlement("late"), [event(fence.runId, "late")], 1),
  reopen: (store, fence) => store.reopen(fence, [event(fence.runId, "late")]),
  close: (store, fence) => store.close([closing({ fence }, 1, settlement("late"))], [event(fence.runId, "late")])
}

type Loss = (store: Store, fence: RunRow.Fence) => Effect.Effect<unknown, Failure>

const losses: { readonly [loss: string]: Loss } = {
  "another instance took the lease, which had run out": (store, { threadId }) =>
    Steps.take(store, threadId, by("two", ttl)),
  "another instance took the lease by force": (store, { threadId }) =>
    Steps.take(store, threadId, { ...by("two"), force: true }),
  "its own instance took the lease again": (store, { threadId }) => Steps.take(store, threadId, by("one")),
  "the run was seized": (store, { runId }) => store.seize(runId, by("two")),
  "the run failed and was taken": (store, fence) =>
    Effect.andThen(Steps.fail(store, fence), Steps.take(store, fence.threadId, by("two"))),
  "the run was answered": (store, fence) =>
    Effect.andThen(
      Steps.suspend(store, fence),
      store.answer(fence.threadId, by("two"), [{ runId: fence.runId, records: [] }], [])
    ),
  "the run is settled": (store, fence) => Steps.settle(store, fence),
  "the run was closed": (store, fence) => store.close([closing({ fence }, 16)], []),
  "the thread has gone on to its next run": (store, fence) =>
    Effect.andThen(Steps.settle(store, fence), Steps.open(store, fence.threadId)),
  "the thread was deleted": (store, { threadId }) => store.forget(threadId)
}

const isRefused = (write: string, late: Write, loss: string, lose: Loss): Rule => ({
  name: `refuses ${write} and changes nothing once ${loss}`,
  check: Effect.fnUntraced(function*(store) {
    const fence = yield* withChildren(store)
    yield* lose(store, fence)
    const refused = Steps.refused(write, fence.runId, late(store, fence))
    yield* Steps.unchanged(store, `a refused ${write}`, ["t", "t#0/9.9"], refused)
  })
})

const isTaken = (write: string, late: Write): Rule => ({
  name: `takes ${write} by the epoch that the thread has, and by no other`,
  check: Effect.fnUntraced(function*(store) {
    const fence = yield* withChildren(store)
    for (const epoch of [fence.epoch + 1, fence.epoch - 1, 0, -1]) {
      const other = { ...fence, epoch }
      const refused = Steps.refused(`${write} by epoch ${epoch}`, fence.runId, late(store, other))
      yield* Steps.unchanged(store, `a refused ${write}`, ["t", "t#0/9.9"], refused)
    }
    yield* late(store, fence)
  })
})

const startsAnew: Rule = {
  name: "keeps the writer of a deleted thread out when a thread of that name starts anew",
  check: Effect.fnUntraced(function*(store) {
    const before = yield* Steps.open(store, "t")
    yield* store.forget("t")
    const after = yield* Steps.open(store, "t")

    yield* same("the id of the new run", after.runId, before.runId)
    yield* holds(`the epoch ${after.epoch} is not above ${before.epoch}`, after.epoch > before.epoch)
    yield* Steps.refused("append", "t#0", Steps.late(store, before))
    yield* same("the records", keys(yield* store.load("t#0")), [])
  })
}

const keepsSettled: Rule = {
  name: "lets no parent change a child that has settled",
  check: Effect.fnUntraced(function*(store) {
    const parent = yield* Steps.open(store, "t")
    const child = yield* Steps.create(store, parent, "0.0")
    yield* Steps.settle(store, child, "{\"first\":1}")
    const before = yield* store.load(child.runId)
    yield* Effect.exit(store.append(parent, {
      records: [],
      events: [],
      close: [closing({ runId: child.runId }, 16, settlement("{\"second\":2}"))]
    }))

    yield* same("the child", yield* store.load(child.runId), before)
  })
}

// Two children that a late writer could prune, and a failed one that it could close.
const withChildren = Effect.fnUntraced(function*(store: Store): Effect.fn.Return<RunRow.Fence, Failure> {
  const fence = yield* Steps.open(store, "t")
  yield* Steps.finished(store, fence, "0.0")
  yield* Steps.finished(store, fence, "0.1")
  yield* Steps.fail(store, yield* Steps.create(store, fence, "0.2"))
  yield* Steps.append(store, fence, "m/0")
  return fence
})
