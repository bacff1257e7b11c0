import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, type RunStore, TypedAgent } from "@mandate/core"
import { Script, ScriptedModel, Step, TestRuntime } from "@mandate/testing"
import { Effect, Fiber, Layer, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { backings } from "../support/Backings.ts"
import * as Models from "../support/Models.ts"
import * as Waiting from "../support/Waiting.ts"

const tools = Toolkit.make(Tool.make("work", { success: Schema.String }), Tool.make("wait", { success: Schema.String }))
const family = (ran: Array<string>) => {
  // What waits never ends in its first life, and at once in its second.
  let waits = 0
  const handlers = {
    work: () => Effect.sync(() => `work ${ran.push("work")}`),
    wait: () => Effect.suspend(() => waits++ === 0 ? Effect.never : Effect.sync(() => `waited ${ran.push("wait")}`))
  }
  const child = TypedAgent.text("child", { description: "Works" }).withTools(tools, handlers)
  return AgentBuilder.make("top").withSubagents([child])
}

const scripts: Script.Scripts = {
  top: [Step.calls(Step.textTask("child", "x")), Step.text("done")],
  child: [Step.calls(Step.call("work")), Step.calls(Step.call("work"), Step.call("wait")), Step.text("child done")]
}

const process = (
  store: RunStore.RunStore["Service"],
  model: ScriptedModel.ScriptedModel["Service"],
  name: string
) => Layer.merge(TestRuntime.layerStore(store, name), Models.layerOf(model))

describe.each(backings)("recover by force, in $name", ({ make, pass }) => {
  it.effect("takes a thread over from a live process at once; what that drives writes nothing more", () =>
    Effect.gen(function*() {
      const store = yield* make
      const model = yield* ScriptedModel.make(scripts)
      const ran: Array<string> = []
      const agent = family(ran)
      const driving = yield* Effect.forkChild(
        Effect.flatMap(agent.build(), (built) => Effect.exit(built.run("Go", { threadId: "t" }))).pipe(
          Effect.provide(process(store, model, "one"))
        )
      )
      yield* pass("1 minute")
      const polite = yield* Effect.forkChild(
        Effect.flatMap(agent.build(), (built) => Effect.flip(built.recover("t"))).pipe(
          Effect.provide(process(store, model, "two"))
        )
      )
      yield* pass("1 minute")
      const recovered = yield* Effect.flatMap(agent.build(), (built) => built.recover("t", { force: true })).pipe(
        Effect.provide(process(store, model, "three"))
      )
      const stored = yield* store.events("t", 0)
      yield* pass("1 minute")

      assert.strictEqual((yield* Fiber.join(polite)).reason._tag, "ThreadBusy")
      assert.deepStrictEqual(recovered.status, { _tag: "Completed", answer: "done" })
      assert.deepStrictEqual(ran, ["work", "work", "wait"])
      assert.deepStrictEqual(yield* store.events("t", 0), stored)
      assert.strictEqual(yield* model.calls, 5)
      yield* Fiber.interrupt(driving)
    }))

  it.effect("gives up the drive in this process, whose caller hears that the thread was taken", () =>
    Effect.gen(function*() {
      const store = yield* make
      const model = yield* ScriptedModel.make(scripts)
      const ran: Array<string> = []
      yield* Effect.gen(function*() {
        const agent = yield* family(ran).build()
        const first = yield* agent.start("Go", { threadId: "t" })
        const waiting = yield* Effect.forkChild(Effect.flip(first.await), { startImmediately: true })
        yield* pass("1 minute")
        const recovered = yield* agent.recover("t", { force: true })

        assert.deepStrictEqual(recovered.status, { _tag: "Completed", answer: "done" })
        assert.deepStrictEqual((yield* Fiber.join(waiting)).reason, { _tag: "ThreadBusy", threadId: "t" })
        assert.deepStrictEqual((yield* first.await).status, { _tag: "Completed", answer: "done" })
        assert.deepStrictEqual(ran, ["work", "work", "wait"])
      }).pipe(Effect.provide(process(store, model, "one")))
    }))

  const ends = [
    ["waits for a person", [Step.call("pay")], { status: "Suspended", modelCalls: 2, pending: ["1.0:approval0"] }],
    ["has failed", [Step.fail("authentication")], { reason: "ModelFailed" }],
    ["has ended", [Step.text("done")], { status: "Completed", modelCalls: 2 }],
    ["is being driven", [Step.hang()], { reason: "ThreadBusy" }]
  ] as const

  it.effect.each(ends)(
    "gives whoever waited for the former drive how the run %s",
    ([_, steps, expected]) =>
      Effect.gen(function*() {
        const store = yield* make
        const model = yield* ScriptedModel.make({ top: Script.optional([Step.call("stall"), ...steps]) })
        const stalled = Toolkit.make(Tool.make("stall", { success: Schema.String }), Waiting.gated("pay", {}))
        let stalls = 0
        const agent = AgentBuilder.make("top").withTools(stalled, {
          stall: () => Effect.suspend(() => Effect.as(stalls++ === 0 ? Effect.sleep("1 minute") : Effect.void, "")),
          pay: () => Effect.succeed("paid")
        })
        const waiting = yield* Effect.forkChild(
          Effect.flatMap(
            agent.build(),
            (built) => Effect.flatMap(built.start("Go", { threadId: "t" }), (handle) => handle.await)
          ).pipe(
            Effect.match({
              onFailure: (error) => ({ reason: error._tag === "RunError" ? error.reason._tag : error._tag }),
              onSuccess: ({ status, usage }) => ({
                status: status._tag,
                modelCalls: usage.own.modelCalls,
                ...(status._tag === "Suspended" ? { pending: status.pending.map(({ id }) => id) } : {})
              })
            }),
            Effect.provide(process(store, model, "one"))
          )
        )
        yield* pass("1 second")
        const recovering = yield* Effect.forkChild(
          Effect.flatMap(
            agent.build(),
            (built) => Effect.andThen(Effect.exit(built.recover("t", { force: true })), Effect.never)
          ).pipe(
            Effect.provide(process(store, model, "two"))
          )
        )
        yield* pass("2 minutes")

        assert.deepStrictEqual<unknown>(yield* Fiber.join(waiting), expected)
        yield* Fiber.interrupt(recovering)
      })
  )

  it.effect("changes nothing where there is nothing to recover", () =>
    Effect.gen(function*() {
      const store = yield* make
      const model = yield* ScriptedModel.make({ top: [Step.text("done")] })
      yield* Effect.gen(function*() {
        const agent = yield* family([]).build()
        yield* agent.run("Go", { threadId: "t" })
        const stored = yield* store.load("t#0")
        const reasons = yield* Effect.forEach(["t", "u", "t#0/0.0"], (threadId) =>
          Effect.map(Effect.flip(agent.recover(threadId, { force: true })), ({ reason }) => reason._tag))

        assert.deepStrictEqual(reasons, ["NothingToRecover", "UnknownThread", "ChildThread"])
        assert.deepStrictEqual(yield* store.load("t#0"), stored)
      }).pipe(Effect.provide(process(store, model, "one")))
    }))
})
