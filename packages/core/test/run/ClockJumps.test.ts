import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Answer } from "@mandate/core"
import { Script, Step } from "@mandate/testing"
import { Clock, Effect, Fiber, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { backings } from "../support/Backings.ts"
import * as Waiting from "../support/Waiting.ts"

const year = 365 * 24 * 3_600_000

// A clock whose time of day is set while time passes as ever.
const settable = Effect.map(Clock.Clock, (clock) => {
  let offset = 10 * year
  const now = () => clock.currentTimeMillisUnsafe() + offset
  const set: Clock.Clock = { ...clock, currentTimeMillisUnsafe: now, currentTimeMillis: Effect.sync(now) }
  return {
    jump: (millis: number) => Effect.sync(() => offset += millis),
    provide: Effect.provideService(Clock.Clock, set)
  }
})

const jumps = [["ahead", year], ["back", -year]] as const

const tools = Toolkit.make(Tool.make("work", { success: Schema.String }), Waiting.gated("pay", {}))
const handlers = { work: () => Effect.as(Effect.sleep("40 minutes"), "worked"), pay: () => Effect.succeed("paid") }
const lead = AgentBuilder.make("lead").withTools(tools, handlers)

describe.each(backings)("a clock that is set by a year, in $name", ({ make, pass }) => {
  it.effect.each(
    jumps.flatMap((jump) => [[...jump, "2 hours", "Completed"], [...jump, "1 hour", "BudgetExceeded"]] as const)
  )("%s, changes nothing of how long a run has worked", ([, millis, timeout, expected]) =>
    Effect.gen(function*() {
      const { jump, provide } = yield* settable
      const { next } = yield* Waiting.processes(yield* make, {
        lead: Script.optional([
          Step.calls(Step.call("work")),
          Step.calls(Step.call("pay")),
          Step.calls(Step.call("work")),
          Step.text("done")
        ])
      })
      const result = yield* provide(next(Effect.gen(function*() {
        const agent = yield* lead.withBudget({ timeout }).build()
        const running = yield* Effect.forkChild(agent.run("Go", { threadId: "t" }), { startImmediately: true })
        yield* pass("1 minute")
        yield* jump(millis)
        yield* pass("1 hour")
        yield* Fiber.join(running)
        const resuming = yield* Effect.forkChild(agent.resume("t", [Answer.approve("1.0:approval0")]), {
          startImmediately: true
        })
        yield* pass("1 hour")
        return yield* Fiber.join(resuming)
      })))

      assert.strictEqual(result.status._tag, expected)
    }))

  it.effect("back, makes nobody wait longer for a model than its provider says", () =>
    Effect.gen(function*() {
      const { jump, provide } = yield* settable
      const { next } = yield* Waiting.processes(yield* make, {
        lead: [Step.fail("rate-limited", { retryAfter: "1 minute" }), Step.text("done")]
      })
      yield* provide(next(Effect.gen(function*() {
        const agent = yield* lead.build()
        const running = yield* Effect.forkChild(agent.run("Go", { threadId: "t" }), { startImmediately: true })
        yield* pass(1)
        yield* jump(-year)
        yield* pass("5 minutes")
        const exit = running.pollUnsafe()
        yield* Fiber.interrupt(running)

        assert.strictEqual(exit?._tag === "Success" && exit.value.status._tag, "Completed")
      })))
    }))

  it.effect("back, makes nobody wait longer than one lease time for a process that is gone", () =>
    Effect.gen(function*() {
      const { jump, provide } = yield* settable
      const { die, next } = yield* Waiting.processes(yield* make, { lead: Script.optional([Step.hang()]) })
      yield* provide(die(Effect.gen(function*() {
        const agent = yield* lead.build()
        yield* agent.start("Go", { threadId: "t" })
        yield* pass("1 second")
      })))
      yield* jump(-year)
      const exit = yield* provide(next(Effect.gen(function*() {
        const agent = yield* lead.build()
        const recovering = yield* Effect.forkChild(Effect.flip(agent.recover("t")), { startImmediately: true })
        yield* pass("1 minute")
        yield* Fiber.interrupt(recovering)
        return yield* Fiber.await(recovering)
      })))

      assert.strictEqual(exit._tag === "Success" && exit.value.reason._tag, "ThreadBusy")
    }))
})
