import { assert, describe, it } from "@effect/vitest"
import { CachedResult, type ResultCache } from "@mandate/core"
import { ResultCachePersistence } from "@mandate/core/persistence"
import { Effect, Fiber, Layer } from "effect"
import { KeyValueStore, Persistence } from "effect/persistence"
import { TestClock } from "effect/testing"
import * as FaultyBacking from "../support/FaultyBacking.ts"
import { contract, key, read, write } from "../support/ResultCacheContract.ts"

const memory = Persistence.layerBackingMemory

describe("a result cache over effect/persistence in memory", () =>
  contract({
    layer: Layer.provide(ResultCachePersistence.layer(), memory),
    pass: TestClock.adjust,
    test: it.effect
  }))

describe("a result cache over effect/persistence in a key-value store", () =>
  contract({
    layer: ResultCachePersistence.layer().pipe(
      Layer.provide(Persistence.layerBackingKvs),
      Layer.provide(KeyValueStore.layerMemory)
    ),
    pass: TestClock.adjust,
    test: it.effect
  }))

/** Uses caches over one storage, each built anew. */
const shared = Effect.map(Persistence.BackingPersistence, (backing) => ({
  using: <A, E>(
    options: ResultCachePersistence.Options,
    effect: Effect.Effect<A, E, ResultCache.ResultCache>
  ) =>
    Effect.provide(
      effect,
      Layer.provide(
        Layer.fresh(ResultCachePersistence.layer(options)),
        Layer.succeed(Persistence.BackingPersistence, backing)
      )
    ),
  raw: backing.make("mandate_results")
}))

describe("ResultCachePersistence.layer", () => {
  it.effect("shares entries under one store id, and keeps them apart under another", () =>
    Effect.gen(function*() {
      const { using } = yield* shared
      yield* using({ storeId: "one" }, write("a", "of one"))
      yield* using({ storeId: "two" }, write("a", "of two"))

      assert.strictEqual(yield* using({ storeId: "one" }, read("a")), "of one")
      assert.strictEqual(yield* using({ storeId: "two" }, read("a")), "of two")
      assert.isUndefined(yield* using({}, read("a")))
    }).pipe(Effect.provide(memory)))

  it.effect("keeps a result for a day, for its own time, or for that of its agent", () =>
    Effect.gen(function*() {
      const { using } = yield* shared
      yield* using({}, Effect.andThen(write("day", "a"), write("week", "a", "7 days")))
      yield* using({ timeToLive: "1 hour" }, write("hour", "a"))
      yield* using({ timeToLive: "Infinity" }, write("ever", "a"))
      const left = using({}, Effect.forEach(["hour", "day", "week", "ever"], read))
      const seen = []
      for (const pass of ["59 minutes", "1 minute", "23 hours", "6 days", "1000 days"] as const) {
        yield* TestClock.adjust(pass)
        seen.push((yield* left).map((value) => value ?? "-").join(""))
      }

      assert.deepStrictEqual(seen, ["aaaa", "-aaa", "--aa", "---a", "---a"])
    }).pipe(Effect.provide(memory)))

  it.effect("misses entries of other formats and removes them", () =>
    Effect.gen(function*() {
      const { raw, using } = yield* shared
      const lines: Array<string> = []
      const store = yield* raw
      yield* store.set(key("new"), { ...CachedResult.success("a"), format: 2 }, undefined)
      yield* store.set(key("other"), { value: "a" }, undefined)
      const found = yield* Effect.provide(
        using({}, Effect.forEach(["new", "other"], read)),
        FaultyBacking.logging(lines)
      )

      assert.deepStrictEqual(found, [undefined, undefined])
      assert.deepStrictEqual(yield* store.getMany([key("new"), key("other")]), [undefined, undefined])
      assert.lengthOf(lines, 1)
    }).pipe(Effect.scoped, Effect.provide(memory)))

  it.effect("is done without where the storage hangs", () =>
    Effect.gen(function*() {
      const hanging: Persistence.BackingPersistenceStore = {
        get: () => Effect.never,
        getMany: () => Effect.never,
        set: () => Effect.never,
        setMany: () => Effect.never,
        remove: () => Effect.never,
        clear: Effect.never
      }
      const lines: Array<string> = []
      const fiber = yield* Effect.andThen(write("a", "a"), read("a")).pipe(
        Effect.provide(Layer.provide(
          ResultCachePersistence.layer({ timeout: "1 second" }),
          Layer.succeed(Persistence.BackingPersistence, { make: () => Effect.succeed(hanging) })
        )),
        Effect.provide(FaultyBacking.logging(lines)),
        Effect.forkChild({ startImmediately: true })
      )
      yield* TestClock.adjust("1 second")
      yield* TestClock.adjust("1 second")

      assert.isUndefined(yield* Fiber.join(fiber))
      assert.lengthOf(lines, 1)
    }))
})
