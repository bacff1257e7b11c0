import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Answer, Threads, ToolContext, TypedAgent } from "@mandate/core"
import { Script, Step } from "@mandate/testing"
import { Effect, Fiber, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { backings } from "../support/Backings.ts"
import * as Waiting from "../support/Waiting.ts"

const scout = TypedAgent.text("scout", { description: "Scouts" })
const lead = AgentBuilder.make("lead")
  .withTools(Toolkit.make(Waiting.gated("pay", {})), { pay: () => Effect.succeed("paid") })
  .withSubagents([scout], { maxConcurrentChildren: 1 })

const seconds = Effect.map(
  Threads.runs("t"),
  (runs) => runs.map(({ activeMillis, outcome, runId }) => `${runId} ${outcome} ${Math.round(activeMillis / 100) / 10}`)
)

const hanging: Script.Scripts = {
  lead: [Step.textTask("scout", "Look"), Step.delay("1 second", Step.text("done"))],
  scout: [Step.hang()]
}

describe.each(backings)("the active time of a run, in $name", ({ make, pass }) => {
  it.effect("is that of its drives, without the wait for a person or for a slot", () =>
    Effect.gen(function*() {
      const { next } = yield* Waiting.processes(yield* make, {
        lead: [
          Step.calls(Step.textTask("scout", "a"), Step.textTask("scout", "b")),
          Step.call("pay"),
          Step.delay("3 seconds", Step.text("done"))
        ],
        scout: Script.each([Step.delay("1 second", Step.text("seen"))])
      })
      const running = yield* Effect.forkChild(
        next(Effect.flatMap(lead.build(), (agent) => agent.run("Go", { threadId: "t" }))),
        { startImmediately: true }
      )
      yield* pass("1 second")
      yield* pass("1 second")
      yield* Fiber.join(running)
      yield* pass("1 hour")
      const resuming = yield* Effect.forkChild(
        next(Effect.flatMap(lead.build(), (agent) =>
          Effect.andThen(agent.resume("t", [Answer.approve("1.0:approval0")]), seconds))),
        { startImmediately: true }
      )
      yield* pass("3 seconds")

      assert.deepStrictEqual(yield* Fiber.join(resuming), [
        "t#0 Completed 5",
        "t#0/0.0#0 Completed 1",
        "t#0/0.1#0 Completed 1"
      ])
    }))

  it.effect("goes on until its deadline, or until it is cancelled", () =>
    Effect.gen(function*() {
      const ended = yield* Effect.forEach(
        [
          [{ budget: { timeout: 5_000 } }, undefined],
          [{}, {}],
          [{}, { child: "t#0/0.0" }]
        ] as const,
        ([config, cancel]) =>
          Effect.gen(function*() {
            const { next } = yield* Waiting.processes(yield* make, {
              ...hanging,
              lead: Script.optional(hanging["lead"]!)
            })
            return yield* next(Effect.gen(function*() {
              const agent = yield* lead.build()
              yield* agent.start("Go", { threadId: "t", ...config })
              yield* pass("2 seconds")
              if (cancel !== undefined) yield* agent.cancel("t", cancel)
              yield* pass("3 seconds")
              return yield* seconds
            }))
          })
      )

      assert.deepStrictEqual(ended, [
        ["t#0 BudgetExceeded 5", "t#0/0.0#0 Cancelled 5"],
        ["t#0 Cancelled 2", "t#0/0.0#0 Cancelled 2"],
        ["t#0 Completed 3", "t#0/0.0#0 Cancelled 2"]
      ])
    }))

  const held = [
    ["a value of once", ToolContext.once("first", Schema.Void, Effect.sleep("3 seconds"))],
    ["a question", Effect.andThen(Effect.sleep("3 seconds"), ToolContext.ask("Well?", { answer: Schema.Void }))]
  ] as const

  it.effect.each(held)(
    "holds what went before %s, in a process that died after it",
    ([, before]) =>
      Effect.gen(function*() {
        const tools = Toolkit.make(Tool.make("work", { success: Schema.String }), Tool.make("hang"))
        const clerk = AgentBuilder.make("clerk").withTools(tools, {
          work: () => Effect.as(Effect.andThen(before, Effect.sleep("3 seconds")), "worked"),
          hang: () => Effect.never
        })
        const { die, next } = yield* Waiting.processes(yield* make, {
          clerk: [Step.calls(Step.call("work"), Step.call("hang"))]
        })
        yield* die(
          Effect.flatMap(clerk.build(), (agent) =>
            Effect.andThen(agent.start("Go", { threadId: "t", budget: { timeout: 5_000 } }), pass("4 seconds")))
        )
        yield* pass("1 minute")
        const recovering = yield* Effect.forkChild(
          next(Effect.flatMap(clerk.build(), (agent) =>
            agent.recover("t"))),
          { startImmediately: true }
        )
        yield* pass("1 second")
        assert.isUndefined(recovering.pollUnsafe())
        yield* pass("1 second")
        const exit = recovering.pollUnsafe()
        yield* Fiber.interrupt(recovering)

        assert.deepStrictEqual(exit?._tag === "Success" && exit.value.status, { _tag: "BudgetExceeded", limit: "time" })
      })
  )

  it.effect("holds what went into a response that failed, after which nothing is recorded", () =>
    Effect.gen(function*() {
      const { next } = yield* Waiting.processes(yield* make, {
        lead: [Step.again(Step.delay("3 seconds", Step.fail("authentication")), Step.hang())]
      })
      const status = yield* next(Effect.gen(function*() {
        const agent = yield* lead.build()
        yield* agent.start("Go", { threadId: "t", budget: { timeout: 5_000 } })
        yield* pass("1 minute")
        yield* Effect.forkChild(agent.recover("t"), { startImmediately: true })
        yield* pass("1999 millis")
        const before = (yield* agent.status("t")).status._tag
        yield* pass("1 millis")
        return [before, (yield* agent.status("t")).status._tag]
      }))

      assert.deepStrictEqual(status, ["Running", "BudgetExceeded"])
    }))
})
