import { AgentBuilder, Mandate, TypedAgent } from "@mandate/core"
import { ScriptedModel, Step } from "@mandate/testing"
import { Effect, Schema } from "effect"

const researcher = TypedAgent.make("researcher", {
  description: "Researches one topic",
  input: Schema.Struct({ topic: Schema.String }),
  report: Schema.Struct({ facts: Schema.Array(Schema.String), confidence: Schema.Number })
}).withBudget({ maxTokens: 20_000, timeout: "60 seconds" })

const editor = AgentBuilder.make("editor").withSubagents([researcher], { maxConcurrentChildren: 2 })

// Stands in for a model, so that this runs without a key. The second task has an input of the wrong shape.
const model = ScriptedModel.layer({
  editor: [
    Step.calls(Step.taskOf(researcher, { topic: "tides" }), Step.task("researcher", { subject: "moon" })),
    Step.text("High water comes twice a day.")
  ],
  researcher: [Step.reportOf(researcher, { facts: ["High water comes twice a day"], confidence: 0.9 })]
})

const program = Effect.gen(function*() {
  const agent = yield* editor.build()
  const { status, usage } = yield* agent.run("Write about tides", { threadId: "tides" })
  const [run] = yield* agent.history("tides")
  const results = run?.messages.flatMap((message) => message.role === "tool" ? message.content : []) ?? []
  for (const { output } of results) console.log(JSON.stringify(output.value))
  console.log(status._tag === "Completed" ? status.answer : status._tag)
  console.log(`${usage.tree.modelCalls} model calls in the tree, ${usage.own.modelCalls} of them the editor's`)
})

await Effect.runPromise(program.pipe(Effect.provide([Mandate.layerMemory, model])))
