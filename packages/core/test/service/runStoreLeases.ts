import { assert, describe } from "@effect/vitest"
import { RunStore } from "@mandate/core"
import { Effect } from "effect"
import { append, by, type Check, create, finished, keys, open, settlement, ttl } from "./runStoreRows.ts"

/** Who holds a thread and for how long, and taking a tree over: rule 4. */
export const leases = (check: Check): void => {
  describe("leases", () => {
    check("holds a thread for its holder alone, until its time is over", () =>
      Effect.gen(function*() {
        const store = yield* RunStore.RunStore
        yield* open("t", {}, by("one", 1000))

        assert.deepStrictEqual(yield* store.lease("t", by("two", 1000 + ttl - 1)), { _tag: "Held", until: 1000 + ttl })
        assert.strictEqual((yield* store.lease("t", by("one", 1000)))._tag, "Taken")
        assert.strictEqual((yield* store.lease("t", by("two", 1000 + ttl)))._tag, "Taken")
        assert.deepStrictEqual(yield* store.lease("t", by("one", 1000 + ttl)), { _tag: "Held", until: 1000 + 2 * ttl })
      }))

    check("gives a held thread to whoever takes it by force", () =>
      Effect.gen(function*() {
        const store = yield* RunStore.RunStore
        const fence = yield* open("t")
        const leased = yield* store.lease("t", { ...by("two"), force: true })

        assert.isTrue(leased._tag === "Taken" && leased.epoch > fence.epoch)
        assert.strictEqual((yield* Effect.flip(append(fence, "late")))._tag, "Fenced")
      }))

    check("gives every lease that is taken a higher epoch than any before it", () =>
      Effect.gen(function*() {
        const store = yield* RunStore.RunStore
        const epochs: Array<number> = []
        const lease = Effect.fnUntraced(function*(threadId: string, holder: string, now: number) {
          const leased = yield* store.lease(threadId, by(holder, now))
          if (leased._tag === "Taken") epochs.push(leased.epoch)
        })
        const parent = yield* open("t")
        epochs.push(parent.epoch)
        yield* lease("t", "one", 0)
        yield* lease("t", "two", ttl)
        epochs.push(...(yield* store.seize("t#0", by("three"))).map(({ epoch }) => epoch))
        yield* store.release("three")
        yield* lease("t", "four", 0)
        yield* store.forget("t")
        epochs.push((yield* open("t")).epoch)

        assert.lengthOf(epochs, 6)
        assert.deepStrictEqual(epochs, [...new Set(epochs)].sort((a, b) => a - b))
      }))

    check("is taken by one of many that ask at once", () =>
      Effect.gen(function*() {
        const store = yield* RunStore.RunStore
        yield* open("t")
        yield* store.release("one")
        const leased = yield* Effect.forEach(
          Array.from({ length: 20 }, (_, index) => by(`holder-${index}`)),
          (lease) => store.lease("t", lease),
          { concurrency: "unbounded" }
        )

        assert.lengthOf(leased.filter(({ _tag }) => _tag === "Taken"), 1)
      }))

    check("extends all leases of one holder, and no other's", () =>
      Effect.gen(function*() {
        const store = yield* RunStore.RunStore
        const fence = yield* open("a")
        yield* open("b")
        yield* open("c", {}, by("two"))
        yield* store.renew(by("one", 9000))

        assert.deepStrictEqual(
          yield* Effect.forEach(["a", "b", "c"], (thread) => store.lease(thread, by("three", 1))),
          [{ _tag: "Held", until: 9000 + ttl }, { _tag: "Held", until: 9000 + ttl }, { _tag: "Held", until: ttl }]
        )
        yield* append(fence, "m/0")
        assert.deepStrictEqual(keys(yield* store.load("a#0")), ["m/0"])
      }))

    check("gives back all leases of one holder, and no other's; the runs stay open", () =>
      Effect.gen(function*() {
        const store = yield* RunStore.RunStore
        yield* open("a")
        yield* open("b", {}, by("two"))
        yield* store.release("one")

        assert.strictEqual((yield* store.load("a#0"))!.row.state, "Running")
        assert.strictEqual((yield* store.lease("a", by("three")))._tag, "Taken")
        assert.strictEqual((yield* store.lease("b", by("three")))._tag, "Held")
      }))

    check("gives the lease back when a run settles", () =>
      Effect.gen(function*() {
        const store = yield* RunStore.RunStore
        const fence = yield* open("t")
        yield* store.settle(fence, settlement(), [], 16)

        assert.strictEqual((yield* store.lease("t", by("two")))._tag, "Taken")
      }))
  })

  describe("seizing", () => {
    check(
      "takes over a run and every open run below it, parents first, with their records",
      () =>
        Effect.gen(function*() {
          const store = yield* RunStore.RunStore
          const parent = yield* open("t")
          const done = yield* finished(parent, "0.0")
          const child = yield* create(parent, "0.1")
          const grandchild = yield* create(child, "3.2")
          yield* append(grandchild, "m/0")
          yield* store.suspend(child, { usage: "{}", activeMillis: 0 }, [])
          const fences = [parent, child, grandchild]

          const seized = yield* store.seize("t#0", by("two"))

          assert.deepStrictEqual(seized.map(({ row }) => row.runId), ["t#0", child.runId, grandchild.runId])
          assert.deepStrictEqual(seized.map(keys), [["t/0.0"], [], ["m/0"]])
          seized.forEach(({ epoch }, index) => assert.isAbove(epoch, fences[index]!.epoch))
          for (const fence of fences) assert.strictEqual((yield* Effect.flip(append(fence, "late")))._tag, "Fenced")
          for (const { epoch, row } of seized) yield* append({ ...row, epoch }, "mine")
          assert.strictEqual((yield* store.load(done.runId))!.epoch, done.epoch)
        })
    )

    check("takes over a child alone, and leaves its parent", () =>
      Effect.gen(function*() {
        const store = yield* RunStore.RunStore
        const parent = yield* open("t")
        const child = yield* create(parent, "0.0")
        const seized = yield* store.seize(child.runId, by("two"))

        assert.deepStrictEqual(seized.map(({ row }) => row.runId), [child.runId])
        yield* append(parent, "m/0")
        assert.strictEqual((yield* Effect.flip(append(child, "late")))._tag, "Fenced")
      }))

    check("finds nothing in a run that is settled or not there", () =>
      Effect.gen(function*() {
        const store = yield* RunStore.RunStore
        const fence = yield* open("t")
        yield* store.settle(fence, settlement(), [], 16)

        assert.deepStrictEqual(yield* store.seize("t#0", by("two")), [])
        assert.deepStrictEqual(yield* store.seize("nobody#0", by("two")), [])
      }))
  })
}
