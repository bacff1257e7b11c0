import { assert, describe, it } from "@effect/vitest"
import { type Agent, AgentBuilder, Mandate, ModelRegistry, type ModelRequest } from "@mandate/core"
import { Effect, Logger, References, Schema, Stream } from "effect"
import * as Prompt from "effect/ai/Prompt"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { AiSdk } from "../src/index.ts"
import { type Client, clients } from "./support/Clients.ts"
import * as ProviderServer from "./support/ProviderServer.ts"

const Report = Schema.Struct({ city: Schema.String, note: Schema.optionalKey(Schema.String) })
const report = { city: "Oslo", note: null }

const Shot = Tool.make("shot", {
  parameters: Schema.Struct({}),
  success: Schema.String,
  toModelOutput: (name) => [
    Prompt.textPart({ text: name }),
    Prompt.filePart({ mediaType: "image/png", data: new Uint8Array([0, 1, 2]) })
  ]
})

const clerk = AgentBuilder.make("clerk")
  .withOutput(Report)
  .withTools(Toolkit.make(Shot), { shot: () => Effect.succeed("The page") })

/** A call of the tool, then the answer: as text, or where a client makes a tool of it, as a call of that. */
const react = ({ results, tools }: ProviderServer.Request): ProviderServer.Reaction => {
  const json = JSON.stringify(report)
  if (results.length === 0) return { _tag: "turn", turn: { calls: [{ id: "call_1", name: "shot", arguments: "{}" }] } }
  return tools.includes("json")
    ? { _tag: "turn", turn: { calls: [{ id: "call_2", name: "json", arguments: json }] } }
    : { _tag: "turn", turn: { text: json } }
}

const run = (agent: Agent.Agent<typeof Report.Type>) => agent.run("Go")
const stream = (agent: Agent.Agent<typeof Report.Type>) =>
  Effect.map(Stream.runCollect(agent.stream("Go")), (elements) => {
    const last = elements.at(-1)
    if (last?._tag !== "RunFinished") throw new Error("the stream ended with no result")
    return last.result
  })

const ask = Effect.fnUntraced(function*(
  client: Client,
  builder: AgentBuilder.AgentBuilder<typeof Report.Type>,
  use: typeof run,
  options?: AiSdk.Options
) {
  const server = yield* ProviderServer.start(react)
  const lines: Array<string> = []
  const logger = Logger.map(Logger.formatJson, (line) => lines.push(line))
  const result = yield* Effect.flatMap(builder.build(), use).pipe(
    Effect.provide([
      Mandate.layerMemory,
      ModelRegistry.layer({ models: { own: AiSdk.make(client.model(server.url), options) } })
    ]),
    Effect.provideService(References.MinimumLogLevel, "Debug"),
    Effect.provide(Logger.layer([logger]))
  )
  return { bodies: server.requests.map(({ body }) => body), requests: server.requests, result, lines }
})

const settings: ModelRequest.ModelSettings = {
  temperature: 0.5,
  topP: 0.9,
  topK: 5,
  presencePenalty: 0.1,
  frequencyPenalty: 0.2,
  maxOutputTokens: 9_000,
  stopSequences: ["END"],
  seed: 7,
  reasoning: "high",
  headers: { "x-team": "red" },
  providerOptions: {
    openai: { user: "u-1" },
    fake: { user: "u-1" },
    anthropic: { metadata: { userId: "u-1" } },
    google: { cachedContent: "u-1" }
  }
}

const chat = {
  temperature: 0.5,
  top_p: 0.9,
  presence_penalty: 0.1,
  frequency_penalty: 0.2,
  max_tokens: 9_000,
  stop: ["END"],
  seed: 7,
  reasoning_effort: "high",
  user: "u-1"
}

/** What becomes of the settings in the body, and which of them the client says it leaves out. */
const sent: { readonly [client: string]: { readonly body: object; readonly leftOut: ReadonlyArray<string> } } = {
  "OpenAI responses": {
    body: { max_output_tokens: 9_000, user: "u-1" },
    leftOut: ["topK", "seed", "presencePenalty", "frequencyPenalty", "stopSequences", "temperature", "topP"]
  },
  "OpenAI chat": { body: chat, leftOut: ["topK"] },
  Anthropic: {
    body: { stop_sequences: ["END"], metadata: { user_id: "u-1" } },
    leftOut: ["frequencyPenalty", "presencePenalty", "seed", "temperature", "topK", "topP"]
  },
  Google: { body: { cachedContent: "u-1" }, leftOut: ["frequencyPenalty", "presencePenalty"] },
  "OpenAI compatible": { body: chat, leftOut: ["topK"] }
}

/** The clients whose tool results are texts: a note says that a file was left out. */
const textResults = ["OpenAI chat", "OpenAI compatible"]

for (const client of clients) {
  describe(`what an agent asks ${client.name}`, () => {
    it.live("has the agent's settings over the model's, headers and provider options, and logs what is left out", () =>
      Effect.gen(function*() {
        const builder = clerk.withModel("own", settings)
        const own = { temperature: 0, headers: { "x-own": "blue" } }
        const { bodies, lines, requests } = yield* ask(client, builder, run, { settings: own })

        const { body, leftOut } = sent[client.name]!
        assert.deepInclude(bodies[0], body)
        assert.strictEqual(requests[0]?.headers["x-team"], "red")
        assert.strictEqual(requests[0]?.headers["x-own"], "blue")
        const [line] = lines.filter((each) => each.includes("did not send"))
        const { annotations, level } = JSON.parse(line!)
        assert.strictEqual(level, "DEBUG")
        assert.sameMembers(annotations.warnings, leftOut.map((name) => `unsupported ${name}`))
        assert.notInclude(lines.join(), "u-1")
      }))

    for (const [how, use] of [["whole", run], ["streamed", stream]] as const) {
      it.live(`has the schema of a native answer beside the tools, and reads the answer, ${how}`, () =>
        Effect.gen(function*() {
          const { bodies, requests, result } = yield* ask(client, clerk.withModel("own"), use, {
            structuredAnswers: true
          })

          assert.deepStrictEqual({ ...result.status }, { _tag: "Completed", answer: { city: "Oslo" } })
          assert.strictEqual(requests.length, 2)
          for (const [index, { tools }] of requests.entries()) {
            assert.include(tools, "shot")
            assert.notInclude(tools, "submit_report")
            assert.include(JSON.stringify(bodies[index]), "\"required\":[\"city\",\"note\"]")
          }
        }))

      it.live(`has the texts that a tool gave back, and the files or notes of them, ${how}`, () =>
        Effect.gen(function*() {
          const { bodies } = yield* ask(client, clerk.withModel("own"), use, { structuredAnswers: true })

          const body = JSON.stringify(bodies[1])
          const note = "[A file of the media type image/png was left out"
          const [there, absent] = textResults.includes(client.name) ? [note, "AAEC"] : ["AAEC", "was left out"]
          assert.include(body, "The page")
          assert.include(body, there)
          assert.notInclude(body, absent)
        }))
    }
  })
}
