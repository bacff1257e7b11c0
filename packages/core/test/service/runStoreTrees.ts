import { assert, describe } from "@effect/vitest"
import { RunStore } from "@mandate/core"
import { Effect } from "effect"
import {
  append,
  by,
  type Check,
  childKeys,
  create,
  event,
  finished,
  named,
  open,
  record,
  settlement
} from "./runStoreRows.ts"

/** What hangs together: retention, closing and deletion. */
export const trees = (check: Check): void => {
  describe("retention", () => {
    check("keeps the newest settled children that the parent has recorded", () =>
      Effect.gen(function*() {
        const store = yield* RunStore.RunStore
        const parent = yield* open("t")
        for (const key of ["0.3", "0.0", "0.2"]) yield* finished(parent, key)
        const last = yield* create(parent, "0.1")
        yield* store.settle(last, settlement(), [], 16)
        yield* store.append(parent, { records: [record("t/0.1")], events: [], keepChildren: 2 })

        assert.deepStrictEqual(yield* childKeys("t#0"), ["0.2", "0.1"])
        assert.isUndefined(yield* store.load("t#0/0.3#0"))
        assert.deepStrictEqual(yield* store.thread("t#0/0.0"), [])
      }))

    check(
      "prunes neither open children nor those whose result is not recorded, however old",
      () =>
        Effect.gen(function*() {
          const store = yield* RunStore.RunStore
          const parent = yield* open("t")
          yield* create(parent, "0.0")
          const suspended = yield* create(parent, "0.1")
          yield* store.suspend(suspended, { usage: "{}", activeMillis: 0 }, [])
          const failed = yield* create(parent, "0.2")
          yield* store.fail(failed, { outcome: "{}", usage: "{}", activeMillis: 0 }, [])
          const unrecorded = yield* create(parent, "0.3")
          yield* store.settle(unrecorded, settlement(), [], 16)
          for (const key of ["0.4", "0.5", "0.6"]) yield* finished(parent, key)

          yield* store.append(parent, { records: [], events: [], keepChildren: 1 })

          assert.deepStrictEqual(yield* childKeys("t#0"), ["0.0", "0.1", "0.2", "0.3", "0.6"])
        })
    )

    check(
      "prunes when the parent settles, its unrecorded children too, over all runs of the thread",
      () =>
        Effect.gen(function*() {
          const store = yield* RunStore.RunStore
          const first = yield* open("t")
          yield* finished(first, "0.0")
          yield* finished(first, "0.1")
          yield* store.settle(first, settlement(), [], 16)
          const second = yield* open("t")
          yield* finished(second, "0.0")
          const unrecorded = yield* create(second, "0.1")
          yield* store.settle(unrecorded, settlement(), [], 16)
          yield* store.settle(second, settlement(), [], 3)

          assert.deepStrictEqual(yield* childKeys("t#0"), ["0.1"])
          assert.deepStrictEqual(yield* childKeys("t#1"), ["0.0", "0.1"])
        })
    )

    check("prunes a child with all below it", () =>
      Effect.gen(function*() {
        const store = yield* RunStore.RunStore
        const parent = yield* open("t")
        const child = yield* create(parent, "0.0")
        const grandchild = yield* finished(child, "5.5")
        yield* store.settle(child, settlement(), [], 16)
        yield* append(parent, "t/0.0")
        yield* finished(parent, "0.1")
        yield* store.append(parent, { records: [], events: [], keepChildren: 1 })

        assert.isUndefined(yield* store.load(child.runId))
        assert.isUndefined(yield* store.load(grandchild.runId))
        assert.deepStrictEqual(yield* store.thread(grandchild.threadId), [])
      }))

    check("prunes nothing unless it is asked to", () =>
      Effect.gen(function*() {
        const parent = yield* open("t")
        for (let index = 0; index < 20; index++) yield* finished(parent, `0.${index}`)

        assert.lengthOf(yield* childKeys("t#0"), 20)
      }))
  })

  describe("closing", () => {
    check("settles failed children in the transaction of the parent's record", () =>
      Effect.gen(function*() {
        const store = yield* RunStore.RunStore
        const parent = yield* open("t")
        const child = yield* create(parent, "0.0")
        yield* append(child, "m/0")
        yield* store.fail(child, { outcome: "{\"f\":1}", usage: "{}", activeMillis: 1 }, [])
        yield* store.append(parent, {
          records: [record("t/0.0")],
          events: [event("t#0", "task settled")],
          close: [{ runId: child.runId, settlement: settlement("{\"closed\":1}") }]
        })

        const loaded = yield* store.load(child.runId)
        assert.deepStrictEqual(
          [loaded!.row.state, loaded!.row.outcome, loaded!.records],
          ["Settled", "{\"closed\":1}", []]
        )
        assert.strictEqual((yield* store.lease(child.threadId, by("two")))._tag, "Taken")
      }))

    check("settles a whole tree at once, each run with an end of its own", () =>
      Effect.gen(function*() {
        const store = yield* RunStore.RunStore
        const parent = yield* open("t")
        const child = yield* create(parent, "0.0")
        const sequence = yield* store.close(
          [
            { fence: parent, settlement: settlement("{\"top\":1}") },
            { fence: child, settlement: settlement("{\"below\":1}") }
          ],
          [event("t#0", "top closed"), event(child.runId, "child closed")],
          16
        )

        assert.deepStrictEqual((yield* store.load("t#0"))!.row.outcome, "{\"top\":1}")
        assert.deepStrictEqual((yield* store.load(child.runId))!.row.outcome, "{\"below\":1}")
        assert.deepStrictEqual(named(yield* store.events("t", sequence - 1)), [[3, "top closed"], [4, "child closed"]])
      }))
  })

  describe("deleting", () => {
    check("deletes a thread with all below it, and nothing else", () =>
      Effect.gen(function*() {
        const store = yield* RunStore.RunStore
        const parent = yield* open("t")
        const child = yield* create(parent, "0.0")
        const grandchild = yield* create(child, "0.0")
        const other = yield* open("t-2")
        yield* append(other, "m/0")
        yield* store.forget("t")
        yield* store.forget("t")

        for (const { runId, threadId } of [parent, child, grandchild]) {
          assert.isUndefined(yield* store.load(runId))
          assert.deepStrictEqual(yield* store.thread(threadId), [])
          assert.deepStrictEqual(yield* store.children(runId), [])
        }
        assert.deepStrictEqual(yield* store.events("t", 0), [])
        assert.lengthOf((yield* store.load("t-2#0"))!.records, 1)
      }))

    check("deletes a child's thread and leaves its parent", () =>
      Effect.gen(function*() {
        const store = yield* RunStore.RunStore
        const parent = yield* open("t")
        const child = yield* finished(parent, "0.0")
        yield* finished(parent, "0.1")
        yield* store.forget(child.threadId)

        assert.deepStrictEqual(yield* childKeys("t#0"), ["0.1"])
        yield* append(parent, "m/0")
      }))

    check(
      "deletes a run whose thread was made for it when it settles, with all below it",
      () =>
        Effect.gen(function*() {
          const store = yield* RunStore.RunStore
          const settled = yield* open("settled", { ephemeral: true })
          const child = yield* finished(settled, "0.0")
          yield* store.settle(settled, settlement(), [event("settled#0", "settled")], 16)
          const closed = yield* open("closed", { ephemeral: true })
          yield* store.close([{ fence: closed, settlement: settlement() }], [event("closed#0", "closed")], 16)

          for (const threadId of ["settled", "closed", child.threadId]) {
            assert.deepStrictEqual(yield* store.thread(threadId), [])
            assert.deepStrictEqual(yield* store.events(threadId, 0), [])
          }
        })
    )

    check("keeps a run whose thread was made for it while it is open", () =>
      Effect.gen(function*() {
        const store = yield* RunStore.RunStore
        const failed = yield* open("t", { ephemeral: true })
        yield* store.fail(failed, { outcome: "{}", usage: "{}", activeMillis: 0 }, [])

        assert.strictEqual((yield* store.load("t#0"))!.row.state, "Failed")
      }))
  })
}
