import { assert, describe, it } from "@effect/vitest"
import { type Agent, AgentBuilder, Mandate, TypedAgent } from "@mandate/core"
import { Effect, Logger, References, Schedule, Schema, Stream } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { AiSdk } from "../src/index.ts"
import { apiKey, clients } from "./support/Clients.ts"
import * as ProviderServer from "./support/ProviderServer.ts"
import type { Turn } from "./support/wire/Wire.ts"

const topics = ["tides", "moons", "winds"]
const answer = "All three are known."

const Lookup = Tool.make("lookup", {
  description: "Looks a topic up",
  parameters: Schema.Struct({ topic: Schema.String }),
  success: Schema.String
})

const researcher = TypedAgent.make("researcher", {
  description: "Researches one topic",
  input: Schema.Struct({ topic: Schema.String }),
  report: Schema.Struct({ topic: Schema.String, facts: Schema.Array(Schema.String) })
})
  .withTools(Toolkit.make(Lookup), { lookup: ({ topic }) => Effect.succeed(`FACT-OF-${topic}`) })
  .withRetry(Schedule.recurs(2))

const editor = AgentBuilder.make("editor")
  .withInstructions("You plan and delegate.")
  .withSubagents([researcher])
  .withRetry(Schedule.recurs(2))

/** What the models of the job say. The children are answered once all of them have asked. */
const play = () => {
  const waiting: Array<(reaction: ProviderServer.Reaction) => void> = []
  const say = (turn: Turn): ProviderServer.Reaction => ({ _tag: "turn", turn })
  const call = (index: number, name: string, args: unknown) => ({
    id: `call_${name}_${index}`,
    name,
    arguments: JSON.stringify(args)
  })
  return (request: ProviderServer.Request): ProviderServer.Reaction | Promise<ProviderServer.Reaction> => {
    if (request.tools.includes("task_researcher")) {
      return say(
        request.results.length > 0
          ? { text: answer }
          : {
            reasoning: "Three topics.",
            text: "I delegate.",
            calls: topics.map((topic, index) => call(index, "task_researcher", { topic }))
          }
      )
    }
    const topic = topics.find((known) => request.prompt.includes(known)) ?? ""
    const index = topics.indexOf(topic)
    if (request.results.length > 0) {
      const facts = /FACT-OF-\w+/.exec(request.results.join())
      return say({ calls: [call(index, "submit_report", { topic, facts: [...facts ?? []] })] })
    }
    return new Promise((resolve) => {
      waiting.push((reaction) => resolve(reaction))
      if (waiting.length === topics.length) {
        waiting.forEach((wake, place) => wake(say({ calls: [call(place, "lookup", { topic: topics[place] })] })))
      }
    })
  }
}

const run = (agent: Agent.Agent<string>) => agent.run("Write about three topics", { threadId: "job-1" })

const stream = (agent: Agent.Agent<string>) =>
  Stream.runCollect(agent.stream("Write about three topics", { threadId: "job-1" }))

const jobOn = Effect.fnUntraced(function*<A, E>(
  client: (typeof clients)[number],
  react: (request: ProviderServer.Request) => ProviderServer.Reaction | Promise<ProviderServer.Reaction>,
  use: (agent: Agent.Agent<string>) => Effect.Effect<A, E>
) {
  const server = yield* ProviderServer.start(react)
  const lines: Array<string> = []
  const logger = Logger.map(Logger.formatJson, (line) => lines.push(line))
  return yield* Effect.gen(function*() {
    const agent = yield* editor.build()
    const result = yield* use(agent)
    const [settled] = yield* agent.history("job-1")
    return { server, result, lines, messages: settled?.messages }
  }).pipe(
    Effect.provide([Mandate.layerMemory, AiSdk.layer(client.model(server.url))]),
    Effect.provideService(References.MinimumLogLevel, "Info"),
    Effect.provide(Logger.layer([logger]))
  )
})

for (const client of clients) {
  describe(`the reference job on ${client.name}`, () => {
    it.live("runs whole: three children at once, each with a tool call and a report", () =>
      Effect.gen(function*() {
        const { result, server } = yield* jobOn(client, play(), run)

        assert.deepStrictEqual({ ...result.status }, { _tag: "Completed", answer })
        assert.strictEqual(server.requests.length, 8)
        assert.isFalse(server.requests.some(({ isStream }) => isStream))
        const parents = server.requests.filter(({ tools }) => tools.includes("task_researcher"))
        assert.strictEqual(parents.length, 2)
        assert.deepStrictEqual(parents[1]?.results.map((text) => /FACT-OF-(\w+)/.exec(text)?.[1]), topics)
        assert.deepInclude(result.usage.tree, { inputTokens: 80, outputTokens: 40, modelCalls: 8, toolCalls: 6 })
        assert.deepInclude(result.usage.own, { inputTokens: 20, modelCalls: 2, toolCalls: 3, estimated: false })
      }))

    it.live("runs streamed: the same messages, and the words as they come", () =>
      Effect.gen(function*() {
        const whole = yield* jobOn(client, play(), run)
        const streamed = yield* jobOn(client, play(), stream)

        const last = streamed.result.at(-1)
        assert.strictEqual(last?._tag, "RunFinished")
        if (last?._tag !== "RunFinished") return
        assert.deepStrictEqual({ ...last.result.status }, { _tag: "Completed", answer })
        assert.deepStrictEqual(last.result.usage, whole.result.usage)
        assert.deepStrictEqual(streamed.messages, whole.messages)
        assert.strictEqual(streamed.server.requests.length, 8)
        assert.isTrue(streamed.server.requests.every(({ isStream }) => isStream))
        const words = streamed.result.map((element) =>
          element._tag === "TextDelta" && element.step === 1 && element.depth === 0 ? element.delta : ""
        )
        assert.strictEqual(words.join(""), answer)
      }))

    for (const [how, use] of [["whole", run], ["streamed", stream]] as const) {
      it.live(`tries again what broke off, ${how}, and keeps nothing of it`, () =>
        Effect.gen(function*() {
          const job = play()
          const faults: Array<ProviderServer.Reaction> = how === "whole"
            ? [{ _tag: "reset" }, { _tag: "refuse", status: 529, type: "overloaded" }]
            : [{ _tag: "interrupt" }, { _tag: "stop" }]
          const { messages, result, server } = yield* jobOn(
            client,
            (request) => faults.shift() ?? job(request),
            (agent): Effect.Effect<unknown, unknown> => use(agent)
          )

          assert.include(JSON.stringify(result), answer)
          assert.notInclude(JSON.stringify(messages), "Half of a")
          assert.strictEqual(server.requests.length, 10)
        }))

      it.live(`answers calls that cannot run, ${how}, and goes on`, () =>
        Effect.gen(function*() {
          const turns: Array<Turn> = [
            {
              calls: [
                { id: "call_1", name: "launch", arguments: "{}" },
                { id: "call_2", name: "task_researcher", arguments: "{\"topic\": " },
                { id: "call_3", name: "task_researcher", arguments: "{\"topic\": 4}" }
              ]
            },
            { text: answer }
          ]
          const { result, server } = yield* jobOn(
            client,
            () => ({ _tag: "turn", turn: turns.shift()! }),
            (agent): Effect.Effect<unknown, unknown> => use(agent)
          )

          assert.include(JSON.stringify(result), answer)
          const reasons = server.requests[1]?.results.map((text) => /UnknownTool|InvalidInput/.exec(text)?.[0])
          assert.deepStrictEqual(reasons, ["UnknownTool", "InvalidInput", "InvalidInput"])
        }))

      it.live(`lets nothing of a failure out, ${how}: not in events, results, history or logs above Debug`, () =>
        Effect.gen(function*() {
          const { lines, messages, result, server } = yield* jobOn(
            client,
            () => ({ _tag: "refuse", status: 401, type: "key" }),
            (agent) => Effect.exit<unknown, unknown, never>(use(agent))
          )

          const everything = [JSON.stringify(result), String(result), ...lines, JSON.stringify(messages)].join("\n")
          assert.include(everything, "ModelFailed")
          for (const secret of [server.url, apiKey, "sk-secret", ProviderServer.marker, "Bearer"]) {
            assert.notInclude(everything, secret)
          }
        }))
    }
  })
}
