import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Answer } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Deferred, Effect, Fiber } from "effect"
import * as Toolkit from "effect/ai/Toolkit"
import { backings } from "../support/Backings.ts"
import * as Trees from "../support/Trees.ts"
import * as Waiting from "../support/Waiting.ts"

const Pay = Waiting.gated("pay", {})

describe.each(backings)("forget, in $name", ({ make, pass }) => {
  it.effect.each(["here", "in another process"] as const)(
    "is refused when the run is driven on %s meanwhile, and changes nothing for it",
    (where) =>
      Effect.gen(function*() {
        const store = yield* make
        const isAsked = Deferred.makeUnsafe<void>()
        const isDriven = Deferred.makeUnsafe<void>()
        // It has seen that the run waits, and deletes only when the run is driven again.
        const slow = Trees.around(store, (name, done) =>
          name === "forget"
            ? Effect.andThen(Deferred.succeed(isAsked, undefined), Effect.andThen(Deferred.await(isDriven), done))
            : done)
        const model = yield* ScriptedModel.make({
          clerk: Script.optional(Script.each([Step.calls(Step.call("pay")), Step.text("done")]))
        })
        const clerk = AgentBuilder.make("clerk").withTools(Toolkit.make(Pay), {
          pay: () => Effect.as(Effect.andThen(Deferred.succeed(isDriven, undefined), Effect.sleep("1 second")), "paid")
        })
        const [reason, status] = yield* Waiting.processesOf(slow, model).next(Effect.gen(function*() {
          const agent = yield* clerk.build()
          yield* agent.run("Go", { threadId: "t" })
          const forgetting = yield* Effect.forkChild(Effect.flip(agent.forget("t")), { startImmediately: true })
          yield* Deferred.await(isAsked)
          const resume = (by: typeof agent) => by.resume("t", [Answer.approve("0.0:approval0")])
          const resuming = yield* Effect.forkChild(
            where === "here"
              ? resume(agent)
              : Waiting.processesOf(store, model).next(Effect.flatMap(clerk.build(), resume)),
            { startImmediately: true }
          )
          yield* pass("1 minute")
          return [(yield* Fiber.join(forgetting)).reason, (yield* Fiber.join(resuming)).status]
        }))

        assert.deepStrictEqual(reason, { _tag: "ThreadBusy", threadId: "t" })
        assert.deepStrictEqual(status, { _tag: "Completed", answer: "done" })
      })
  )
})
