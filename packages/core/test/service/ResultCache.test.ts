import { assert, describe, it } from "@effect/vitest"
import { CachedResult, ResultCache } from "@mandate/core"
import { Arbitrary, Cause, Duration, Effect, Exit, Fiber, Layer, Option, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as FaultyBacking from "../support/FaultyBacking.ts"
import { contract, key, read, write } from "../support/ResultCacheContract.ts"

describe("a result cache in memory", () =>
  contract({ layer: ResultCache.layerMemory(), pass: TestClock.adjust, test: it.effect }))

describe("a result cache over a storage", () =>
  contract({
    layer: Layer.sync(ResultCache.ResultCache, () => {
      const expires = new Map<string, number>()
      const backing = FaultyBacking.make()
      const now = Effect.clockWith((clock) => Effect.sync(() => clock.currentTimeMillisUnsafe()))
      return ResultCache.make({
        ...backing,
        read: (name) =>
          Effect.flatMap(now, (at) => (expires.get(name) ?? 0) <= at ? Effect.undefined : backing.read(name)),
        write: (name, entry, timeToLive) =>
          Effect.flatMap(now, (at) => {
            expires.set(name, timeToLive === undefined ? Number.POSITIVE_INFINITY : at + Duration.toMillis(timeToLive))
            return backing.write(name, entry, timeToLive)
          })
      })
    }),
    pass: TestClock.adjust,
    test: it.effect
  }))

const Step = Schema.Union([
  Schema.Struct({ step: Schema.Literals(["get", "remove"]), name: Schema.Literals(["a", "b", "c", "d", "e", "f"]) }),
  Schema.Struct({
    step: Schema.Literal("set"),
    name: Schema.Literals(["a", "b", "c", "d", "e", "f"]),
    seconds: Schema.Literals([1, 3, 1000])
  }),
  Schema.Struct({ step: Schema.Literal("pass"), seconds: Schema.Literals([1, 2]) })
])

// The same rules over a plain list, the one used last at its end.
const model = (capacity: number) => {
  let now = 0
  let list: ReadonlyArray<{ readonly name: string; readonly value: string; readonly expires: number }> = []
  const without = (name: string) => list.filter((entry) => entry.name !== name)
  return {
    pass: (seconds: number) => {
      now += seconds
    },
    get: (name: string) => {
      const found = list.find((entry) => entry.name === name)
      list = found === undefined || found.expires <= now ? without(name) : [...without(name), found]
      return found !== undefined && found.expires > now ? found.value : undefined
    },
    set: (name: string, value: string, seconds: number) => {
      list = [...without(name), { name, value, expires: now + seconds }].slice(-capacity)
    },
    remove: (name: string) => {
      list = without(name)
    }
  }
}

describe("ResultCache.layerMemory", () => {
  it.effect.prop(
    "drops the entries that were not used for longest, however it is used",
    {
      capacity: Schema.Literals([1, 2, 3, 4]),
      steps: Arbitrary.array(Arbitrary.schema(Step), { minLength: 20, maxLength: 60 })
    },
    ({ capacity, steps }) =>
      Effect.gen(function*() {
        const cache = yield* ResultCache.ResultCache
        const expected = model(capacity)
        for (const [index, step] of steps.entries()) {
          switch (step.step) {
            case "get":
              assert.deepStrictEqual(yield* read(step.name), expected.get(step.name))
              break
            case "set":
              yield* write(step.name, `${index}`, step.seconds * 1000)
              expected.set(step.name, `${index}`, step.seconds)
              break
            case "remove":
              yield* cache.remove(key(step.name))
              expected.remove(step.name)
              break
            default:
              yield* TestClock.adjust(step.seconds * 1000)
              expected.pass(step.seconds)
          }
        }
        for (const name of ["a", "b", "c", "d", "e", "f"]) {
          assert.deepStrictEqual(yield* read(name), expected.get(name), `${name} at the end`)
        }
      }).pipe(Effect.provide(ResultCache.layerMemory({ capacity })))
  )

  it.effect("uses an entry by reading it", () =>
    Effect.gen(function*() {
      yield* write("a", "a")
      yield* write("b", "b")
      yield* read("a")
      yield* write("c", "c")

      assert.deepStrictEqual(yield* Effect.forEach(["a", "b", "c"], read), ["a", undefined, "c"])
    }).pipe(Effect.provide(ResultCache.layerMemory({ capacity: 2 }))))

  it.effect("keeps 256 entries unless it is told otherwise", () =>
    Effect.gen(function*() {
      yield* Effect.forEach(Array.from({ length: 257 }, (_, index) => `${index}`), (name) => write(name, name))

      assert.isUndefined(yield* read("0"))
      assert.strictEqual(yield* read("1"), "1")
    }).pipe(Effect.provide(ResultCache.layerMemory())))

  it.effect.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])(
    "has no capacity of %s",
    (capacity) =>
      Effect.gen(function*() {
        const exit = yield* Effect.exit(Effect.provide(Effect.void, ResultCache.layerMemory({ capacity })))

        assert.isTrue(Exit.isFailure(exit))
        if (Exit.isFailure(exit)) {
          assert.include(Cause.pretty(exit.cause), `capacity must be a positive whole number, not ${capacity}`)
        }
      })
  )
})

describe("ResultCache.layerNone", () => {
  it.effect("keeps nothing", () =>
    Effect.gen(function*() {
      const cache = yield* ResultCache.ResultCache
      yield* write("a", "a")
      yield* cache.remove(key("a"))
      yield* cache.clear

      assert.isUndefined(yield* read("a"))
    }).pipe(Effect.provide(ResultCache.layerNone)))
})

const secret = "s3cr3t"

/** A cache over a storage with an entry "a", and what is logged. */
const faulty = Effect.map(
  Effect.sync(() => ({ backing: FaultyBacking.make(), lines: Array<string>() })),
  ({ backing, lines }) => {
    const cache = ResultCache.make(backing)
    backing.entries.set(key("a"), CachedResult.success(secret))
    const using = <A, E>(effect: Effect.Effect<A, E, ResultCache.ResultCache>) =>
      Effect.provide(effect, [Layer.succeed(ResultCache.ResultCache, cache), FaultyBacking.logging(lines)])
    return { backing, lines, cache, using }
  }
)

const everything = Effect.gen(function*() {
  const cache = yield* ResultCache.ResultCache
  const found = yield* cache.get(key("a"))
  yield* cache.set(key("b"), CachedResult.success(secret))
  yield* cache.remove(key("a"))
  yield* cache.clear
  return found
})

const never = Effect.uninterruptible(Effect.never)

describe("ResultCache.make", () => {
  it.effect.each<readonly [string, () => Effect.Effect<void, unknown>, string?]>([
    ["fails", () => Effect.fail(new Error("no connection"))],
    ["dies", () => Effect.die(new Error("no connection"))],
    [
      "throws",
      () => {
        throw new Error("no connection")
      }
    ],
    ["fails later", () => Effect.andThen(Effect.yieldNow, Effect.fail(new Error("no connection")))],
    ["interrupts itself", () => Effect.interrupt, "interrupted"]
  ])(
    "gives a miss where the storage %s, and says so once for each kind",
    ([, fault, reason = "no connection"]) =>
      Effect.gen(function*() {
        const { backing, lines, using } = yield* faulty
        backing.fault = Effect.suspend(fault)
        const found = yield* using(everything)
        yield* using(everything)

        assert.deepStrictEqual(found, Option.none())
        assert.deepStrictEqual(lines.map((line) => line.split(" | ")[0]), [
          "The result cache cannot be read; runs go on without it",
          "The result cache cannot be written; runs go on without it",
          "Entries of the result cache cannot be removed"
        ])
        assert.notInclude(lines.join(), secret)
        assert.notInclude(lines.join(), key("a"))
        for (const line of lines) assert.include(line, reason)
      })
  )

  it.effect("gives a miss where the storage is no effect at all", () =>
    Effect.gen(function*() {
      const broken = (): never => {
        throw new Error("no connection")
      }
      const lines: Array<string> = []
      const cache = ResultCache.make({ read: broken, write: broken, remove: broken, clear: Effect.suspend(broken) })
      const found = yield* everything.pipe(
        Effect.provideService(ResultCache.ResultCache, cache),
        Effect.provide(FaultyBacking.logging(lines))
      )

      assert.deepStrictEqual(found, Option.none())
      assert.lengthOf(lines, 3)
    }))

  it.effect("does not send what is too large", () =>
    Effect.gen(function*() {
      const { backing, cache } = yield* faulty
      yield* cache.set(key("a"), CachedResult.success("x".repeat(CachedResult.maxResultBytes)))

      assert.deepStrictEqual([...backing.entries], [])
    }))

  it.effect("logs a kind again when an hour has passed", () =>
    Effect.gen(function*() {
      const { backing, lines, using } = yield* faulty
      backing.fault = Effect.fail("down")
      yield* using(read("a"))
      yield* TestClock.adjust("59 minutes")
      yield* using(read("a"))
      assert.lengthOf(lines, 1)
      yield* TestClock.adjust("1 minute")
      yield* using(read("a"))

      assert.lengthOf(lines, 2)
    }))

  it.effect.each<readonly [string, Effect.Effect<never>]>([
    ["can be interrupted", Effect.never],
    ["cannot be interrupted", never]
  ])("waits two seconds for a storage that hangs and %s", ([, fault]) =>
    Effect.gen(function*() {
      const { backing, cache, lines, using } = yield* faulty
      backing.fault = fault
      for (
        const operation of [
          Effect.asVoid(cache.get(key("a"))),
          cache.set(key("b"), CachedResult.success(secret)),
          cache.remove(key("a")),
          cache.clear
        ]
      ) {
        const fiber = yield* Effect.forkChild(using(operation), { startImmediately: true })
        yield* TestClock.adjust(1999)
        assert.isUndefined(fiber.pollUnsafe())
        yield* TestClock.adjust(1)
        yield* Fiber.join(fiber)
      }
      backing.fault = Effect.void

      assert.strictEqual(yield* using(read("a")), secret)
      assert.deepStrictEqual(lines, ["The storage of the result cache does not answer in time; runs go on without it"])
    }))

  it.effect("tells the storage to stop what it is given up on", () =>
    Effect.gen(function*() {
      const { backing, using } = yield* faulty
      let stopped = 0
      backing.fault = Effect.onInterrupt(Effect.never, () => Effect.sync(() => stopped++))
      const late = yield* Effect.forkChild(using(read("a")), { startImmediately: true })
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(late)
      const left = yield* Effect.forkChild(using(read("a")), { startImmediately: true })
      yield* Fiber.interrupt(left)

      assert.strictEqual(stopped, 2)
    }))

  it.effect("lets its caller go at once, even where the storage cannot be interrupted", () =>
    Effect.gen(function*() {
      const { backing, lines, using } = yield* faulty
      backing.fault = never
      const fiber = yield* Effect.forkChild(using(read("a")), { startImmediately: true })
      yield* Fiber.interrupt(fiber)

      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)))
      assert.deepStrictEqual(lines, [])
    }))

  const whole = CachedResult.success("a")

  it.effect.each<readonly [string, unknown]>([
    ["is of another format", { ...whole, format: 2 }],
    ["has no format", { status: "success", result: "1" }],
    ["holds no JSON", { ...whole, result: secret }],
    ["is too large", { ...whole, result: `"${"x".repeat(CachedResult.maxResultBytes)}"` }],
    ["is a list", []],
    ["is null", null],
    ["is a text", secret],
    ["has an unknown reason", { ...whole, status: "partial", error: { _tag: secret } }]
  ])("misses and removes an entry that %s", ([, entry]) =>
    Effect.gen(function*() {
      const { backing, lines, using } = yield* faulty
      backing.entries.set(key("a"), entry)
      backing.entries.set(key("b"), entry)
      yield* using(Effect.forEach(["a", "b"], read))

      assert.deepStrictEqual([...backing.entries.keys()], [])
      assert.lengthOf(lines, 1)
      assert.include(lines[0], "An entry of the result cache is of another form, and is removed")
      assert.notInclude(lines[0], secret)
      assert.notInclude(lines[0], key("a"))
    }))

  it.effect("has its own time and its own time to live", () =>
    Effect.gen(function*() {
      const times: Array<unknown> = []
      const backing = FaultyBacking.make()
      const cache = ResultCache.make({
        ...backing,
        write: (_key, _entry, timeToLive) => Effect.sync(() => times.push(timeToLive && Duration.toMillis(timeToLive)))
      }, { timeout: 10, timeToLive: "1 minute" })
      yield* cache.set(key("a"), whole)
      yield* cache.set(key("a"), whole, { timeToLive: "5 seconds" })
      yield* cache.set(key("a"), whole, { timeToLive: "Infinity" })
      backing.fault = never
      const fiber = yield* Effect.forkChild(cache.get(key("a")), { startImmediately: true })
      yield* TestClock.adjust(10)

      assert.deepStrictEqual(yield* Fiber.join(fiber), Option.none())
      assert.deepStrictEqual(times, [60_000, 5000, undefined])
    }))
})
