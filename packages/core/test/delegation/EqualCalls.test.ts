import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Cause, Effect, Exit, Fiber, Option, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as EqualCalls from "../../src/delegation/EqualCalls.ts"

type Ended = EqualCalls.Ended<string, string>

/** Work that shares what it gives. */
const sharing = (value: string, effect: Effect.Effect<unknown> = Effect.void) =>
  Effect.as(effect, { value, shared: Option.some(`shared by ${value}`) })

/** Work that shares nothing. */
const keeping = (value: string, effect: Effect.Effect<unknown> = Effect.void) =>
  Effect.as(effect, { value, shared: Option.none<string>() })

const call = (id: string, within: ReadonlyArray<string> = [], key = "k"): EqualCalls.Call => ({ key, id, within })

const ran = (value: string): Ended => ({ _tag: "Ran", value })
const followed = (leader: string): Ended => ({ _tag: "Followed", shared: `shared by ${leader}` })

const fork = <A, E>(effect: Effect.Effect<A, E>) => Effect.forkChild(effect, { startImmediately: true })

const second = Effect.sleep("1 second")

const none = { calls: 0, leading: 0, waiting: 0 }

describe("EqualCalls", () => {
  it.effect("let the first one work, and give its result to those that come meanwhile", () =>
    Effect.gen(function*() {
      const calls = EqualCalls.make<string>()
      const fibers = yield* Effect.forEach(["a", "b", "c"], (id) => fork(calls.run(call(id), sharing(id, second))))
      assert.deepStrictEqual(calls.counts(), { calls: 3, leading: 1, waiting: 2 })
      yield* TestClock.adjust("1 second")
      const ends = yield* Effect.forEach(fibers, Fiber.join)
      const later = yield* calls.run(call("d"), sharing("d"))

      assert.deepStrictEqual(ends, [ran("a"), followed("a"), followed("a")])
      assert.deepStrictEqual(later, ran("d"))
      assert.deepStrictEqual(calls.counts(), none)
    }))

  it.effect("let calls of different keys work at once", () =>
    Effect.gen(function*() {
      const calls = EqualCalls.make<string>()
      const fibers = yield* Effect.forEach(["a", "b"], (id) => fork(calls.run(call(id, [], id), sharing(id, second))))
      yield* TestClock.adjust("1 second")

      assert.deepStrictEqual(yield* Effect.forEach(fibers, Fiber.join), [ran("a"), ran("b")])
    }))

  const ends: ReadonlyArray<readonly [string, Effect.Effect<EqualCalls.Work<string, string>, string>, string]> = [
    ["suspends", keeping("first", second), "Ran first"],
    ["fails", Effect.andThen(second, Effect.fail("failed")), "failed"],
    ["dies", Effect.andThen(second, Effect.die("died")), "died"],
    ["is interrupted from within", Effect.andThen(second, Effect.interrupt), "interrupted"]
  ]

  it.effect.each(ends)(
    "let each follower run by itself, all at once, where the leader %s",
    ([, leader, end]) =>
      Effect.gen(function*() {
        const calls = EqualCalls.make<string>()
        const first = yield* fork(Effect.exit(calls.run(call("first"), leader)))
        const fibers = yield* Effect.forEach(["b", "c"], (id) => fork(calls.run(call(id), sharing(id, second))))
        yield* TestClock.adjust("2 seconds")

        assert.include(shown(yield* Fiber.join(first)), end)
        assert.deepStrictEqual(yield* Effect.forEach(fibers, Fiber.join), [ran("b"), ran("c")])
        assert.deepStrictEqual(calls.counts(), none)
      })
  )

  it.effect("let followers go on only after the finalizers of a leader that is interrupted", () =>
    Effect.gen(function*() {
      const calls = EqualCalls.make<string>()
      const trace: Array<string> = []
      const closing = Effect.andThen(second, Effect.sync(() => trace.push("closed")))
      const leader = yield* fork(calls.run(call("a"), Effect.onInterrupt(sharing("a", Effect.never), () => closing)))
      const follower = yield* fork(calls.run(call("b"), sharing("b", Effect.sync(() => trace.push("b")))))
      leader.interruptUnsafe()
      yield* TestClock.adjust(999)
      assert.deepStrictEqual(calls.counts(), { calls: 2, leading: 1, waiting: 1 })
      yield* TestClock.adjust(1)

      assert.deepStrictEqual(yield* Fiber.join(follower), ran("b"))
      assert.deepStrictEqual(trace, ["closed", "b"])
    }))

  it.effect("let those that run by themselves lead nobody", () =>
    Effect.gen(function*() {
      const calls = EqualCalls.make<string>()
      yield* fork(calls.run(call("a"), keeping("a", second)))
      yield* fork(calls.run(call("b"), sharing("b", second)))
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(calls.counts(), { calls: 1, leading: 0, waiting: 0 })
      const next = yield* fork(calls.run(call("c"), sharing("c", second)))

      assert.deepStrictEqual(calls.counts(), { calls: 2, leading: 1, waiting: 0 })
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(yield* Fiber.join(next), ran("c"))
    }))

  it.effect("end a wait after its longest time", () =>
    Effect.gen(function*() {
      const calls = EqualCalls.make<string>({ maxWait: "1 minute" })
      const leader = yield* fork(calls.run(call("a"), sharing("a", Effect.never)))
      const follower = yield* fork(calls.run(call("b"), sharing("b")))
      yield* TestClock.adjust(59_999)
      assert.isUndefined(follower.pollUnsafe())
      yield* TestClock.adjust(1)

      assert.deepStrictEqual(yield* Fiber.join(follower), ran("b"))
      assert.deepStrictEqual(calls.counts(), { calls: 1, leading: 1, waiting: 0 })
      yield* Fiber.interrupt(leader)
      assert.deepStrictEqual(calls.counts(), none)
    }))

  it.effect("wait five minutes unless they are told otherwise", () =>
    Effect.gen(function*() {
      const calls = EqualCalls.make<string>()
      yield* fork(calls.run(call("a"), sharing("a", Effect.never)))
      const follower = yield* fork(calls.run(call("b"), sharing("b")))
      yield* TestClock.adjust(299_999)
      assert.isUndefined(follower.pollUnsafe())
      yield* TestClock.adjust(1)

      assert.deepStrictEqual(yield* Fiber.join(follower), ran("b"))
    }))
})

const shown = (exit: Exit.Exit<Ended, string>): string =>
  Exit.match(exit, { onSuccess: (ended) => Object.values(ended).join(" "), onFailure: Cause.pretty })

// Points of a call: before it starts, between any two steps of its work, while it waits, and after its end.
const points = Array.from({ length: 12 }, (_, point) => point)

const steps = Effect.gen(function*() {
  for (let step = 0; step < 6; step++) yield* Effect.yieldNow
})

describe("EqualCalls under interruption", () => {
  for (const start of [true, false]) {
    it.effect.each(points)(
      `leave nothing behind when the leader is interrupted at point %s${
        start ? "" : ", counted from before its start"
      }`,
      (point) =>
        Effect.gen(function*() {
          const calls = EqualCalls.make<string>()
          const leader = yield* Effect.forkChild(calls.run(call("a"), sharing("a", steps)), { startImmediately: start })
          const follower = yield* Effect.forkChild(calls.run(call("b"), sharing("b", steps)))
          for (let step = 0; step < point; step++) yield* Effect.yieldNow
          yield* Fiber.interrupt(leader)
          const ended = yield* Fiber.join(follower)

          const exit = yield* Fiber.await(leader)
          assert.deepStrictEqual(ended, Exit.isSuccess(exit) ? followed("a") : ran("b"))
          assert.deepStrictEqual(calls.counts(), none)
        })
    )

    it.effect.each(points)(
      `are not disturbed by a follower that is interrupted at point %s${
        start ? "" : ", counted from before its start"
      }`,
      (point) =>
        Effect.gen(function*() {
          const calls = EqualCalls.make<string>()
          const leader = yield* Effect.forkChild(calls.run(call("a"), sharing("a", steps)), { startImmediately: true })
          const [gone, other] = [
            yield* Effect.forkChild(calls.run(call("b"), sharing("b", steps)), { startImmediately: start }),
            yield* Effect.forkChild(calls.run(call("c"), sharing("c", steps)), { startImmediately: true })
          ]
          for (let step = 0; step < point; step++) yield* Effect.yieldNow
          yield* Fiber.interrupt(gone)

          assert.isTrue(Exit.isSuccess(yield* Fiber.await(gone)) || Exit.hasInterrupts(yield* Fiber.await(gone)))
          assert.deepStrictEqual(yield* Fiber.join(leader), ran("a"))
          assert.deepStrictEqual(yield* Fiber.join(other), followed("a"))
          assert.deepStrictEqual(calls.counts(), none)
        })
    )
  }

  // What reads a call interrupts it, in the midst of its entering the tables.
  const interruptedWhenRead = (id: string, field: "id" | "within") =>
    Effect.withFiber((fiber) => {
      const entering = { key: "k", id, within: [] }
      Object.defineProperty(entering, field, {
        get: () => {
          fiber.interruptUnsafe()
          return field === "id" ? id : []
        }
      })
      return Effect.succeed(entering)
    })

  it.effect("leave nothing behind of a leader that is interrupted while it enters", () =>
    Effect.gen(function*() {
      const calls = EqualCalls.make<string>()
      const exit = yield* Fiber.await(
        yield* fork(Effect.flatMap(interruptedWhenRead("a", "id"), (entering) => calls.run(entering, sharing("a"))))
      )

      assert.isTrue(Exit.hasInterrupts(exit))
      assert.deepStrictEqual(calls.counts(), none)
    }))

  it.effect("leave nothing behind of a follower that is interrupted while it enters", () =>
    Effect.gen(function*() {
      const calls = EqualCalls.make<string>()
      const leader = yield* fork(calls.run(call("a"), sharing("a", second)))
      const exit = yield* Fiber.await(
        yield* fork(Effect.flatMap(interruptedWhenRead("b", "within"), (entering) => calls.run(entering, sharing("b"))))
      )

      assert.isTrue(Exit.hasInterrupts(exit))
      assert.deepStrictEqual(calls.counts(), { calls: 1, leading: 1, waiting: 0 })
      yield* Fiber.interrupt(leader)
    }))
})

describe("EqualCalls that are inside of each other", () => {
  it.effect("do not wait for the call that they are inside of, at any depth", () =>
    Effect.gen(function*() {
      const calls = EqualCalls.make<string>()
      const innermost = calls.run(call("c", ["a", "b"]), sharing("c"))
      const inner = calls.run(call("b", ["a"], "other"), sharing("b", innermost))
      const outer = yield* calls.run(call("a"), Effect.map(inner, (value) => ({ value, shared: Option.none() })))

      assert.deepStrictEqual<unknown>(outer, ran(ran("b") as unknown as string))
      assert.deepStrictEqual(calls.counts(), none)
    }))

  it.effect("need to know only the call right around them", () =>
    Effect.gen(function*() {
      const calls = EqualCalls.make<string>({ maxWait: "1000 days" })
      const seen: Array<Ended> = []
      const noting = (id: string, within: string, key: string, effect: Effect.Effect<unknown>) =>
        Effect.tap(calls.run(call(id, [within], key), sharing(id, effect)), (ended) =>
          Effect.sync(() => seen.push(ended)))
      const waiting = noting("d", "c", "k", Effect.void)
      yield* calls.run(call("a"), sharing("a", noting("b", "a", "x", noting("c", "b", "y", waiting))))

      assert.deepStrictEqual(seen, [ran("d"), ran("c"), ran("b")])
      assert.deepStrictEqual(calls.counts(), none)
    }))

  it.effect("know a call that has the id of one that has ended", () =>
    Effect.gen(function*() {
      const calls = EqualCalls.make<string>({ maxWait: "1000 days" })
      const seen: Array<Ended> = []
      const innermost = Effect.tap(calls.run(call("c", ["b"]), sharing("c")), (ended) =>
        Effect.sync(() => seen.push(ended)))
      // A drive that was taken over ends while the new one has the same call in progress.
      yield* fork(calls.run(call("b", [], "old"), sharing("old", second)))
      const inner = calls.run(
        call("b", ["a"], "new"),
        sharing("b", Effect.andThen(Effect.sleep("2 seconds"), innermost))
      )
      const outer = yield* fork(calls.run(call("a"), sharing("a", inner)))
      yield* TestClock.adjust("2 seconds")

      assert.deepStrictEqual(yield* Fiber.join(outer), ran("a"))
      assert.deepStrictEqual(seen, [ran("c")])
      assert.deepStrictEqual(calls.counts(), none)
    }))

  it.effect("do not wait for a call in a queue behind what they are inside of, at any remove, until it has its place", () =>
    Effect.gen(function*() {
      const calls = EqualCalls.make<string>({ maxWait: "1000 days" })
      let queue: string | undefined = "slots"
      const queued = { ...call("queued"), queue: () => queue }
      const leader = yield* fork(calls.run(queued, sharing("queued", Effect.sleep("3 seconds"))))
      const holder = call("held", ["slots"], "other")
      yield* fork(calls.run(holder, sharing("held", Effect.sleep("2 seconds"))))
      const inside = yield* calls.run(call("b", ["held"]), sharing("b"))
      // One that waits for the queued call, and one that would wait for it in turn.
      yield* fork(
        calls.run(
          call("elsewhere", [], "third"),
          sharing("elsewhere", calls.run(call("c", ["elsewhere"]), sharing("c")))
        )
      )
      const beyond = yield* calls.run(call("d", ["held"], "third"), sharing("d"))
      queue = undefined
      const later = yield* fork(calls.run(call("e", ["slots"]), sharing("e")))
      yield* TestClock.adjust("3 seconds")

      assert.deepStrictEqual([inside, beyond], [ran("b"), ran("d")])
      assert.deepStrictEqual(yield* Fiber.join(leader), ran("queued"))
      assert.deepStrictEqual(yield* Fiber.join(later), followed("queued"))
      assert.deepStrictEqual(calls.counts(), none)
    }))

  it.effect("wait for an equal call elsewhere", () =>
    Effect.gen(function*() {
      const calls = EqualCalls.make<string>()
      yield* fork(calls.run(call("elsewhere"), sharing("elsewhere", second)))
      const inside = yield* fork(calls.run(call("b", ["a"]), sharing("b")))
      yield* TestClock.adjust("1 second")

      assert.deepStrictEqual(yield* Fiber.join(inside), followed("elsewhere"))
    }))

  it.effect.each([2, 3, 5])("do not wait in a circle of %s leaders", (size) =>
    Effect.gen(function*() {
      const calls = EqualCalls.make<string>({ maxWait: "1000 days" })
      const inner: Array<Ended> = []
      const fibers = yield* Effect.forEach(Array.from({ length: size }, (_, index) => index), (index) =>
        fork(calls.run(
          call(`outer${index}`, [], `k${index}`),
          sharing(
            `outer${index}`,
            second.pipe(
              Effect.andThen(
                calls.run(
                  call(`inner${index}`, [`outer${index}`], `k${(index + 1) % size}`),
                  sharing(`inner${index}`, second)
                )
              ),
              Effect.tap((ended) => Effect.sync(() => inner.push(ended)))
            )
          )
        )))
      yield* TestClock.adjust("1 minute")

      assert.deepStrictEqual(
        yield* Effect.forEach(fibers, Fiber.join),
        fibers.map((_, index) => ran(`outer${index}`))
      )
      // Only the wait that would close the circle is left out.
      assert.lengthOf(inner.filter(({ _tag }) => _tag === "Ran"), 1)
      assert.deepStrictEqual(calls.counts(), none)
    }))
})

const Key = Schema.Literals(["a", "b"])
const Seconds = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10 }))
const Arrival = Schema.Struct({
  key: Key,
  arrives: Seconds,
  works: Seconds,
  end: Schema.Literals(["share", "keep", "fail", "die"]),
  interrupted: Schema.NullOr(Seconds)
})

// Calls inside of calls, to three levels, one after the other or at once.
const keys3 = Schema.Literals(["a", "b", "c"])
const leaf = { key: keys3, seconds: Seconds, shares: Schema.Boolean, atOnce: Schema.Boolean }
const Level3 = Schema.Struct(leaf)
const Level2 = Schema.Struct({ ...leaf, inside: Schema.Array(Level3).check(Schema.isMaxLength(3)) })
const Level1 = Schema.Struct({ ...leaf, inside: Schema.Array(Level2).check(Schema.isMaxLength(3)) })
interface Tree extends Schema.Schema.Type<typeof Level3> {
  readonly inside?: ReadonlyArray<Tree>
}

describe("EqualCalls of any kind", () => {
  it.effect.prop(
    "have one leader at a time, whose end alone decides about those that wait",
    { arrivals: Arbitrary.array(Arbitrary.schema(Arrival), { minLength: 2, maxLength: 12 }) },
    ({ arrivals }) =>
      Effect.gen(function*() {
        const calls = EqualCalls.make<string>()
        const faults: Array<string> = []
        const leading = new Map<string, number>()
        const last = new Map<string, { readonly index: number; readonly shares: boolean }>()

        const fibers = yield* Effect.forEach(arrivals, ({ arrives, end, key, works }, index) => {
          let hasWaited = false
          const work = Effect.gen(function*() {
            const leader = leading.get(key)
            if (!hasWaited && leader !== undefined) faults.push(`${index} works beside ${leader}`)
            if (hasWaited && last.get(key)?.shares !== false) faults.push(`${index} works after a leader that shared`)
            if (!hasWaited) leading.set(key, index)
            yield* Effect.sleep(works * 1000 + index + 1)
            if (end === "fail") return yield* Effect.fail("failed")
            if (end === "die") return yield* Effect.die("died")
            return yield* end === "share" ? sharing(`${index}`) : keeping(`${index}`)
          }).pipe(Effect.onExit((exit) =>
            Effect.sync(() => {
              if (leading.get(key) !== index) return
              leading.delete(key)
              last.set(key, { index, shares: Exit.isSuccess(exit) && Option.isSome(exit.value.shared) })
            })
          ))
          return Effect.sleep(arrives * 1000).pipe(
            Effect.andThen(Effect.suspend(() => {
              const leader = leading.get(key)
              hasWaited = leader !== undefined
              return Effect.tap(calls.run(call(`${index}`, [], key), work), (ended) =>
                Effect.sync(() => {
                  if (ended._tag === "Ran") return
                  if (ended.shared !== `shared by ${leader}`) faults.push(`${index} got what is ${ended.shared}`)
                }))
            })),
            fork
          )
        })
        yield* Effect.forEach(arrivals, ({ interrupted }, index) =>
          interrupted === null
            ? Effect.void
            : fork(Effect.andThen(Effect.sleep(interrupted * 1000 + 500), Fiber.interrupt(fibers[index]!))))
        yield* TestClock.adjust("4 minutes")
        const exits = yield* Effect.forEach(fibers, Fiber.await)

        assert.deepStrictEqual(faults, [])
        assert.deepStrictEqual(calls.counts(), none)
        exits.forEach((exit, index) => {
          const { end, interrupted } = arrivals[index]!
          if (Exit.isSuccess(exit)) {
            if (exit.value._tag === "Ran") assert.oneOf(end, ["share", "keep"])
          } else if (Exit.hasInterrupts(exit)) assert.isNotNull(interrupted)
          else assert.include(["fail", "die"], end, Cause.pretty(exit.cause))
        })
      })
  )

  it.effect.prop(
    "all end, however they are inside of each other",
    { roots: Arbitrary.array(Arbitrary.schema(Level1), { minLength: 2, maxLength: 5 }) },
    ({ roots }) =>
      Effect.gen(function*() {
        const calls = EqualCalls.make<string>({ maxWait: "1000 days" })
        const run = (
          { atOnce, inside = [], key, seconds, shares }: Tree,
          within: ReadonlyArray<string>,
          id: string
        ) => {
          const below: Effect.Effect<unknown> = Effect.forEach(
            inside,
            (tree, index): Effect.Effect<unknown> =>
              run(tree, index % 2 === 0 ? [id] : [id, ...within], `${id}.${index}`),
            { concurrency: atOnce ? "unbounded" : 1 }
          )
          const work = Effect.andThen(Effect.sleep(seconds * 1000), below)
          return calls.run(call(id, within, key), shares ? sharing(id, work) : keeping(id, work))
        }
        const fibers = yield* Effect.forEach(roots, (tree, index) => fork(run(tree, [], `${index}`)))
        // Every tree holds 13 calls at most, of ten seconds each.
        yield* TestClock.adjust("1 hour")

        assert.deepStrictEqual(fibers.map((fiber) => fiber.pollUnsafe() !== undefined), roots.map(() => true))
        assert.deepStrictEqual(calls.counts(), none)
      })
  )
})
