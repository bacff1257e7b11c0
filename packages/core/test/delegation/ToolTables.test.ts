import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Mandate, ModelRegistry, type ModelRequest, TypedAgent } from "@mandate/core"
import { Effect, Layer, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"

const Search = Tool.make("search", { parameters: Schema.Struct({ query: Schema.String }), success: Schema.String })
const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } }

describe("the tools of an agent", () => {
  it.effect("are compiled once: every request of every run shows the same ones", () =>
    Effect.gen(function*() {
      const seen: Array<ReadonlyArray<ModelRequest.ModelTool>> = []
      const models = ModelRegistry.layer({
        default: {
          provider: "own",
          modelId: "own",
          generate: ({ messages, tools }) =>
            Effect.sync(() => {
              seen.push(tools)
              return messages.at(-1)?.role === "tool"
                ? { parts: [{ type: "text", text: "done" }], finishReason: "stop", usage }
                : {
                  parts: [{ type: "tool-call", id: "", name: "search", arguments: "{\"query\":\"x\"}" }],
                  finishReason: "tool-calls",
                  usage
                }
            })
        }
      })
      const scout = TypedAgent.make("scout", { description: "Scouts", input: Schema.String, report: Schema.String })
      const runtime = yield* Layer.build(Layer.merge(Mandate.layerMemory, models))
      const agent = yield* AgentBuilder.make("editor")
        .withTools(Toolkit.make(Search), { search: () => Effect.succeed("found") })
        .withSubagents([scout])
        .withOutput(Schema.String)
        .withReasks(0)
        .build()
        .pipe(Effect.provideContext(runtime))

      yield* agent.run("One")
      yield* agent.run("Two")

      assert.lengthOf(seen, 4)
      assert.deepStrictEqual(seen[0]?.map(({ name }) => name), ["search", "task_scout", "submit_report"])
      for (const tools of seen) tools.forEach((tool, index) => assert.strictEqual(tool, seen[0]?.[index]))
    }))
})
