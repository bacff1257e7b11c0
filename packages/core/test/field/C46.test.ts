import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, type ModelRequest, TypedAgent } from "@mandate/core"
import { Script, Step, StrictRules } from "@mandate/testing"
import { Effect, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { backings } from "../support/Backings.ts"
import * as Waiting from "../support/Waiting.ts"

const half = "a\ud800b"
const whole = "a\ufffdb"

const isWhole = (request: ModelRequest.ModelRequest) =>
  StrictRules.check(request).filter(({ rule }) => rule === "surrogates")

describe("C46 Half of a surrogate pair", () => {
  it.effect.each(backings)(
    "C46 that an application wrote is mended in every definition ($name)",
    ({ make }) =>
      Effect.gen(function*() {
        const scribe = TypedAgent.make(`scribe`, {
          description: `Writes ${half}`,
          input: Schema.Struct({ text: Schema.String.annotate({ description: half }) }),
          report: Schema.Struct({ text: Schema.String.annotate({ description: half }) })
        }).withInstructions(half)
        const tools = Toolkit.make(
          Tool.make("look", { description: half, success: Schema.String }),
          Tool.dynamic("find", {
            parameters: {
              type: "object",
              properties: { [half]: { type: "string", description: half, enum: [half], pattern: half } }
            },
            success: Schema.String
          })
        )
        const clerk = AgentBuilder.make("clerk")
          .withInstructions(`You help ${half}`)
          .withModel(undefined, { stopSequences: [half] })
          .withTools(tools, { look: () => Effect.succeed(half), find: () => Effect.succeed("found") })
          .withSubagents([scribe])
        const { model, next } = yield* Waiting.processes(yield* make, {
          clerk: [
            Step.calls(Step.call("look"), Step.taskOf(scribe, { text: half })),
            Step.text("done")
          ],
          scribe: [Step.reportOf(scribe, { text: half })]
        })
        yield* next(Effect.flatMap(clerk.build(), (agent) => agent.run(`Go ${half}`)))
        const requests = yield* model.requests

        assert.lengthOf(requests, 3)
        for (const { request } of requests) assert.deepStrictEqual(isWhole(request), [])
        assert.deepStrictEqual<unknown>(requests[0]!.request.messages[0], {
          role: "system",
          content: `You help ${whole}`
        })
      })
  )

  it.effect.each(backings)(
    "C46 that a model wrote as an escape is mended in later requests ($name)",
    ({ place }) =>
      Effect.gen(function*() {
        const clerk = AgentBuilder.make("clerk").withTools(
          Toolkit.make(Tool.dynamic("find", { parameters: { type: "object" }, success: Schema.String })),
          { find: () => Effect.succeed("found") }
        )
        const written = [
          "{\"q\":\"\\ud800\"}",
          "{\"\\uDC00\":{\"a\":[\"x\\uD83D\"]}}",
          "{\"q\":\"\\ud83d\\ude00\"}",
          "no \\ud800 JSON"
        ]
        const { model, next } = yield* Waiting.processes(yield* place, {
          clerk: Script.runs(
            [
              Step.parts(
                written.map((text, index) => ({ type: "tool-call", id: `c${index}`, name: "find", arguments: text })),
                "tool-calls"
              ),
              Step.text("one")
            ],
            [Step.text("two")]
          )
        })
        yield* next(Effect.flatMap(clerk.build(), (agent) => agent.run("Go", { threadId: "t" })))
        yield* next(Effect.flatMap(clerk.build(), (agent) => agent.run("Again", { threadId: "t" })))
        const requests = yield* model.requests

        for (const { request } of requests) assert.deepStrictEqual(isWhole(request), [])
        const sent = requests.at(-1)!.request.messages[1]
        assert.deepStrictEqual(
          sent?.role === "assistant" && sent.content.map((part) => part.type === "tool-call" && part.arguments),
          ["{\"q\":\"\ufffd\"}", "{\"\ufffd\":{\"a\":[\"x\ufffd\"]}}", "{\"q\":\"\\ud83d\\ude00\"}", "no \\ud800 JSON"]
        )
      })
  )
})
