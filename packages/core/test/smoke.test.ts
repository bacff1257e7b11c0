import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Mandate, TypedAgent } from "@mandate/core"
import { Script, Step } from "@mandate/testing"
import { Effect, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Models from "./support/Models.ts"

const Lookup = Tool.make("lookup", {
  description: "Looks up",
  parameters: Schema.Struct({ topic: Schema.String }),
  success: Schema.String
})
const researcher = TypedAgent.make("researcher", {
  description: "Researches",
  input: Schema.Struct({ topic: Schema.String }),
  report: Schema.Struct({ facts: Schema.Array(Schema.String) })
}).withTools(Toolkit.make(Lookup), { lookup: ({ topic }) => Effect.succeed(`${topic}: two facts`) })
const parent = AgentBuilder.make("parent").withSubagents([researcher])

describe("smoke", () => {
  it.effect("delegates", () =>
    Effect.gen(function*() {
      const agent = yield* parent.build()
      const result = yield* agent.run("Go", { threadId: "t" })
      console.log(JSON.stringify(result))
      const h = yield* agent.history("t")
      console.log(JSON.stringify(h, null, 1))
      assert.strictEqual(result.status._tag, "Completed")
    }).pipe(Effect.provide([
      Mandate.layerMemory,
      Models.layer({
        parent: [
          Step.calls(Step.call("task_researcher", { topic: "tides" }), Step.call("task_researcher", { topic: "moon" })),
          Step.text("done")
        ],
        researcher: Script.each([Step.calls(Step.call("lookup", { topic: "x" })), Step.report({ facts: ["a"] })])
      })
    ])))
})
