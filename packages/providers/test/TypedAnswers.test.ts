import { createAnthropic } from "@ai-sdk/anthropic"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Mandate } from "@mandate/core"
import { Effect, Schema } from "effect"
import { AiSdk } from "../src/index.ts"
import { apiKey } from "./support/Clients.ts"
import * as ProviderServer from "./support/ProviderServer.ts"

const Report = Schema.Struct({ city: Schema.String })
const clerk = AgentBuilder.make("clerk").withOutput(Report)

/** What a client sends for a typed answer, and what the run comes to. */
const ask = Effect.fnUntraced(function*(
  model: (baseURL: string) => Parameters<typeof AiSdk.layer>[0],
  options: AiSdk.Options,
  turn: ProviderServer.Reaction
) {
  const server = yield* ProviderServer.start(() => turn)
  const { status } = yield* Effect.flatMap(clerk.build(), (agent) => agent.run("Go")).pipe(
    Effect.provide([Mandate.layerMemory, AiSdk.layer(model(server.url), options)])
  )
  return { status: { ...status }, body: JSON.stringify(server.requests[0]?.body) }
})

const submitted: ProviderServer.Reaction = {
  _tag: "turn",
  turn: { calls: [{ id: "call_1", name: "submit_report", arguments: "{\"city\":\"Oslo\"}" }] }
}
const said: ProviderServer.Reaction = { _tag: "turn", turn: { text: "{\"city\":\"Oslo\"}" } }
const completed = { _tag: "Completed", answer: { city: "Oslo" } }

describe("a typed answer", () => {
  it.live("is a tool by default, so a model its client does not know keeps its parallel calls", () =>
    Effect.gen(function*() {
      const { body, status } = yield* ask(
        (baseURL) => createAnthropic({ baseURL, apiKey })("unheard-of"),
        {},
        submitted
      )

      assert.deepStrictEqual<unknown>(status, completed)
      assert.include(body, "submit_report")
      assert.notInclude(body, "disable_parallel_tool_use")
    }))

  it.live.each([[true, true], [false, false]] as const)(
    "reaches a compatible server as a schema when its client says that it takes one: %s",
    ([supportsStructuredOutputs, isSent]) =>
      Effect.gen(function*() {
        const model = (baseURL: string) =>
          createOpenAICompatible({ name: "own", baseURL, apiKey, supportsStructuredOutputs })("m-1")
        const { body, status } = yield* ask(model, { structuredAnswers: true }, said)

        assert.deepStrictEqual<unknown>(status, completed)
        assert.strictEqual(body.includes("\"json_schema\""), isSent)
      })
  )
})
