import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, ToolContext } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Clock, Deferred, Effect, Fiber, Schema, SchemaGetter } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { backings } from "../support/Backings.ts"
import * as Waiting from "../support/Waiting.ts"

/** A process that can be frozen: its clock jumps, its timers do not fire meanwhile. */
const clockOf = Effect.map(Clock.Clock, (clock) => {
  let offset = 0
  const now = () => clock.currentTimeMillisUnsafe() + offset
  const nanos = () => clock.monotonicTimeNanosUnsafe() + BigInt(offset) * 1_000_000n
  const jumping: Clock.Clock = {
    ...clock,
    currentTimeMillisUnsafe: now,
    currentTimeMillis: Effect.sync(now),
    monotonicTimeNanosUnsafe: nanos,
    monotonicTimeNanos: Effect.sync(nanos)
  }
  return {
    pass: (millis: number) => Effect.sync(() => void (offset += millis)),
    provide: Effect.provideService(Clock.Clock, jumping)
  }
})

const hour = 3_600_000

/** A life of an agent that pays: decoding the amount takes until the gate of that life opens. */
const payer = (life: string, gate: Deferred.Deferred<void>, reached: Deferred.Deferred<void>, log: Array<string>) => {
  const Amount = Schema.Int.pipe(Schema.decodeTo(Schema.Int, {
    decode: SchemaGetter.transformEffect((amount: number) =>
      Effect.as(Effect.andThen(Deferred.succeed(reached, undefined), Deferred.await(gate)), amount)
    ),
    encode: SchemaGetter.transform((amount: number) => amount)
  }))
  const tools = Toolkit.make(
    Tool.make("pay", { parameters: Schema.Struct({ amount: Amount }), success: Schema.Number })
  )
  return AgentBuilder.make("payer").withTools(tools, {
    pay: () =>
      Effect.map(ToolContext.ToolContext, ({ epoch }) => {
        log.push(life)
        return epoch
      })
  })
}

const epochIn = (log: ReadonlyArray<{ readonly messages: ReadonlyArray<unknown> }>) =>
  JSON.stringify(log).match(/"value":(\d+)/)?.[1]

describe.each(backings)("X04 a process that was frozen past its lease, in $name", ({ make, pass }) => {
  it.effect("X04 starts no tool call that another process has made since", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const model = yield* ScriptedModel.make({
        payer: Script.optional(Script.each([Step.calls(Step.call("pay", { amount: 5 })), Step.text("paid")]))
      })
      const store = yield* make
      const [one, two] = [Waiting.processesOf(store, model), Waiting.processesOf(store, model)]
      const [gate, reached] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const open = yield* Deferred.make<void>()
      yield* Deferred.succeed(open, undefined)
      const clock = yield* clockOf

      const [first, recovered, history] = yield* clock.provide(one.next(Effect.gen(function*() {
        const agent = yield* payer("first", gate, reached, log).build()
        const running = yield* Effect.forkChild(Effect.result(agent.run("Pay", { threadId: "t" })), {
          startImmediately: true
        })
        yield* Deferred.await(reached)
        yield* clock.pass(hour)
        const [recovered, history] = yield* two.next(Effect.gen(function*() {
          const other = yield* payer("second", open, yield* Deferred.make<void>(), log).build()
          const recovered = yield* other.recover("t")
          return [recovered, yield* other.history("t")] as const
        }))
        yield* Deferred.succeed(gate, undefined)
        yield* pass("1 second")
        return [yield* Fiber.join(running), recovered, history] as const
      })))

      assert.deepStrictEqual(log, ["second"])
      assert.deepStrictEqual(recovered.status, { _tag: "Completed", answer: "paid" })
      // Who waited for the first drive hears how the run ended.
      assert.deepStrictEqual(first._tag === "Success" && first.success.status, recovered.status)
      assert.strictEqual(Number(epochIn(history)), 2)
    }))

  it.effect("X04 makes no model request that another process has made since", () =>
    Effect.gen(function*() {
      const model = yield* ScriptedModel.make({
        payer: Script.optional(Script.each([
          Step.again(Step.fail("rate-limited", { retryAfter: "10 seconds" }), Step.text("paid"))
        ]))
      })
      const store = yield* make
      const [one, two] = [Waiting.processesOf(store, model), Waiting.processesOf(store, model)]
      const clock = yield* clockOf

      yield* clock.provide(one.next(Effect.gen(function*() {
        const agent = yield* AgentBuilder.make("payer").build()
        const running = yield* Effect.forkChild(Effect.result(agent.run("Pay", { threadId: "t" })), {
          startImmediately: true
        })
        yield* pass("1 second")
        yield* clock.pass(hour)
        yield* two.next(Effect.flatMap(AgentBuilder.make("payer").build(), (other) => other.recover("t")))
        const before = yield* model.requestsOf("payer")
        // The process wakes up: it renews its leases first, among which that of the run is no more.
        yield* pass("10 seconds")
        const after = yield* model.requestsOf("payer")

        assert.strictEqual(after.length, before.length)
        yield* Fiber.interrupt(running)
      })))
    }))

  it.effect("X04 renews its lease and goes on if no other process has taken the run", () =>
    Effect.gen(function*() {
      const log: Array<string> = []
      const { next } = yield* Waiting.processes(yield* make, {
        payer: [Step.calls(Step.call("pay", { amount: 5 })), Step.text("paid")]
      })
      const [gate, reached] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const clock = yield* clockOf

      const status = yield* clock.provide(next(Effect.gen(function*() {
        const agent = yield* payer("only", gate, reached, log).build()
        const running = yield* Effect.forkChild(agent.run("Pay", { threadId: "t" }), { startImmediately: true })
        yield* Deferred.await(reached)
        yield* clock.pass(hour)
        yield* Deferred.succeed(gate, undefined)
        return (yield* Fiber.join(running)).status
      })))

      assert.deepStrictEqual(log, ["only"])
      assert.deepStrictEqual(status, { _tag: "Completed", answer: "paid" })
    }))
})
