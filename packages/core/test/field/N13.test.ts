import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Answer, PromiseRuntime } from "@mandate/core"
import { ScriptedModel, Step, StrictProvider, TestRuntime } from "@mandate/testing"
import { Effect, Fiber, Layer, Schema, Stream } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { TestClock } from "effect/testing"
import { it as plain } from "vitest"

const clerk = AgentBuilder.make("clerk")
const runtime = (steps: ReadonlyArray<Step.Step>) =>
  Layer.merge(TestRuntime.layer, StrictProvider.layer(ScriptedModel.layer({ clerk: steps })))

describe("N13 What the guide says", () => {
  it.effect("N13 of a retry: it waits on the test clock until the test moves it", () =>
    Effect.gen(function*() {
      const agent = yield* clerk.build()
      const fiber = yield* Effect.forkChild(agent.run("hi"), { startImmediately: true })
      yield* TestClock.adjust(0)
      assert.isUndefined(fiber.pollUnsafe())
      yield* TestClock.adjust("1 second")

      const { status } = yield* Fiber.join(fiber)
      assert.deepStrictEqual<unknown>({ ...status }, { _tag: "Completed", answer: "done" })
    }).pipe(Effect.provide(runtime([Step.fail("overloaded"), Step.text("done")]))))

  it.effect("N13 of RunFinished: it has the result alone, and neither agentPath nor runId", () =>
    Effect.gen(function*() {
      const agent = yield* clerk.build()
      const events = yield* Stream.runCollect(agent.stream("hi"))

      assert.deepStrictEqual(Object.keys(events.at(-1) ?? {}).sort(), ["_tag", "result"])
    }).pipe(Effect.provide(runtime([Step.text("done")]))))

  const Pay = Toolkit.make(Tool.make("pay", { success: Schema.String, needsApproval: true }))
  it.effect("N13 of a rejection: the model reads the error Rejected with the reason", () =>
    Effect.gen(function*() {
      const agent = yield* clerk.withTools(Pay, { pay: () => Effect.succeed("paid") }).build()
      const { status } = yield* agent.run("Pay", { threadId: "t" })
      const id = status._tag === "Suspended" ? status.pending[0]!.id : assert.fail(status._tag)
      yield* agent.resume("t", [Answer.reject(id, "not today")])

      const requests = yield* Effect.flatMap(ScriptedModel.ScriptedModel, (model) => model.requests)
      const last = JSON.stringify(requests.at(-1)?.request.messages.at(-1))
      assert.include(last, JSON.stringify({ error: { reason: "Rejected", message: "not today" } }))
    }).pipe(Effect.provide(runtime([Step.calls(Step.call("pay", {})), Step.text("done")]))))

  plain("N13 of plain Vitest: a promise runtime runs an agent on a scripted model", async () => {
    await using promises = PromiseRuntime.make(runtime([Step.text("Twice a day.")]))
    const agent = await promises.build(clerk)
    const { status } = await agent.run("How often is high tide?")

    assert.deepStrictEqual<unknown>({ ...status }, { _tag: "Completed", answer: "Twice a day." })
  })
})
