import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { assert, describe, it } from "@effect/vitest"
import type { ModelError, ModelRequest } from "@mandate/core"
import { Cause, Deferred, Effect, Exit, Fiber } from "effect"
import { inspect } from "node:util"
import { AiSdk } from "../src/index.ts"
import * as FakeScenario from "./support/FakeScenario.ts"
import * as FakeServer from "./support/FakeServer.ts"
import * as Requests from "./support/Requests.ts"

const apiKey = "sk-secret-4711"

const clientOf = (server: { readonly url: string }, scenario: string, options?: AiSdk.Options) =>
  AiSdk.make(
    createOpenAICompatible({ name: "fake", baseURL: server.url, apiKey, supportsStructuredOutputs: true })(scenario),
    options
  )

const ask = Effect.fnUntraced(function*(scenario: string, request: Partial<ModelRequest.ModelRequest> = {}) {
  const server = yield* FakeServer.start
  return yield* clientOf(server, scenario).generate(Requests.make(request), Requests.call)
})

const askSent = Effect.fnUntraced(function*(request: ModelRequest.ModelRequest, options?: AiSdk.Options) {
  const server = yield* FakeServer.start
  yield* clientOf(server, "text", options).generate(request, Requests.call)
  return yield* server.nextRequest
})

describe("AiSdk over HTTP: responses", () => {
  it.live("gives text, reasoning, usage and metadata", () =>
    Effect.gen(function*() {
      const response = yield* ask("text")

      assert.deepStrictEqual(response, {
        parts: [{ type: "reasoning", text: "They greet." }, { type: "text", text: "Hello there" }],
        finishReason: "stop",
        usage: { inputTokens: { total: 10, cacheRead: 3 }, outputTokens: { total: 5, reasoning: 2 } },
        providerMetadata: { fake: {} }
      })
    }))

  it.live("gives no usage where the provider reports none", () =>
    Effect.gen(function*() {
      const response = yield* ask("no-usage")

      assert.deepStrictEqual(response.usage, { inputTokens: {}, outputTokens: {} })
    }))

  it.live("gives tool calls with their arguments as the model wrote them", () =>
    Effect.gen(function*() {
      const response = yield* ask("tool")

      assert.strictEqual(response.finishReason, "tool-calls")
      assert.deepStrictEqual(response.parts, [
        { type: "tool-call", id: "call_1", name: "get_weather", arguments: "{ \"city\": \"Oslo\" }" },
        { type: "tool-call", id: "call_2", name: "get_weather", arguments: "{\"city\":\"Rome\"}" }
      ])
    }))

  it.live("gives a call with arguments that are not JSON", () =>
    Effect.gen(function*() {
      const response = yield* ask("bad-arguments")

      assert.deepStrictEqual(response.parts, [
        { type: "tool-call", id: "call_1", name: "get_weather", arguments: "{\"city\": 42" }
      ])
    }))

  it.live("gives a call of a tool that was not offered", () =>
    Effect.gen(function*() {
      const response = yield* ask("undeclared")

      assert.deepStrictEqual(response.parts, [{ type: "tool-call", id: "call_1", name: "launch", arguments: "{}" }])
    }))

  it.live("gives the finish reasons of a cut and of a filtered response", () =>
    Effect.gen(function*() {
      assert.strictEqual((yield* ask("length")).finishReason, "length")
      assert.strictEqual((yield* ask("filtered")).finishReason, "content-filter")
    }))
})

describe("AiSdk over HTTP: requests", () => {
  it.live("sends calls and their results back, in their places", () =>
    Effect.gen(function*() {
      const server = yield* FakeServer.start
      const client = clientOf(server, "tool")
      const first = yield* client.generate(Requests.make(), Requests.call)
      yield* server.nextRequest

      const second = yield* client.generate(
        Requests.make({
          messages: [
            { role: "system", content: "Be brief." },
            ...Requests.make().messages,
            { role: "assistant", content: [...first.parts] },
            {
              role: "tool",
              content: [
                {
                  type: "tool-result",
                  id: "call_1",
                  name: "get_weather",
                  output: { type: "json", value: { degrees: 7 } },
                  isError: false
                },
                {
                  type: "tool-result",
                  id: "call_2",
                  name: "get_weather",
                  output: { type: "text", value: "no such city" },
                  isError: true
                }
              ]
            }
          ]
        }),
        Requests.call
      )
      const { body } = yield* server.nextRequest

      assert.deepStrictEqual(second.parts, [{ type: "text", text: "It is 7 degrees." }])
      assert.deepStrictEqual(body["messages"], [
        { role: "system", content: "Be brief." },
        { role: "user", content: "How warm is it?" },
        {
          role: "assistant",
          content: null,
          tool_calls: [
            { id: "call_1", type: "function", function: { name: "get_weather", arguments: "{\"city\":\"Oslo\"}" } },
            { id: "call_2", type: "function", function: { name: "get_weather", arguments: "{\"city\":\"Rome\"}" } }
          ]
        },
        { role: "tool", tool_call_id: "call_1", content: "{\"degrees\":7}" },
        { role: "tool", tool_call_id: "call_2", content: "no such city" }
      ])
    }))

  it.live("sends tools, choice, settings, headers and provider options", () =>
    Effect.gen(function*() {
      const { body, headers, path } = yield* askSent(
        Requests.make({
          tools: [{ ...Requests.weather, strict: true }],
          toolChoice: { tool: "get_weather" },
          settings: {
            temperature: 0.5,
            maxOutputTokens: 100,
            stopSequences: ["END"],
            seed: 7,
            reasoning: "low",
            headers: { "x-team": "red" },
            providerOptions: { fake: { user: "u-1" } }
          }
        })
      )

      assert.strictEqual(path, "/v1/chat/completions")
      assert.strictEqual(headers["authorization"], `Bearer ${apiKey}`)
      assert.strictEqual(headers["x-team"], "red")
      assert.deepInclude(body, {
        model: "text",
        temperature: 0.5,
        max_tokens: 100,
        stop: ["END"],
        seed: 7,
        reasoning_effort: "low",
        user: "u-1",
        tool_choice: { type: "function", function: { name: "get_weather" } },
        tools: [{
          type: "function",
          function: {
            name: "get_weather",
            description: "Weather of a city",
            parameters: Requests.weather.inputSchema,
            strict: true
          }
        }]
      })
    }))

  it.live("asks for a structured answer beside tools", () =>
    Effect.gen(function*() {
      const schema = { type: "object", properties: {}, additionalProperties: false }
      const { body } = yield* askSent(Requests.make({ answer: { name: "report", schema } }))

      assert.strictEqual(body["tools"].length, 1)
      assert.deepStrictEqual(body["response_format"], {
        type: "json_schema",
        json_schema: { name: "report", schema, strict: true }
      })
    }))
})

describe("AiSdk over HTTP: failures", () => {
  const cases: ReadonlyArray<readonly [scenario: string, expected: Partial<ModelError.ModelError>]> = [
    ["429", { reason: "rate-limited", status: 429, retryAfter: 7_000, isRetryable: true }],
    ["quota", { reason: "quota-exceeded", status: 429, isRetryable: false }],
    ["401", { reason: "authentication", status: 401, isRetryable: false }],
    ["403", { reason: "authentication", status: 403 }],
    ["400", { reason: "invalid-request", status: 400, isRetryable: false }],
    ["404", { reason: "invalid-request", status: 404 }],
    ["413", { reason: "invalid-request", status: 413 }],
    ["context", { reason: "context-too-long", status: 400 }],
    ["context-text", { reason: "context-too-long", status: 400 }],
    ["filter-error", { reason: "content-filtered", status: 400 }],
    ["409", { reason: "overloaded", status: 409 }],
    ["500", { reason: "overloaded", status: 500, isRetryable: true }],
    ["503", { reason: "overloaded", status: 503, retryAfter: 1_500 }],
    ["529", { reason: "overloaded", status: 529 }],
    ["html", { reason: "overloaded", status: 502 }],
    ["malformed", { reason: "invalid-response", status: 200, isRetryable: true }],
    ["wrong-shape", { reason: "invalid-response", status: 200 }],
    ["no-choices", { reason: "invalid-response" }],
    ["reset", { reason: "network", status: 200, isRetryable: true }]
  ]

  for (const [scenario, expected] of cases) {
    it.live(`says what "${scenario}" means and holds nothing of what was sent or received`, () =>
      Effect.gen(function*() {
        const server = yield* FakeServer.start
        const exit = yield* Effect.exit(clientOf(server, scenario).generate(Requests.make(), Requests.call))

        assert.isTrue(Exit.isFailure(exit))
        if (!Exit.isFailure(exit)) return
        const error = Cause.squash(exit.cause) as ModelError.ModelError
        assert.deepInclude(error, { _tag: "ModelError", provider: "fake.chat", modelId: scenario })
        for (const [key, value] of Object.entries(expected)) {
          assert.strictEqual(error[key as keyof ModelError.ModelError], value, key)
        }
        const everything = [
          JSON.stringify(error),
          error.message,
          String(error),
          String(exit.cause),
          Cause.pretty(exit.cause),
          inspect(exit, { depth: null, showHidden: true })
        ].join("\n")
        for (const secret of [server.url, apiKey, "sk-secret", FakeScenario.bodyMarker, "How warm", "Bearer"]) {
          assert.notInclude(everything, secret)
        }
      }))
  }

  it.live("says that nobody listens", () =>
    Effect.gen(function*() {
      const error = yield* clientOf({ url: "http://127.0.0.1:1/v1" }, "text").generate(Requests.make(), Requests.call)
        .pipe(Effect.flip)

      assert.strictEqual(error.reason, "network")
      assert.isUndefined(error.status)
      assert.strictEqual(
        error.message,
        "The model fake.chat/text failed, network: the connection failed or broke off"
      )
    }))

  it.live("aborts the request when the call is interrupted", () =>
    Effect.gen(function*() {
      const server = yield* FakeServer.start
      const fiber = yield* Effect.forkChild(clientOf(server, "hang").generate(Requests.make(), Requests.call))
      const { closed } = yield* server.nextRequest

      yield* Fiber.interrupt(fiber)

      assert.isTrue(Exit.hasInterrupts(yield* Fiber.await(fiber)))
      yield* Effect.timeout(Deferred.await(closed), "500 millis")
    }))

  it.live("aborts the request when the call takes too long", () =>
    Effect.gen(function*() {
      const server = yield* FakeServer.start
      const error = yield* clientOf(server, "hang").generate(Requests.make(), Requests.call).pipe(
        Effect.timeout("50 millis"),
        Effect.flip
      )

      assert.strictEqual(error._tag, "TimeoutError")
      const { closed } = yield* server.nextRequest
      yield* Effect.timeout(Deferred.await(closed), "500 millis")
    }))
})
