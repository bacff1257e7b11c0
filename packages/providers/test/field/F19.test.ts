import { createOpenAI } from "@ai-sdk/openai"
import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Answer, Mandate, Message, ModelRegistry, type ModelRequest } from "@mandate/core"
import { Effect, Layer, Schema, Stream } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { AiSdk } from "../../src/index.ts"
import * as SelfContained from "../../src/v4/SelfContained.ts"
import { apiKey, clients } from "../support/Clients.ts"
import * as ProviderServer from "../support/ProviderServer.ts"
import * as Ways from "../support/Ways.ts"
import type { Json, Turn } from "../support/wire/Wire.ts"

const Pay = Tool.make("pay", {
  parameters: Schema.Struct({ amount: Schema.Int }),
  success: Schema.String,
  needsApproval: true
})

const paying: Turn = {
  reasoning: "They want it paid.",
  text: "I pay",
  calls: [{ id: "call_1", name: "pay", arguments: "{\"amount\":7}" }]
}

/** Runs an agent whose call waits for approval, and gives the requests before and after it. */
const approved = (options: AiSdk.Options, stream: boolean, settings: ModelRequest.ModelSettings = {}) =>
  Effect.gen(function*() {
    const server = yield* ProviderServer.start(({ results }) => ({
      _tag: "turn",
      turn: results.length === 0 ? paying : { text: "Paid" }
    }))
    const model = createOpenAI({ baseURL: server.url, apiKey }).responses("gpt-5")
    const layer = Layer.merge(
      Mandate.layerMemory,
      ModelRegistry.layer({ default: AiSdk.make(model, options) })
    )
    yield* Effect.gen(function*() {
      const agent = yield* AgentBuilder.make("clerk").withModel(undefined, settings)
        .withTools(Toolkit.make(Pay), { pay: () => Effect.succeed("paid") }).build()
      if (stream) yield* Stream.runDrain(agent.stream("Pay 7", { threadId: "t" }))
      else yield* agent.run("Pay 7", { threadId: "t" })
      const { status } = yield* agent.status("t")
      assert.strictEqual(status._tag, "Suspended")
      if (status._tag !== "Suspended") return
      yield* agent.resume("t", [Answer.approve(status.pending[0]!.id)])
    }).pipe(Effect.provide(layer))
    return server.requests.map(({ body }) => body)
  })

const itemsOf = (body: Json | undefined): ReadonlyArray<Json> => body?.["input"] ?? []
const references = (bodies: ReadonlyArray<Json>) =>
  bodies.flatMap(itemsOf).filter((item) => item["type"] === "item_reference")

describe("F19: OpenAI responses", () => {
  for (const stream of [false, true]) {
    it.live(`F19: a history after an approval is self-contained, ${stream ? "streamed" : "whole"}`, () =>
      Effect.gen(function*() {
        const bodies = yield* approved({}, stream)

        assert.lengthOf(bodies, 2)
        for (const body of bodies) {
          assert.strictEqual(body["store"], false)
          assert.include(body["include"], "reasoning.encrypted_content")
          assert.isUndefined(body["previous_response_id"])
        }
        assert.deepStrictEqual(references(bodies), [])
        const items = itemsOf(bodies[1])
        const reasoning = items.find((item) => item["type"] === "reasoning")
        assert.strictEqual(reasoning?.["encrypted_content"], "sealed")
        assert.include(JSON.stringify(items), "I pay")
        assert.isDefined(items.find((item) => item["type"] === "function_call" && item["call_id"] === "call_1"))
        assert.isDefined(items.find((item) => item["type"] === "function_call_output"))
      }))
  }

  it.live("F19: a setting of the client, or of an agent, turns it back", () =>
    Effect.gen(function*() {
      const kept = { providerOptions: { openai: { store: true } } }
      for (const bodies of [yield* approved({ settings: kept }, false), yield* approved({}, false, kept)]) {
        assert.isTrue(bodies.every((body) => body["store"] === true))
        assert.isAbove(references(bodies).length, 0)
      }
    }))

  it.live("F19: other options of the provider leave it as it is", () =>
    Effect.gen(function*() {
      const bodies = yield* approved({ settings: { providerOptions: { openai: { serviceTier: "flex" } } } }, false)

      assert.isTrue(bodies.every((body) => body["store"] === false && body["service_tier"] === "flex"))
    }))

  it.live("F19: a conversation that the application keeps at the provider is left to it", () =>
    Effect.gen(function*() {
      for (const openai of [{ previousResponseId: "resp_1" }, { conversation: "conv_1" }]) {
        const server = yield* ProviderServer.start(() => ({ _tag: "turn", turn: { text: "Hello" } }))
        const model = createOpenAI({ baseURL: server.url, apiKey }).responses("gpt-5")
        yield* Ways.whole(AiSdk.make(model, { settings: { providerOptions: { openai } } }))

        assert.isUndefined(server.requests[0]?.body["store"])
      }
    }))

  it.live("F19: a history of before, with ids at the provider alone, is sent without them", () =>
    Effect.gen(function*() {
      const server = yield* ProviderServer.start(() => ({ _tag: "turn", turn: { text: "Hello" } }))
      const model = createOpenAI({ baseURL: server.url, apiKey }).responses("gpt-5")
      yield* Ways.whole(AiSdk.make(model), {
        messages: [
          Message.userText("Hi"),
          {
            role: "assistant",
            content: [
              { type: "reasoning", text: "They greet.", providerMetadata: { openai: { itemId: "rs_1" } } },
              { type: "text", text: "Welcome", providerMetadata: { openai: { itemId: "msg_1" } } }
            ]
          },
          Message.userText("Again")
        ],
        tools: [],
        toolChoice: "auto",
        settings: {}
      })
      const body = server.requests[0]?.body

      assert.deepStrictEqual(references([body!]), [])
      assert.include(JSON.stringify(itemsOf(body)), "Welcome")
    }))
})

describe("F19: other providers", () => {
  it("F19: only the responses format of OpenAI, by whatever way, gets provider options", () => {
    const of = (provider: string, modelId = "gpt-5") => SelfContained.options({ provider, modelId })
    const notStored = { store: false }

    assert.deepStrictEqual(of("openai.responses"), { openai: notStored })
    assert.deepStrictEqual(of("azure.responses"), { openai: notStored, azure: notStored })
    assert.deepStrictEqual(of("gateway", "openai/gpt-5"), { openai: notStored })
    for (const provider of ["openai.chat", "anthropic.messages", "google.generative-ai", "gateway", "fake.chat"]) {
      assert.isUndefined(of(provider, "m"))
    }
  })

  for (const { model, name } of clients.filter(({ name }) => name !== "OpenAI responses")) {
    it.live(`F19: requests of ${name} refer to nothing that is kept at the provider`, () =>
      Effect.gen(function*() {
        const server = yield* ProviderServer.start(() => ({ _tag: "turn", turn: { text: "Hello" } }))
        yield* Ways.whole(AiSdk.make(model(server.url)))

        assert.notMatch(
          JSON.stringify(server.requests[0]?.body),
          /item_reference|previous_response_id|cachedContent|"container"|"store"/
        )
      }))
  }
})
