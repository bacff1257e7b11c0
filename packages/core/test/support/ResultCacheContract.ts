/** What every result cache keeps, over any backing. */
import { assert, type it } from "@effect/vitest"
import { CachedResult, ResultCache } from "@mandate/core"
import { Duration, Effect, type Layer, Option } from "effect"

export interface Backing<E> {
  /** Gives the same storage each time it is built within one test. */
  readonly layer: Layer.Layer<ResultCache.ResultCache, E>

  /** Lets time pass. */
  readonly pass: (duration: Duration.Input) => Effect.Effect<void>

  readonly test: typeof it.effect | typeof it.live
}

const limit = { _tag: "BudgetExceeded", limit: "tokens" } as const

export const key = (name: string): string => name.padStart(64, "0")

/** The result of a key, as it was when it was kept. */
export const read = (name: string) =>
  Effect.flatMap(
    ResultCache.ResultCache,
    (cache) => Effect.map(cache.get(key(name)), (found) => Option.getOrUndefined(Option.map(found, CachedResult.value)))
  )

export const write = (name: string, value: string, timeToLive?: Duration.Input) =>
  Effect.flatMap(
    ResultCache.ResultCache,
    (cache) => cache.set(key(name), CachedResult.success(value), { timeToLive })
  )

export const contract = <E>({ layer, pass, test }: Backing<E>): void => {
  const check = <A>(name: string, body: Effect.Effect<A, never, ResultCache.ResultCache>) =>
    test(name, () => Effect.provide(body, layer))

  check(
    "finds what was kept, and nothing else",
    Effect.gen(function*() {
      const cache = yield* ResultCache.ResultCache
      const whole = CachedResult.success({ facts: ["漢😀", "\"\\\n"], __proto__: null, n: 1e21 })
      const partial = CachedResult.partial("so far", limit)
      yield* cache.set(key("whole"), whole)
      yield* cache.set(key("partial"), partial)

      assert.deepStrictEqual(yield* cache.get(key("whole")), Option.some(whole))
      assert.deepStrictEqual(yield* cache.get(key("partial")), Option.some(partial))
      assert.deepStrictEqual(yield* cache.get(key("other")), Option.none())
      assert.deepStrictEqual(yield* cache.get("__proto__"), Option.none())
    })
  )

  check(
    "keeps the newest of a key",
    Effect.gen(function*() {
      yield* write("a", "old")
      yield* write("a", "new")

      assert.strictEqual(yield* read("a"), "new")
    })
  )

  check(
    "is not changed through what it was given, nor through what it gave",
    Effect.gen(function*() {
      const cache = yield* ResultCache.ResultCache
      const given: { -readonly [K in keyof CachedResult.CachedResult]: CachedResult.CachedResult[K] } = {
        ...CachedResult.success({ facts: ["a"] })
      }
      yield* cache.set(key("a"), given as CachedResult.CachedResult)
      given.result = "\"changed\""
      const first = Option.getOrThrow(yield* cache.get(key("a")))
      ;(CachedResult.value(first) as { facts: Array<string> }).facts.push("changed")
      Reflect.set(first, "result", "\"changed\"")

      assert.deepStrictEqual(yield* read("a"), { facts: ["a"] })
    })
  )

  check(
    "removes one, and all",
    Effect.gen(function*() {
      const cache = yield* ResultCache.ResultCache
      yield* Effect.forEach(["a", "b", "c"], (name) => write(name, name))
      yield* cache.remove(key("a"))
      yield* cache.remove(key("none"))
      const kept = yield* Effect.forEach(["a", "b", "c"], read)
      yield* cache.clear
      yield* cache.clear

      assert.deepStrictEqual(kept, [undefined, "b", "c"])
      assert.deepStrictEqual(yield* Effect.forEach(["a", "b", "c"], read), [undefined, undefined, undefined])
    })
  )

  check(
    "does not find what is over its time to live",
    Effect.gen(function*() {
      yield* write("short", "a", "200 millis")
      yield* write("long", "b", "1 hour")
      yield* write("endless", "c", "Infinity")
      const before = yield* Effect.forEach(["short", "long", "endless"], read)
      yield* pass("300 millis")

      assert.deepStrictEqual(before, ["a", "b", "c"])
      assert.deepStrictEqual(yield* Effect.forEach(["short", "long", "endless"], read), [undefined, "b", "c"])
    })
  )

  check(
    "keeps results up to the bound; a larger one, or one that is over at once, takes the earlier one's place with nothing",
    Effect.gen(function*() {
      const largest = "x".repeat(CachedResult.maxResultBytes - 2)
      yield* Effect.forEach(["large", "larger", "over"], (name) => write(name, "before"))
      yield* write("large", largest)
      yield* write("larger", `${largest}x`)
      yield* write("over", "now", Duration.zero)

      assert.isTrue((yield* read("large")) === largest)
      assert.deepStrictEqual(yield* Effect.forEach(["larger", "over"], read), [undefined, undefined])
    })
  )

  check(
    "is used by many at once",
    Effect.gen(function*() {
      const names = Array.from({ length: 50 }, (_, index) => `${index}`)
      yield* Effect.forEach(names, (name) => write(name, `of ${name}`), { concurrency: "unbounded" })

      assert.deepStrictEqual(
        yield* Effect.forEach(names, read, { concurrency: "unbounded" }),
        names.map((name) => `of ${name}`)
      )
    })
  )
}
