import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, ModelRegistry, TypedAgent } from "@mandate/core"
import { type Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Layer } from "effect"
import { backings } from "../support/Backings.ts"
import * as Trees from "../support/Trees.ts"

/** A model whose client interrupts itself when it is asked for an agent for the first time. */
const interrupting = (agentId: string, scripts: Script.Scripts) =>
  Layer.unwrap(Effect.map(ScriptedModel.make(scripts), (model) => {
    let isFirst = true
    const client = {
      ...model.client,
      generate: (...[request, call]: Parameters<typeof model.client.generate>) =>
        Effect.suspend(() => {
          if (call.agentId !== agentId || !isFirst) return model.client.generate(request, call)
          isFirst = false
          return Effect.interrupt
        })
    }
    return Layer.merge(
      ScriptedModel.layerOf(model),
      Layer.succeed(ModelRegistry.ModelRegistry, { get: () => Effect.succeed(client) })
    )
  }))

describe.each(backings)("a model that interrupts itself, in $name", ({ make }) => {
  it.effect.each(["lead", "child"])(
    "fails the run of %s, which is to be recovered",
    (agentId) =>
      Effect.gen(function*() {
        const store = yield* make
        yield* Effect.gen(function*() {
          const child = TypedAgent.text("child", { description: "Works" })
          const agent = yield* AgentBuilder.make("lead").withSubagents([child]).build()
          const error = yield* Effect.flip(agent.run("Go", { threadId: "t" }))
          const { status } = yield* agent.status("t")
          const recovered = yield* agent.recover("t")

          const reason = { _tag: "Defect", threadId: "t", where: `the agent "${agentId}"` }
          assert.deepStrictEqual<unknown>(error.reason, reason)
          assert.deepStrictEqual<unknown>(status, { _tag: "Failed", reason })
          assert.deepStrictEqual(recovered.status, { _tag: "Completed", answer: "done" })
        }).pipe(Effect.provide(Trees.runtimeOf(
          interrupting(agentId, {
            lead: [Step.calls(Step.textTask("child", "x")), Step.text("done")],
            child: [Step.text("worked")]
          }),
          store
        )))
      })
  )
})
