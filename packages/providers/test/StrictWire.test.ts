import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Mandate } from "@mandate/core"
import { Effect, Layer, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { AiSdk } from "../src/index.ts"
import { clients } from "./support/Clients.ts"
import * as ProviderServer from "./support/ProviderServer.ts"

const Search = Tool.make("search", {
  parameters: Schema.Struct({ query: Schema.String, limit: Schema.optionalKey(Schema.Int) }),
  success: Schema.String
})

const sent = {
  type: "object",
  properties: { query: { type: "string" }, limit: { anyOf: [{ type: "integer" }, { type: "null" }] } },
  required: ["query", "limit"],
  additionalProperties: false
}

/** Where each format has the parameters of a tool, and that they hold. */
const tools: { readonly [client: string]: (body: any) => unknown } = {
  "OpenAI responses": ({ tools: [tool] }) => [tool.parameters, tool.strict],
  "OpenAI chat": ({ tools: [tool] }) => [tool.function.parameters, tool.function.strict],
  "OpenAI compatible": ({ tools: [tool] }) => [tool.function.parameters, tool.function.strict],
  Anthropic: ({ tools: [tool] }) => [tool.input_schema, tool.strict],
  Google: ({ toolConfig, tools: [{ functionDeclarations: [tool] }] }) => [
    tool.parametersJsonSchema,
    toolConfig.functionCallingConfig.mode === "VALIDATED"
  ]
}

describe("strictSchemas on the wire", () => {
  for (const client of clients) {
    it.live(`${client.name} sends the strict schema, and the tool gets what its own schema says`, () =>
      Effect.gen(function*() {
        const server = yield* ProviderServer.start(({ results }) => ({
          _tag: "turn",
          turn: results.length > 0
            ? { text: "done" }
            : { calls: [{ id: "call_1", name: "search", arguments: "{\"query\":\"tides\",\"limit\":null}" }] }
        }))
        const searched: Array<unknown> = []
        const clerk = AgentBuilder.make("clerk").withTools(Toolkit.make(Search), {
          search: (params) => Effect.as(Effect.sync(() => searched.push(params)), "twice a day")
        })
        const { status } = yield* Effect.flatMap(clerk.build(), (agent) => agent.run("Go")).pipe(
          Effect.provide(Layer.merge(
            Mandate.layerMemory,
            AiSdk.layer(client.model(server.url), { strictSchemas: true })
          ))
        )

        assert.deepStrictEqual({ ...status }, { _tag: "Completed", answer: "done" })
        assert.deepStrictEqual(searched, [{ query: "tides" }])
        assert.lengthOf(server.requests, 2)
        for (const { body } of server.requests) assert.deepStrictEqual(tools[client.name]!(body), [sent, true])
      }))
  }
})
