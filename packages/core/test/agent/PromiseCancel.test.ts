import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Answer, Mandate, PromiseRuntime, TypedAgent } from "@mandate/core"
import { type Script, Step } from "@mandate/testing"
import { Effect, Layer } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Models from "../support/Models.ts"

const tools = Toolkit.make(Tool.make("pay", { needsApproval: true }))

const runtimeOf = (scripts: Script.Scripts) =>
  PromiseRuntime.make(Layer.merge(Mandate.layerMemory, Models.layer(scripts)))

const thrownBy = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(() => assert.fail("it did not reject"), (error: unknown) => error)

describe("cancelling by promises", () => {
  it("cancels a resumed run by its signal, and then rejects with the signal's reason", async () => {
    const controller = new AbortController()
    const reason = new Error("enough")
    const clerk = AgentBuilder.make("clerk").withTools(tools, {
      pay: () => Effect.andThen(Effect.sync(() => controller.abort(reason)), Effect.never)
    })
    await using runtime = runtimeOf({ clerk: [Step.call("pay")] })
    const agent = await runtime.build(clerk)
    await agent.run("Go", { threadId: "t" })
    const resumed = agent.resume("t", [Answer.approve("0.0:approval0")], { signal: controller.signal })

    assert.strictEqual(await thrownBy(resumed), reason)
    assert.strictEqual((await agent.status("t")).status._tag, "Cancelled")
  })

  it("cancels one child by its thread, and its parent goes on", async () => {
    const cashier = TypedAgent.text("cashier", { description: "Pays" }).withTools(tools, { pay: () => Effect.void })
    await using runtime = runtimeOf({
      chief: [Step.calls(Step.textTask("cashier", "Pay")), Step.text("done")],
      cashier: [Step.call("pay")]
    })
    const agent = await runtime.build(AgentBuilder.make("chief").withSubagents([cashier]))
    const { status } = await agent.run("Go", { threadId: "t" })
    await agent.cancel("t", { child: "t#0/0.0" })

    assert.strictEqual(status._tag, "Suspended")
    assert.deepStrictEqual((await agent.status("t")).status, { _tag: "Completed", answer: "done" })
  })

  it("rejects with what went wrong on the way, rather than with the signal's reason", async () => {
    await using runtime = runtimeOf({})
    const controller = new AbortController()
    const defect = new Error("the door does not close")
    const effect = Effect.onInterrupt(
      Effect.andThen(Effect.sync(() => controller.abort("enough")), Effect.never),
      () => Effect.die(defect)
    )

    assert.strictEqual(await thrownBy(runtime.run(effect, { signal: controller.signal })), defect)
  })
})
