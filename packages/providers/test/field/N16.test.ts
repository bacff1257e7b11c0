import { assert, describe, it } from "@effect/vitest"
import { Mandate, ToolContext, TypedAgent } from "@mandate/core"
import { ScriptedModel, Step } from "@mandate/testing"
import { Effect, Schema, Stream } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { AiSdkTools } from "../../src/index.ts"

const User = Schema.Struct({ userId: Schema.String })
const orders = TypedAgent.make("orders", {
  description: "Knows orders",
  input: Schema.Struct({ question: Schema.String }),
  report: Schema.Struct({ of: Schema.String })
}).withContext(User)

const ask = (tool: AiSdkTools.AiSdkAgentTool) =>
  Stream.runLast(Stream.fromAsyncIterable(tool.execute({ question: "How many?" }, {}), (error) => error as Error))

describe("N16 the context of a subagent that is a tool of the AI SDK", () => {
  it.effect("N16 is given to the runs of its calls, and its model is not shown it", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const bound = yield* orders.withTools(Toolkit.make(Tool.make("whose", { success: Schema.String })), {
        whose: () => Effect.map(ToolContext.context(User), (user) => String(seen.push(user)))
      }).bind()
      const tool = AiSdkTools.toAiSdkTool(bound, { run: { context: { userId: "u-17" } } })
      const last = yield* ask(tool)
      const { requests } = yield* ScriptedModel.ScriptedModel

      assert.deepStrictEqual(last._tag === "Some" ? last.value : undefined, { of: "one" })
      assert.deepStrictEqual(seen, [{ userId: "u-17" }])
      assert.notInclude(JSON.stringify(yield* requests), "u-17")
      assert.notInclude(JSON.stringify(bound.json.inputSchema), "userId")
    }).pipe(Effect.provide([
      Mandate.layerMemory,
      ScriptedModel.layer({ orders: [Step.call("whose"), Step.report({ of: "one" })] })
    ])))

  it.effect("N16 is required for its calls", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(ask(AiSdkTools.toAiSdkTool(yield* orders.bind())))

      assert.include(error.message, "The context is not valid: it is missing: the agent \"orders\" declares one")
    }).pipe(Effect.provide([Mandate.layerMemory, ScriptedModel.layer({})])))
})
