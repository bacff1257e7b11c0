import { assert, describe, it } from "@effect/vitest"
import { type Agent as RunningAgent, AgentBuilder, Answer, Mandate, type Message, ModelRegistry } from "@mandate/core"
import { Effect, Layer, Schema } from "effect"
import { LanguageModel } from "effect/ai"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { AiSdk, EffectAi } from "../../src/index.ts"
import * as AiTurns from "../support/AiTurns.ts"
import { clients } from "../support/Clients.ts"
import * as ProviderServer from "../support/ProviderServer.ts"
import type { Turn } from "../support/wire/Wire.ts"

const half = "a\ud800b"

const tools = Toolkit.make(
  Tool.make("now", { description: `Tells the time ${half}`, success: Schema.String }),
  Tool.dynamic("tag", {
    parameters: { type: "object", properties: { [half]: { type: "array", description: half } } },
    success: Schema.String
  }),
  Tool.make("pay", {
    parameters: Schema.Struct({ amount: Schema.Int }),
    success: Schema.String,
    needsApproval: true
  })
)

const clerk = AgentBuilder.make("clerk").withInstructions(`You help ${half}`).withTools(tools, {
  now: () => Effect.succeed("noon"),
  tag: () => Effect.succeed(half),
  pay: ({ amount }) => Effect.succeed(`paid ${amount}`)
})

type Body = { readonly [key: string]: any }

/** Every object of a body, at any depth. */
const objects = (value: unknown): ReadonlyArray<Body> => {
  if (Array.isArray(value)) return value.flatMap(objects)
  if (typeof value !== "object" || value === null) return []
  return [value as Body, ...Object.values(value).flatMap(objects)]
}

const callIds = (body: Body) =>
  objects(body).flatMap(({ call_id, id, tool_call_id, tool_use_id, type }) => {
    const own = type === "tool_use" || type === "function" ? id : undefined
    return [call_id, tool_call_id, tool_use_id, own].filter((found) => typeof found === "string")
  })

const arrays = (body: Body) => objects(body["tools"]).filter(({ type }) => type === "array" || type === "ARRAY")

const run = (
  models: Layer.Layer<ModelRegistry.ModelRegistry>,
  use: (agent: Agent) => Effect.Effect<unknown, unknown>
): Effect.Effect<unknown, unknown> =>
  Effect.provide(Effect.flatMap(clerk.build(), use), Layer.merge(Mandate.layerMemory, models))

type Agent = RunningAgent.Agent<string>

/** Runs the agent on a client of a provider, and gives the bodies that it sent. */
const bodies = Effect.fnUntraced(function*(
  { model }: (typeof clients)[number],
  turns: ReadonlyArray<Turn>,
  use: (agent: Agent) => Effect.Effect<unknown, unknown>
) {
  let next = 0
  const server = yield* ProviderServer.start(() => ({ _tag: "turn", turn: turns[next++]! }))
  yield* run(ModelRegistry.layer({ default: AiSdk.make(model(server.url)) }), use)
  return server.requests.map(({ body }) => body)
})

const odd = ["functions.now:0", "x".repeat(80), "with a blank"]
const calls = odd.map((id) => ({ id, name: "now", arguments: "{}" }))

describe.each(clients)("What is sent to $name", (client) => {
  it.live("F03 F06 F07 C46 is taken by every provider, in this run and in later ones", () =>
    Effect.gen(function*() {
      const sent = yield* bodies(
        client,
        [
          { text: "\n\n", calls: [...calls, { id: "t", name: "tag", arguments: "{\"a\":\"\\ud800\"}" }] },
          { text: "one" },
          { text: "two" }
        ],
        (agent) => Effect.andThen(agent.run(`Go ${half}`, { threadId: "t" }), agent.run("Again", { threadId: "t" }))
      )

      assert.lengthOf(sent, 3)
      for (const body of sent) {
        assert.notMatch(JSON.stringify(body), /\\ud[89a-f]/)
        for (const id of callIds(body)) assert.match(id, /^[a-zA-Z0-9_-]{1,40}$/)
        assert.isTrue(arrays(body).every((schema) => "items" in schema))
        assert.isTrue(
          objects(body).every(({ text, type }) => type !== "text" || typeof text !== "string" || text.trim() !== "")
        )
      }
      const [, second, third] = sent.map(callIds)
      assert.deepStrictEqual(third, second)
    }))

  it.live("F04 keeps what the provider signed after an approval with other arguments", () =>
    Effect.gen(function*() {
      const sent = yield* bodies(
        client,
        [
          { reasoning: "One is due", calls: [{ id: "c1", name: "pay", arguments: "{\"amount\":1}" }] },
          { text: "done" }
        ],
        (agent) =>
          Effect.andThen(
            agent.run("Pay", { threadId: "t" }),
            agent.resume("t", [Answer.edit("0.0:approval0", { amount: 2 })])
          )
      )
      const text = JSON.stringify(sent.at(-1))

      assert.notInclude(text, "\"amount\\\":1")
      assert.include(text.replaceAll("\\\"", "\""), "\"amount\":2")
      if (client.name === "Anthropic") assert.include(text, "\"signature\"")
      assert.notInclude(text, "\"fc_")
    }))
})

describe("What is sent to a model of effect/ai", () => {
  it.effect("F03 F06 F07 C46 is taken by every provider, in this run and in later ones", () =>
    Effect.gen(function*() {
      const usage = { inputTokens: {}, outputTokens: {} }
      const parts: ReadonlyArray<Message.AssistantPart> = [
        { type: "text", text: "\n\n" },
        ...calls.map((call) => ({ type: "tool-call" as const, ...call })),
        { type: "tool-call", id: "t", name: "tag", arguments: "{\"a\":\"\\ud800\"}" }
      ]
      const respond = (parts: ReadonlyArray<Message.AssistantPart>, finishReason: "stop" | "tool-calls") => ({
        _tag: "Respond" as const,
        response: { parts, finishReason, usage }
      })
      const { model, seen } = yield* AiTurns.make([
        respond(parts, "tool-calls"),
        respond([{ type: "text", text: "one" }], "stop"),
        respond([{ type: "text", text: "two" }], "stop")
      ])
      yield* run(
        EffectAi.layer(Layer.succeed(LanguageModel.LanguageModel, model)),
        (agent) => Effect.andThen(agent.run(`Go ${half}`, { threadId: "t" }), agent.run("Again", { threadId: "t" }))
      )

      assert.lengthOf(seen.requests, 3)
      for (const { prompt, tools } of seen.requests) {
        const content = JSON.stringify([prompt.content, tools.map((tool) => Tool.getJsonSchema(tool))])
        assert.notMatch(content, /\\ud[89a-f]/)
        const all = objects(prompt.content)
        const ids = all.flatMap(({ id, type }) => type === "tool-call" || type === "tool-result" ? [id] : [])
        assert.isTrue(ids.every((id) => /^[a-zA-Z0-9_-]{1,40}$/.test(id)))
        assert.isTrue(all.every(({ text, type }) => type !== "text" || text.trim() !== ""))
        for (const tool of tools) assert.property(Tool.getJsonSchema(tool), "properties")
      }
    }))
})
