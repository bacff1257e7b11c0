import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Answer, MemoryRunStore } from "@mandate/core"
import { Script, ScriptedModel, Step, TestRuntime } from "@mandate/testing"
import { Effect, Fiber, Layer, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { TestClock } from "effect/testing"
import { backings } from "../support/Backings.ts"
import * as Models from "../support/Models.ts"
import * as Trees from "../support/Trees.ts"
import * as Waiting from "../support/Waiting.ts"

const Slow = Tool.make("slow", { success: Schema.String })
const Pay = Waiting.gated("pay", {})

describe.each(backings)("recover, in $name", ({ make, pass }) => {
  it.effect.each(
    [
      ["that goes with its run", undefined, "UnknownThread"],
      ["whose run ends", "t", "NothingToRecover"]
    ] as const
  )("does not keep a thread %s while its lease is waited for", ([, threadId, expected]) =>
    Effect.gen(function*() {
      const store = yield* make
      const { next } = yield* Waiting.processes(store, {
        clerk: Script.optional([Step.call("slow"), Step.text("done")])
      })
      const clerk = AgentBuilder.make("clerk").withTools(Toolkit.make(Slow), {
        slow: () => Effect.as(Effect.sleep("1 second"), "slept")
      })
      const [{ reason }, held] = yield* next(Effect.gen(function*() {
        const agent = yield* clerk.build()
        const handle = yield* agent.start("Go", threadId === undefined ? {} : { threadId })
        yield* pass(1)
        const isHeld = store.isHeld(handle.threadId, { holder: "another", now: 0, ttl: 1 })
        const recovering = yield* Effect.forkChild(
          next(
            Effect.flatMap(clerk.build(), (other) => Effect.all([Effect.flip(other.recover(handle.threadId)), isHeld]))
          ),
          { startImmediately: true }
        )
        yield* pass("20 seconds")
        return yield* Fiber.join(recovering)
      }))

      assert.strictEqual(reason._tag, expected)
      assert.isFalse(held)
    }))
})

describe("recover", () => {
  const races = [
    ["while its lease is waited for", {}],
    ["just before its thread is taken", { force: true }]
  ] as const

  it.effect.each(races)("finds nothing to do when the run suspends %s", ([, options]) =>
    Effect.gen(function*() {
      const store = MemoryRunStore.make()
      const slow = Trees.around(store, (name, done) =>
        name === "lease" ? Effect.andThen(Effect.sleep("1 second"), done) : done)
      const model = yield* ScriptedModel.make({
        clerk: [Step.calls(Step.call("slow"), Step.call("pay")), Step.text("done")]
      })
      const clerk = AgentBuilder.make("clerk").withTools(Toolkit.make(Slow, Pay), {
        slow: () =>
          Effect.as(Effect.sleep("700 millis"), "slept"),
        pay: () => Effect.succeed("paid")
      })
      const on = (instance: string, its = store) =>
        Layer.merge(TestRuntime.layerStore(its, instance), Models.layerOf(model))
      const running = yield* Effect.forkChild(
        Effect.flatMap(clerk.build(), (agent) => agent.run("Go", { threadId: "t" })).pipe(Effect.provide(on("first"))),
        { startImmediately: true }
      )
      const recovering = yield* Effect.forkChild(
        Effect.flatMap(clerk.build(), (agent) => Effect.flip(agent.recover("t", options))).pipe(
          Effect.provide(on("second", slow))
        ),
        { startImmediately: true }
      )
      yield* TestClock.adjust("1 minute")

      const { status } = yield* Fiber.join(running)
      const refused = yield* Fiber.join(recovering)
      const events = (yield* store.events("t", 0)).map(({ json }) => JSON.parse(json)._tag)
      const resumed = yield* Effect.flatMap(
        clerk.build(),
        (agent) => agent.resume("t", [Answer.approve("0.1:approval0")])
      )
        .pipe(Effect.provide(on("third")))

      assert.strictEqual(status._tag, "Suspended")
      assert.strictEqual(refused._tag === "RunError" && refused.reason._tag, "NothingToRecover")
      assert.deepStrictEqual(events, ["RunStarted", "ModelCallCompleted", "ToolExecuted", "RunSuspended"])
      assert.strictEqual(resumed.status._tag, "Completed")
    }))

  it.effect("waits for a run that is driven here, and goes on with it once that has failed", () =>
    Effect.gen(function*() {
      const { next } = yield* Waiting.processes(MemoryRunStore.make(), {
        clerk: [Step.call("slow"), Step.again(Step.fail("authentication"), Step.text("done"))]
      })
      const clerk = AgentBuilder.make("clerk").withTools(Toolkit.make(Slow), {
        slow: () => Effect.as(Effect.sleep("1 second"), "slept")
      })
      const { status } = yield* next(Effect.gen(function*() {
        const agent = yield* clerk.build()
        yield* agent.start("Go", { threadId: "t" })
        const recovering = yield* Effect.forkChild(agent.recover("t"), { startImmediately: true })
        yield* TestClock.adjust("1 minute")
        return yield* Fiber.join(recovering)
      }))

      assert.deepStrictEqual(status, { _tag: "Completed", answer: "done" })
    }))
})
