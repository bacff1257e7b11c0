import { assert, describe } from "@effect/vitest"
import { type RunRow, RunStore } from "@mandate/core"
import { Effect } from "effect"
import {
  append,
  by,
  type Check,
  childOf,
  create,
  event,
  everything,
  finished,
  keys,
  open,
  record,
  settlement,
  ttl
} from "./runStoreRows.ts"

/** Who may write: rules 3 and 5, and that a refused write changes nothing. */
export const fences = (check: Check): void => {
  describe("fences", () => {
    const writes: {
      readonly [write: string]: (
        store: RunStore.RunStore["Service"],
        fence: RunRow.Fence
      ) => Effect.Effect<unknown, RunStore.StoreError | RunStore.Fenced>
    } = {
      append: (store, fence) =>
        store.append(fence, { records: [record("late")], events: [event(fence.runId, "late")], keepChildren: 1 }),
      create: (store, fence) => store.create(fence, childOf(fence, "9.9"), by("late"), []),
      suspend: (store, fence) =>
        store.suspend(fence, { usage: "late", activeMillis: 99 }, [event(fence.runId, "late")]),
      fail: (store, fence) =>
        store.fail(fence, { outcome: "late", usage: "late", activeMillis: 99 }, [event(fence.runId, "late")]),
      settle: (store, fence) => store.settle(fence, settlement("late"), [event(fence.runId, "late")], 1),
      reopen: (store, fence) => store.reopen(fence, [event(fence.runId, "late")]),
      close: (store, fence) => store.close([{ fence, settlement: settlement("late") }], [event(fence.runId, "late")], 1)
    }

    // How a writer loses its run. The run has a child that a late writer could prune.
    const losses: {
      readonly [loss: string]: (
        store: RunStore.RunStore["Service"],
        fence: RunRow.Fence
      ) => Effect.Effect<unknown, RunStore.StoreError | RunStore.Fenced>
    } = {
      "another instance took the lease": (store, fence) => store.lease(fence.threadId, by("two", ttl)),
      "the run was seized": (store, fence) => store.seize(fence.runId, by("two")),
      "the run is settled": (store, fence) => store.settle(fence, settlement(), [], 16),
      "the thread was deleted": (store, fence) => store.forget(fence.threadId)
    }

    for (const [write, late] of Object.entries(writes)) {
      for (const [loss, lose] of Object.entries(losses)) {
        check(`${write} fails and changes nothing once ${loss}`, () =>
          Effect.gen(function*() {
            const store = yield* RunStore.RunStore
            const fence = yield* open("t")
            yield* finished(fence, "0.0")
            yield* finished(fence, "0.1")
            yield* append(fence, "m/0")
            yield* lose(store, fence)
            const before = yield* everything("t", "t#0", "t#0/0.0#0", "t#0/9.9#0")

            const error = yield* Effect.flip(late(store, fence))

            assert.strictEqual(error._tag, "Fenced")
            assert.deepStrictEqual(yield* everything("t", "t#0", "t#0/0.0#0", "t#0/9.9#0"), before)
          }))
      }
    }

    check("a writer of a deleted thread stays fenced when the thread starts anew", () =>
      Effect.gen(function*() {
        const store = yield* RunStore.RunStore
        const before = yield* open("t")
        yield* store.forget("t")
        const after = yield* open("t")

        assert.strictEqual(after.runId, before.runId)
        assert.isAbove(after.epoch, before.epoch)
        assert.strictEqual((yield* Effect.flip(append(before, "late")))._tag, "Fenced")
      }))

    check("closing several runs changes none of them if one is lost", () =>
      Effect.gen(function*() {
        const store = yield* RunStore.RunStore
        const parent = yield* open("t")
        const child = yield* create(parent, "0.0")
        yield* append(child, "m/0")
        yield* store.lease(child.threadId, by("two", ttl))
        const before = yield* everything("t", "t#0", child.runId)

        const error = yield* Effect.flip(store.close(
          [{ fence: parent, settlement: settlement() }, { fence: child, settlement: settlement() }],
          [event("t#0", "closed")],
          16
        ))

        assert.deepStrictEqual([error._tag, error._tag === "Fenced" && error.runId], ["Fenced", child.runId])
        assert.deepStrictEqual(yield* everything("t", "t#0", child.runId), before)
      }))

    check("a settled child stays as it is when its parent closes it again", () =>
      Effect.gen(function*() {
        const store = yield* RunStore.RunStore
        const parent = yield* open("t")
        const child = yield* create(parent, "0.0")
        yield* store.settle(child, settlement("{\"first\":1}"), [], 16)
        const before = yield* store.load(child.runId)

        yield* Effect.exit(store.append(parent, {
          records: [],
          events: [],
          close: [{ runId: child.runId, settlement: settlement("{\"second\":2}") }]
        }))

        assert.deepStrictEqual(yield* store.load(child.runId), before)
      }))

    check("a record and the closing of a child that is gone are both kept, or neither", () =>
      Effect.gen(function*() {
        const store = yield* RunStore.RunStore
        const parent = yield* open("t")
        const before = yield* everything("t", "t#0")
        const exit = yield* Effect.exit(store.append(parent, {
          records: [record("t/0.0")],
          events: [event("t#0", "closed")],
          close: [{ runId: "t#0/0.0#0", settlement: settlement() }]
        }))

        if (exit._tag === "Failure") return assert.deepStrictEqual(yield* everything("t", "t#0"), before)
        assert.deepStrictEqual(keys(yield* store.load("t#0")), ["t/0.0"])
        assert.lengthOf(yield* store.events("t", 0), before.events.length + 1)
      }))
  })
}
