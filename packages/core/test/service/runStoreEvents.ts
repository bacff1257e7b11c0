import { assert, describe } from "@effect/vitest"
import { RunStore } from "@mandate/core"
import { Effect } from "effect"
import { type Check, create, event, finished, named, open, settlement } from "./runStoreRows.ts"

/** The durable events of a tree: rule 6. */
export const events = (check: Check): void => {
  describe("events", () => {
    check("are numbered from 1 over a whole tree, in the order of what they describe", () =>
      Effect.gen(function*() {
        const store = yield* RunStore.RunStore
        const parent = yield* open("t")
        const other = yield* open("other")
        const child = yield* create(parent, "0.0")
        const first = yield* store.append(child, {
          records: [],
          events: [event(child.runId, "a"), event(child.runId, "b")]
        })
        const second = yield* store.append(parent, { records: [], events: [event("t#0", "c")] })
        yield* store.append(other, { records: [], events: [event("other#0", "d")] })
        const third = yield* store.settle(child, settlement(), [event(child.runId, "e")], 16)

        assert.deepStrictEqual([first, second, third], [3, 5, 6])
        assert.deepStrictEqual(named(yield* store.events("t", 0)), [
          [1, "t#0 started"],
          [2, "t#0/0.0#0 started"],
          [3, "a"],
          [4, "b"],
          [5, "c"],
          [6, "e"]
        ])
        assert.deepStrictEqual(named(yield* store.events("t", 4)), [[5, "c"], [6, "e"]])
        assert.deepStrictEqual(yield* store.events("t", 6), [])
        assert.deepStrictEqual(named(yield* store.events("other", 0)), [[1, "other#0 started"], [2, "d"]])
        assert.deepStrictEqual(yield* store.events(child.threadId, 0), [])
      }))

    check("are numbered on over the runs of a thread", () =>
      Effect.gen(function*() {
        const store = yield* RunStore.RunStore
        const first = yield* open("t")
        yield* store.settle(first, settlement(), [event("t#0", "settled")], 16)
        yield* open("t")

        assert.deepStrictEqual(named(yield* store.events("t", 0)), [
          [1, "t#0 started"],
          [2, "settled"],
          [3, "t#1 started"]
        ])
      }))

    check("go with the run they belong to, and no number is given twice", () =>
      Effect.gen(function*() {
        const store = yield* RunStore.RunStore
        const parent = yield* open("t")
        yield* finished(parent, "0.0")
        yield* finished(parent, "0.1")
        const sequence = yield* store.append(parent, {
          records: [],
          events: [event("t#0", "recorded")],
          keepChildren: 1
        })
        const next = yield* store.append(parent, { records: [], events: [event("t#0", "next")] })

        assert.deepStrictEqual([sequence, next], [6, 7])
        assert.deepStrictEqual(named(yield* store.events("t", 0)), [
          [1, "t#0 started"],
          [4, "t#0/0.1#0 started"],
          [5, "t#0/0.1#0 settled"],
          [6, "recorded"],
          [7, "next"]
        ])
      }))
  })
}
