import { assert, describe, it } from "@effect/vitest"
import { MemoryRunStore, RunStore, Threads } from "@mandate/core"
import { TestRuntime } from "@mandate/testing"
import { Effect, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { by, open, ttl, upTo } from "../support/StoreRows.ts"

/** A runtime, and its store for what other processes write. */
const runtime = Layer.suspend(() => {
  const store = MemoryRunStore.make()
  return Layer.merge(TestRuntime.layerStore(store), Layer.succeed(RunStore.RunStore, store))
})

describe("a page of threads", () => {
  it.effect("has 100 of them unless told otherwise, and 1000 at most; all pages have each of them once", () =>
    Effect.gen(function*() {
      const threads = upTo(1001).map((index) => `t-${1000 + index}`)
      yield* Effect.forEach(threads, (threadId) => open(threadId))
      const ids = (found: ReadonlyArray<Threads.ThreadSummary>) => found.map(({ threadId }): string => threadId)

      assert.deepStrictEqual(ids(yield* Threads.list()), threads.slice(0, 100))
      assert.deepStrictEqual(ids(yield* Threads.list({ limit: 1000 })), threads.slice(0, 1000))
      assert.deepStrictEqual(ids(yield* Stream.runCollect(Threads.all())), threads)
    }).pipe(Effect.provide(runtime)))
})

describe("a listed thread", () => {
  it.effect("is held until the time of its lease is over, and free from then on", () =>
    Effect.gen(function*() {
      yield* open("t", {}, by("gone", 0))
      const isHeld = Effect.map(Threads.list(), (found) => found.map(({ isHeld }) => isHeld))
      yield* TestClock.adjust(ttl - 1)
      const before = yield* isHeld
      yield* TestClock.adjust(1)

      assert.deepStrictEqual([before, yield* isHeld], [[true], [false]])
    }).pipe(Effect.provide(runtime)))
})
