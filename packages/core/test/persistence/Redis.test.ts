import * as NodeRedis from "@effect/platform-node/NodeRedis"
import { assert, describe, it } from "@effect/vitest"
import { CachedResult } from "@mandate/core"
import { ResultCachePersistence } from "@mandate/core/persistence"
import { Duration, Effect, Layer } from "effect"
import { Persistence, Redis } from "effect/persistence"
import * as FaultyBacking from "../support/FaultyBacking.ts"
import * as RedisServer from "../support/RedisServer.ts"
import { contract, key, read, write } from "../support/ResultCacheContract.ts"

if (!RedisServer.isInstalled) {
  console.warn("SKIPPED: the result cache on Redis is not tested, since redis-server is not installed")
}

/** A cache with a connection of its own. */
const client = ({ url }: RedisServer.RedisServer, options: ResultCachePersistence.Options = {}) =>
  Layer.fresh(
    ResultCachePersistence.layer(options).pipe(
      Layer.provide(Persistence.layerBackingRedis),
      Layer.provideMerge(NodeRedis.layer({ url }))
    )
  )

const quickly = { timeout: "300 millis" } as const

/** Whether an effect came to its end within a time, and what it gave. */
const timed = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.map(Effect.timed(effect), ([duration, value]) => ({ millis: Duration.toMillis(duration), value }))

describe.skipIf(!RedisServer.isInstalled)("a result cache on Redis", { timeout: 30_000 }, () => {
  contract({
    layer: Layer.unwrap(Effect.map(RedisServer.make, client)),
    pass: (duration) => Effect.sleep(duration),
    test: it.live
  })

  it.live("shares its entries with other clients, and lets the server drop them in time", () =>
    Effect.gen(function*() {
      const server = yield* RedisServer.make
      yield* Effect.provide(write("a", "of the first", "1 hour"), client(server))
      const second = yield* Layer.build(client(server))

      assert.strictEqual(yield* Effect.provide(read("a"), second), "of the first")
      const redis = yield* Effect.provide(Redis.Redis, second)
      assert.deepStrictEqual(yield* redis.send("KEYS", "*"), [`mandate_results:${key("a")}`])
      const left = yield* redis.send<number>("PTTL", `mandate_results:${key("a")}`)
      assert.isAbove(left, 3_500_000)
      assert.isAtMost(left, 3_600_000)
    }).pipe(Effect.scoped))

  it.live("misses and replaces what others wrote under its keys", () =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const server = yield* RedisServer.make
      const services = yield* Layer.build(client(server))
      const redis = yield* Effect.provide(Redis.Redis, services)
      yield* redis.send("SET", `mandate_results:${key("a")}`, "no JSON")
      yield* redis.send("SET", `mandate_results:${key("b")}`, JSON.stringify({ ...CachedResult.success(1), format: 2 }))
      yield* redis.send("LPUSH", `mandate_results:${key("c")}`, "a list")
      const names = ["a", "b", "c"]
      const found = yield* Effect.forEach(names, read).pipe(
        Effect.provide(services),
        Effect.provide(FaultyBacking.logging(lines))
      )
      yield* Effect.provide(Effect.forEach(names, (name) => write(name, name)), services)

      assert.deepStrictEqual(found, [undefined, undefined, undefined])
      assert.deepStrictEqual(yield* Effect.provide(Effect.forEach(names, read), services), names)
      assert.lengthOf(lines, 2)
    }).pipe(Effect.scoped))

  it.live("goes on without a server that is gone, and with it when it is back", () =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const server = yield* RedisServer.make
      const services = yield* Layer.build(Layer.provide(client(server, quickly), FaultyBacking.logging(lines)))
      const using = Effect.provide(services)
      yield* using(write("a", "before"))
      assert.strictEqual(yield* using(read("a")), "before")

      // It is there again in any case: the client waits for it when it closes.
      const without = yield* Effect.acquireUseRelease(
        server.kill,
        () => using(Effect.tap(timed(read("a")), write("a", "meanwhile"))),
        () => server.start
      ).pipe(Effect.provide(FaultyBacking.logging(lines)))
      const redis = yield* using(Redis.Redis)
      yield* redis.send("PING").pipe(Effect.timeout("10 seconds"))
      yield* redis.send("FLUSHALL")
      const empty = yield* using(read("a"))
      yield* using(write("a", "after"))

      assert.isUndefined(without.value)
      assert.isBelow(without.millis, 2000)
      assert.isUndefined(empty)
      assert.strictEqual(yield* using(read("a")), "after")
      assert.isTrue(lines.some((line) => line.includes("runs go on without it")))
    }).pipe(Effect.scoped))

  it.live("misses at once without a server, where the client keeps no commands for later", () =>
    Effect.gen(function*() {
      const server = yield* RedisServer.make
      const cache = ResultCachePersistence.layer().pipe(
        Layer.provide(Persistence.layerBackingRedis),
        Layer.provide(NodeRedis.layer({ url: server.url, disableOfflineQueue: true }))
      )
      const services = yield* Layer.build(Layer.fresh(cache)).pipe(Effect.provide(FaultyBacking.logging([])))
      const found = yield* Effect.acquireUseRelease(
        server.kill,
        () => Effect.provide(timed(read("a")), services),
        () => server.start
      ).pipe(Effect.provide(FaultyBacking.logging([])))

      assert.isUndefined(found.value)
      assert.isBelow(found.millis, 1000)
    }).pipe(Effect.scoped))

  it.live("waits only its time for a server that hangs, and finds its entries when it goes on", () =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const server = yield* RedisServer.make
      const services = yield* Layer.build(client(server, quickly))
      const using = Effect.provide(services)
      yield* using(write("a", "before"))

      const [found, written] = yield* Effect.acquireUseRelease(
        server.pause,
        () => using(Effect.all([timed(read("a")), timed(write("b", "meanwhile"))])),
        () => server.resume
      ).pipe(Effect.provide(FaultyBacking.logging(lines)))

      assert.isUndefined(found.value)
      for (const { millis } of [found, written]) {
        assert.isAtLeast(millis, 290)
        assert.isBelow(millis, 2000)
      }
      assert.deepStrictEqual(lines, ["The storage of the result cache does not answer in time; runs go on without it"])
      assert.strictEqual(yield* using(read("a")), "before")
    }).pipe(Effect.scoped))
})
