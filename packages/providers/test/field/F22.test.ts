import type { LanguageModelV4Content } from "@ai-sdk/provider"
import { assert, describe, it } from "@effect/vitest"
import { Message } from "@mandate/core"
import { Effect, Stream } from "effect"
import { LanguageModel, type Response as AiResponse } from "effect/ai"
import { AiSdk, EffectAi } from "../../src/index.ts"
import * as Response from "../../src/v4/Response.ts"
import { clients } from "../support/Clients.ts"
import * as ProviderServer from "../support/ProviderServer.ts"
import * as Ways from "../support/Ways.ts"
import type { Call, Event, Format, Json, Turn } from "../support/wire/Wire.ts"

const call = (args: string, id = "call_1"): Call => ({ id, name: "get_weather", arguments: args })
const oslo = call("{\"city\":\"Oslo\"}")
const rome = call("{\"city\":\"Rome\"}", "call_2")

/** The events of a turn without those that say how it finished; `[DONE]` stays where the format has it. */
const unfinished = (turn: Turn) => (format: Format): ReadonlyArray<Event> =>
  format.events(turn).flatMap((event): ReadonlyArray<Event> => {
    const data = event.data as Json
    if (typeof event.data === "string") return [event]
    if (/^(response\.(completed|incomplete)|message_delta|message_stop)$/.test(data["type"] ?? "")) return []
    if (Array.isArray(data["choices"]) && data["choices"][0]?.finish_reason !== null) return []
    if (Array.isArray(data["candidates"]) && data["candidates"][0]?.finishReason !== undefined) return []
    return [event]
  })

const over = (name: string, of: (format: Format) => ReadonlyArray<Event>, isReset = false) =>
  Effect.gen(function*() {
    const server = yield* ProviderServer.start(() => ({ _tag: "events", of, isReset }))
    const { model } = clients.find((client) => client.name === name)!
    return yield* Effect.result(Ways.streamed(AiSdk.make(model(server.url))))
  })

const whole: ReadonlyArray<readonly [string, Turn]> = [
  ["one call", { calls: [oslo] }],
  ["two calls", { calls: [oslo, rome] }],
  ["text and a call", { text: "I look it up", calls: [oslo] }],
  ["reasoning and a call", { reasoning: "They ask.", calls: [oslo] }],
  ["a call with no arguments", { calls: [call("{}")] }]
]

describe("F22: a stream without a reason to finish", () => {
  for (const { name } of clients) {
    for (const [what, turn] of whole) {
      it.live(`F22: counts as tool-calls where it was closed in order with ${what}, on ${name}`, () =>
        Effect.gen(function*() {
          const result = yield* over(name, unfinished(turn))

          assert.strictEqual(result._tag, "Success", JSON.stringify(result))
          if (result._tag !== "Success") return
          assert.strictEqual(result.success.finishReason, "tool-calls")
          assert.deepStrictEqual(
            Message.toolCalls(result.success.parts).map(({ arguments: args }) => JSON.parse(args)),
            turn.calls!.map(({ arguments: args }) => JSON.parse(args))
          )
        }))
    }

    it.live(`F22: is a failure where it is text alone, on ${name}`, () =>
      Effect.gen(function*() {
        const result = yield* over(name, unfinished({ text: "It is warm" }))

        assert.strictEqual(result._tag, "Failure")
        if (result._tag === "Failure") assert.deepInclude(result.failure, { reason: "network", isRetryable: true })
      }))

    it.live(`F22: is a failure where the connection broke off after a whole call, on ${name}`, () =>
      Effect.gen(function*() {
        const result = yield* over(
          name,
          (format) => unfinished({ calls: [oslo] })(format).filter(({ data }) => data !== "[DONE]"),
          true
        )

        assert.strictEqual(result._tag, "Failure")
        if (result._tag === "Failure") assert.deepInclude(result.failure, { reason: "network", isRetryable: true })
      }))

    if (name !== "Google") {
      it.live(`F22: is a failure where the arguments of a call are cut, on ${name}`, () =>
        Effect.gen(function*() {
          for (const args of ["{\"city\":\"Os", "{\"city\"", "7", "[1]"]) {
            const result = yield* over(name, unfinished({ calls: [oslo, call(args, "call_2")] }))

            assert.strictEqual(result._tag, "Failure", args)
          }
        }))
    }

    it.live(`F22: keeps the reason that there is, on ${name}`, () =>
      Effect.gen(function*() {
        const cut = yield* over(name, (format) => format.events({ text: "Half", isCut: true }))
        const done = yield* over(name, (format) => format.events({ text: "All" }))

        assert.strictEqual(cut._tag === "Success" && cut.success.finishReason, "length")
        assert.strictEqual(done._tag === "Success" && done.success.finishReason, "stop")
      }))
  }

  it.effect("F22: counts as tool-calls on an effect/ai model that gives no finish", () =>
    Effect.gen(function*() {
      const parts = (params: unknown): ReadonlyArray<AiResponse.StreamPartEncoded> => [
        { type: "tool-call", id: "call_1", name: "get_weather", params }
      ]
      const ask = (given: ReadonlyArray<AiResponse.StreamPartEncoded>) =>
        Effect.flatMap(
          LanguageModel.make({ generateText: () => Effect.succeed([]), streamText: () => Stream.fromIterable(given) }),
          (model) => EffectAi.make().pipe(Effect.provideService(LanguageModel.LanguageModel, model))
        ).pipe(Effect.flatMap((client) => Effect.result(Ways.streamed(client))))

      const called = yield* ask(parts({ city: "Oslo" }))
      const cut = yield* ask([{ type: "text-start", id: "1" }, { type: "text-delta", id: "1", delta: "half" }])

      assert.strictEqual(called._tag === "Success" && called.success.finishReason, "tool-calls")
      assert.strictEqual(cut._tag, "Failure")
    }))
})

describe("F22: a whole response without a reason to finish", () => {
  const read = (content: Array<LanguageModelV4Content>) =>
    Response.make({
      content,
      finishReason: { unified: "other", raw: undefined },
      usage: {
        inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
        outputTokens: { total: 1, text: 1, reasoning: undefined }
      },
      warnings: []
    })

  it("F22: ends with what it holds", () => {
    const reasons = [
      read([{ type: "text", text: "Done" }]),
      read([{ type: "tool-call", toolCallId: "1", toolName: "look", input: "{}" }]),
      read([{ type: "tool-call", toolCallId: "1", toolName: "look", input: "{}", providerExecuted: true }]),
      read([])
    ].map((result) => result._tag === "Success" ? result.success.finishReason : result.failure.reason)

    assert.deepStrictEqual(reasons, ["stop", "tool-calls", "stop", "invalid-response"])
  })
})
