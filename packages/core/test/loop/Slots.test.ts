import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Deferred, Effect, Exit, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as Slots from "../../src/loop/Slots.ts"

const Seconds = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 12 }))
const Bound = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 4 }))
const End = Schema.Literals(["success", "failure", "defect"])

// Calls that come and go at times of their own. Some are interrupted, whether they wait, hold or are gone by then.
const Call = Schema.Struct({ arrives: Seconds, holds: Seconds, end: End, interrupted: Schema.NullOr(Seconds) })
const calls = Arbitrary.array(Arbitrary.schema(Call), { maxLength: 10 })
const inputs = { bound: Bound, calls, seed: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1000 })) }

interface Trace {
  readonly waiting: Set<number>
  readonly holding: Set<number>
  readonly entered: Array<number>
  readonly faults: Array<string>
  peak: number
}

const enter = (trace: Trace, bound: number, order: number) =>
  Effect.sync(() => {
    trace.waiting.delete(order)
    trace.holding.add(order)
    trace.entered.push(order)
    trace.peak = Math.max(trace.peak, trace.holding.size)
    if (trace.holding.size > bound) trace.faults.push(`${trace.holding.size} hold ${bound} slots`)
    const before = [...trace.waiting].filter((other) => other < order)
    if (before.length > 0) trace.faults.push(`${order} came before ${before.join()}`)
  })

const ended = (end: typeof End.Type, order: number): Effect.Effect<number, string> =>
  end === "success" ? Effect.succeed(order) : end === "failure" ? Effect.fail("failed") : Effect.die("broken")

// Every slot is free: that many can hold one at once, and not one more.
const assertAllFree = Effect.fnUntraced(function*(slots: Slots.Slots, bound: number) {
  let holding = 0
  const fibers = yield* Effect.forEach(
    Array.from({ length: bound + 1 }, (_, index) => index),
    (order) =>
      Effect.forkChild(hold(slots, order, Effect.andThen(Effect.sync(() => holding++), Effect.never)), {
        startImmediately: true
      })
  )
  yield* Effect.yieldNow
  assert.strictEqual(holding, bound)
  yield* Fiber.interruptAll(fibers)
})

/** Leaves the slot as soon as the effect has succeeded. */
const hold = <A, E, R>(slots: Slots.Slots, order: number, effect: Effect.Effect<A, E, R>) =>
  Effect.map(slots.enter(order, effect), ({ leave, value }) => {
    leave()
    return value
  })

describe("Slots", () => {
  it.effect.prop(
    "keep the bound and the order of the calls, however each ends, and are all free at the end",
    inputs,
    ({ bound, calls, seed }) =>
      Effect.gen(function*() {
        const slots = Slots.make(bound)
        const trace: Trace = { waiting: new Set(), holding: new Set(), entered: [], faults: [], peak: 0 }
        // Orders that differ from the order of arrival.
        const orderOf = (index: number) => (index * 7 + seed) % 11

        const fibers = yield* Effect.forEach(calls, (call, index) => {
          const order = orderOf(index)
          const body = enter(trace, bound, order).pipe(
            // Ends never fall on the time of an arrival or an interruption.
            Effect.andThen(Effect.sleep(call.holds * 1000 + index + 1)),
            Effect.andThen(ended(call.end, order)),
            Effect.ensuring(Effect.sync(() => trace.holding.delete(order)))
          )
          return Effect.sleep(call.arrives * 1000).pipe(
            Effect.andThen(Effect.suspend(() => {
              trace.waiting.add(order)
              return Effect.ensuring(hold(slots, order, body), Effect.sync(() => trace.waiting.delete(order)))
            })),
            Effect.forkChild({ startImmediately: true })
          )
        })
        yield* Effect.forEach(calls, (call, index) =>
          call.interrupted === null
            ? Effect.void
            : Effect.sleep(call.interrupted * 1000 + 500).pipe(
              Effect.andThen(Fiber.interrupt(fibers[index]!)),
              Effect.forkChild({ startImmediately: true })
            ))
        yield* TestClock.adjust("10 minutes")
        const exits = yield* Effect.forEach(fibers, Fiber.await)

        assert.deepStrictEqual(trace.faults, [])
        assert.deepStrictEqual([trace.holding.size, trace.waiting.size], [0, 0])
        exits.forEach((exit, index) => {
          if (Exit.hasInterrupts(exit)) return assert.isNotNull(calls[index]!.interrupted)
          assert.strictEqual(Exit.isSuccess(exit), calls[index]!.end === "success")
        })
        yield* assertAllFree(slots, bound)
      })
  )

  it.effect("let as many in at once as there are, and the others in the order of their calls", () =>
    Effect.gen(function*() {
      const slots = Slots.make(2)
      const entered: Array<number> = []
      const holder = (order: number) =>
        hold(slots, order, Effect.andThen(Effect.sync(() => entered.push(order)), Effect.sleep("1 second")))

      const fiber = yield* Effect.forkChild(
        Effect.forEach([5, 9, 4, 0, 7, 2], holder, { concurrency: "unbounded" }),
        { startImmediately: true }
      )
      const seen = [[...entered]]
      for (let second = 0; second < 2; second++) {
        yield* TestClock.adjust("1 second")
        seen.push([...entered])
      }
      yield* TestClock.adjust("1 second")
      yield* Fiber.join(fiber)

      assert.deepStrictEqual(seen, [[5, 9], [5, 9, 0, 2], [5, 9, 0, 2, 4, 7]])
    }))

  it.effect("free a slot only after the finalizers of what held it", () =>
    Effect.gen(function*() {
      const slots = Slots.make(1)
      const trace: Array<string> = []
      const close = yield* Deferred.make<void>()
      const closing = Effect.uninterruptible(
        Effect.andThen(Deferred.await(close), Effect.sync(() => trace.push("closed")))
      )
      const holder = yield* Effect.forkChild(hold(slots, 0, Effect.ensuring(Effect.never, closing)), {
        startImmediately: true
      })
      const next = yield* Effect.forkChild(hold(slots, 1, Effect.sync(() => trace.push("next"))), {
        startImmediately: true
      })

      holder.interruptUnsafe()
      yield* TestClock.adjust("1 second")
      assert.deepStrictEqual(trace, [])
      yield* Deferred.succeed(close, undefined)
      yield* Fiber.join(next)

      assert.deepStrictEqual(trace, ["closed", "next"])
    }))

  it.effect("forget those that stop waiting", () =>
    Effect.gen(function*() {
      const slots = Slots.make(1)
      const holder = yield* Effect.forkChild(hold(slots, 0, Effect.never), { startImmediately: true })
      const waiting = yield* Effect.forEach([1, 2, 3], (order) =>
        Effect.forkChild(hold(slots, order, Effect.never), { startImmediately: true }))

      yield* Fiber.interruptAll(waiting)
      yield* Fiber.interrupt(holder)

      yield* assertAllFree(slots, 1)
    }))

  it.effect("keeps the slot of one that succeeded until it leaves, and leaving twice is leaving once", () =>
    Effect.gen(function*() {
      const slots = Slots.make(1)
      const first = yield* slots.enter(0, Effect.succeed("first"))
      const waiting = yield* Effect.forEach(
        [1, 2],
        (order) => Effect.forkChild(slots.enter(order, Effect.succeed(order)), { startImmediately: true })
      )

      assert.deepStrictEqual(waiting.map((fiber) => fiber.pollUnsafe()), [undefined, undefined])
      first.leave()
      first.leave()
      yield* Effect.yieldNow

      assert.strictEqual((yield* Fiber.join(waiting[0]!)).value, 1)
      assert.isUndefined(waiting[1]!.pollUnsafe())
      yield* Fiber.interrupt(waiting[1]!)
    }))
})
