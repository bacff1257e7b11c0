import { assert, describe } from "@effect/vitest"
import { RunStore } from "@mandate/core"
import { Effect } from "effect"
import {
  append,
  by,
  type Check,
  create,
  event,
  everything,
  keys,
  named,
  open,
  record,
  settlement,
  ttl
} from "./runStoreRows.ts"

/** Answers to suspended runs, and who holds a thread. */
export const answers = (check: Check): void => {
  const waiting = Effect.gen(function*() {
    const store = yield* RunStore.RunStore
    const parent = yield* open("t")
    const child = yield* create(parent, "0.0")
    yield* append(child, "m/0", "i/1")
    yield* store.suspend(child, { usage: "{}", activeMillis: 1 }, [])
    yield* store.suspend(parent, { usage: "{}", activeMillis: 2 }, [])
    return { parent, child }
  })

  describe("answering", () => {
    check(
      "stores answers along the path, marks its runs running and takes the lease of the thread",
      () =>
        Effect.gen(function*() {
          const store = yield* RunStore.RunStore
          const { child, parent } = yield* waiting
          const { epoch, sequence } = yield* store.answer("t", by("two"), [
            { runId: "t#0", records: [] },
            { runId: child.runId, records: [record("a/1", "true")] }
          ], [event("t#0", "resumed"), event(child.runId, "resumed below")])

          const loaded = yield* Effect.forEach(["t#0", child.runId], (runId) => store.load(runId))
          assert.deepStrictEqual(loaded.map((run) => run!.row.state), ["Running", "Running"])
          assert.deepStrictEqual(loaded.map(keys), [[], ["m/0", "i/1", "a/1"]])
          assert.isAbove(epoch, parent.epoch)
          assert.strictEqual(loaded[0]!.epoch, epoch)
          assert.deepStrictEqual(named(yield* store.events("t", sequence - 1)), [[3, "resumed"], [4, "resumed below"]])
          yield* append({ ...parent, epoch }, "mine")
          assert.strictEqual((yield* Effect.flip(append(parent, "late")))._tag, "Fenced")
          assert.deepStrictEqual(yield* store.lease("t", by("three")), { _tag: "Held", until: ttl })
        })
    )

    check(
      "fails and changes nothing when one of its runs is not suspended, is gone, or has the answer",
      () =>
        Effect.gen(function*() {
          const store = yield* RunStore.RunStore
          const { child } = yield* waiting
          const running = yield* open("running")
          const settled = yield* open("settled")
          yield* store.settle(settled, settlement(), [], 16)
          const before = yield* everything("t", "t#0", child.runId)
          for (
            const last of [
              { runId: running.runId, records: [record("a/1")] },
              { runId: settled.runId, records: [] },
              { runId: "nobody#0", records: [] },
              { runId: child.runId, records: [record("a/1"), record("i/1", "other")] }
            ]
          ) {
            const error = yield* Effect.flip(
              store.answer("t", by("two"), [{ runId: "t#0", records: [record("a/0")] }, last], [event("t#0", "late")])
            )

            assert.deepStrictEqual([error._tag, error._tag === "Fenced" && error.runId], ["Fenced", last.runId])
            assert.deepStrictEqual(yield* everything("t", "t#0", child.runId), before)
          }
        })
    )

    check("stores one answer when two come at once", () =>
      Effect.gen(function*() {
        const store = yield* RunStore.RunStore
        yield* waiting
        const exits = yield* Effect.forEach(
          ["1", "2"],
          (json) => Effect.exit(store.answer("t", by(json), [{ runId: "t#0", records: [record("a/1", json)] }], [])),
          { concurrency: "unbounded" }
        )

        assert.deepStrictEqual(exits.map(({ _tag }) => _tag), ["Success", "Failure"])
        assert.deepStrictEqual((yield* store.load("t#0"))!.records, [record("a/1", "1")])
      }))
  })

  check("tells whether another instance holds a thread", () =>
    Effect.gen(function*() {
      const store = yield* RunStore.RunStore
      yield* open("t")

      assert.isTrue(yield* store.isHeld("t", by("two")))
      assert.isFalse(yield* store.isHeld("t", by("one")))
      assert.isFalse(yield* store.isHeld("t", by("two", ttl)))
      assert.isFalse(yield* store.isHeld("nobody", by("two")))
      yield* store.release("one")
      assert.isFalse(yield* store.isHeld("t", by("two")))
      assert.deepStrictEqual(yield* store.thread("nobody"), [])
    }))
}
