import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Mandate, Message, ModelError, ModelRegistry } from "@mandate/core"
import { ModelClientContract } from "@mandate/testing"
import { Context, Duration, Effect, Layer, Logger, Ref, References, Schema, Stream } from "effect"
import { AiError, LanguageModel, Model, type Prompt, type Response, Tool, Toolkit } from "effect/ai"
import { EffectAi } from "../src/index.ts"
import * as AiTurns from "./support/AiTurns.ts"
import * as Requests from "./support/Requests.ts"

const subject: ModelClientContract.Subject = {
  failures: ModelError.ModelErrorReason.literals,
  make: (turns) =>
    Effect.gen(function*() {
      const { model, seen } = yield* AiTurns.make(turns)
      return {
        client: yield* EffectAi.make().pipe(Effect.provideService(LanguageModel.LanguageModel, model)),
        sent: Effect.sync(() => seen.requests.map(AiTurns.toSent)),
        interrupted: Effect.sync(() => seen.interrupted)
      }
    })
}

describe("ModelClientContract of EffectAi", () => {
  for (const { check, name } of ModelClientContract.properties(subject)) it.effect(name, () => check)
})

const answer = (text: string): ModelClientContract.Turn => ({
  _tag: "Respond",
  response: {
    parts: [{ type: "text", text }],
    finishReason: "stop",
    usage: { inputTokens: { total: 1 }, outputTokens: { total: 1 } }
  }
})

/** A client of a model that gives the parts of one response. */
const clientOf = (parts: ReadonlyArray<Response.PartEncoded>, stream: ReadonlyArray<Response.StreamPartEncoded> = []) =>
  Effect.flatMap(
    LanguageModel.make({
      generateText: () => Effect.succeed([...parts]),
      streamText: () => Stream.fromIterable(stream)
    }),
    (model) => EffectAi.make().pipe(Effect.provideService(LanguageModel.LanguageModel, model))
  )

const finish: Response.FinishPartEncoded = {
  type: "finish",
  reason: "stop",
  usage: { inputTokens: {}, outputTokens: {} }
}

const layerOf = (turns: ReadonlyArray<ModelClientContract.Turn>) =>
  Layer.effect(LanguageModel.LanguageModel, Effect.map(AiTurns.make(turns), ({ model }) => model))

describe("EffectAi", () => {
  it.effect("serves agents, whose tools run once and by their own handlers", () =>
    Effect.gen(function*() {
      const runs = yield* Ref.make(0)
      const Weather = Tool.make("get_weather", {
        parameters: Schema.Struct({ city: Schema.String }),
        success: Schema.Number
      })
      const agent = yield* AgentBuilder.make("clerk")
        .withTools(Toolkit.make(Weather), { get_weather: () => Effect.as(Ref.update(runs, (n) => n + 1), 7) })
        .build()

      const { status } = yield* agent.run("How warm is it?")

      assert.deepInclude(status, { _tag: "Completed", answer: "Seven." })
      assert.strictEqual(yield* Ref.get(runs), 1)
    }).pipe(Effect.provide([
      Mandate.layerMemory,
      EffectAi.layer(layerOf([
        {
          _tag: "Respond",
          response: {
            parts: [{ type: "tool-call", id: "call_1", name: "get_weather", arguments: "{\"city\":\"Oslo\"}" }],
            finishReason: "tool-calls",
            usage: { inputTokens: {}, outputTokens: {} }
          }
        },
        answer("Seven.")
      ]))
    ])))

  it.effect("goes by the names of effect/ai's Model, of its options, or none", () =>
    Effect.gen(function*() {
      const named = (layer: Layer.Layer<ModelRegistry.ModelRegistry>) =>
        Effect.map(
          Effect.flatMap(ModelRegistry.ModelRegistry, ({ get }) => get(undefined)),
          ({ modelId, provider }) => `${provider}/${modelId}`
        ).pipe(Effect.provide(layer))
      const model = Model.make("acme", "m-1", layerOf([]))

      assert.strictEqual(yield* named(EffectAi.layer(model)), "acme/m-1")
      assert.strictEqual(yield* named(EffectAi.layer(model, { modelId: "m-2" })), "acme/m-2")
      assert.strictEqual(yield* named(EffectAi.layer(layerOf([]))), "effect-ai/unknown")
    }))

  it.effect("sends the JSON Schema, description and strictness of tools, the choice, and files", () =>
    Effect.gen(function*() {
      const { model, seen } = yield* AiTurns.make([answer("ok")])
      const client = yield* EffectAi.make().pipe(Effect.provideService(LanguageModel.LanguageModel, model))
      const files: Message.Message = {
        role: "user",
        content: [
          { type: "file", mediaType: "image/png", filename: "a.png", data: { type: "base64", base64: "AAEC" } },
          { type: "file", mediaType: "image/png", data: { type: "url", url: "https://files.test/b.png" } }
        ]
      }

      yield* client.generate(
        Requests.make({
          tools: [{ ...Requests.weather, strict: true }],
          toolChoice: { tool: "get_weather" },
          messages: [files]
        }),
        Requests.call
      )

      const [{ prompt, toolChoice, tools }] = seen.requests as [LanguageModel.ProviderOptions]
      assert.deepStrictEqual(toolChoice, { tool: "get_weather" })
      const [tool] = tools as [Tool.Any]
      assert.deepStrictEqual(Tool.getJsonSchema(tool), Requests.weather.inputSchema)
      assert.strictEqual(tool.description, "Weather of a city")
      assert.isTrue(Tool.getStrictMode(tool))
      const content = prompt.content[0]?.content as ReadonlyArray<
        { readonly data: unknown; readonly fileName?: string }
      >
      assert.deepInclude(content[0], { data: "AAEC", fileName: "a.png" })
      assert.deepStrictEqual(content[1]?.data, new URL("https://files.test/b.png"))
    }))

  it.effect("sends results with files, and says that a call was not allowed to run", () =>
    Effect.gen(function*() {
      const { model, seen } = yield* AiTurns.make([answer("ok")])
      const client = yield* EffectAi.make().pipe(Effect.provideService(LanguageModel.LanguageModel, model))
      const result = (id: string, output: Message.ToolOutput): Message.ToolResultPart => ({
        type: "tool-result",
        id,
        name: "look",
        output,
        isError: false
      })

      yield* client.generate(
        Requests.make({
          messages: [{
            role: "tool",
            content: [
              result("1", {
                type: "content",
                value: [
                  { type: "text", text: "A map." },
                  { type: "file", mediaType: "image/png", data: { type: "base64", base64: "AAEC" } }
                ]
              }),
              result("2", { type: "denied", value: "not today" }),
              result("3", { type: "denied", value: "" })
            ]
          }]
        }),
        Requests.call
      )

      const results = seen.requests[0]?.prompt.content[0]?.content as ReadonlyArray<Prompt.ToolResultPart>
      assert.deepStrictEqual(
        results.map(({ isFailure, result }) => [result, isFailure]),
        [[results[0]?.result, false], ["not today", true], ["The call was not allowed to run.", true]]
      )
      assert.include(String(results[0]?.result), "A map.")
      assert.deepStrictEqual(results[0]?.modelOutput?.map((part) => part.type), ["text", "file"])
    }))

  it.effect("makes the tools of a list once", () =>
    Effect.gen(function*() {
      const { model, seen } = yield* AiTurns.make([answer("ok"), answer("ok")])
      const client = yield* EffectAi.make().pipe(Effect.provideService(LanguageModel.LanguageModel, model))
      const request = Requests.make()

      yield* client.generate(request, Requests.call)
      yield* client.generate({ ...request, messages: [Message.userText("again")] }, Requests.call)

      assert.strictEqual(seen.requests[0]?.tools[0], seen.requests[1]?.tools[0])
    }))

  it.effect("gives files, sources, and what the provider ran itself", () =>
    Effect.gen(function*() {
      const result = {
        type: "tool-result" as const,
        id: "c-1",
        name: "get_weather",
        isFailure: false,
        providerExecuted: true
      }
      const given = { type: "tool-result" as const, id: "c-1", name: "get_weather", providerExecuted: true }
      const client = yield* clientOf([
        { type: "file", mediaType: "image/png", data: "AAEC" },
        { type: "source", sourceType: "url", id: "s-1", url: "https://a.test/", title: "A" },
        { type: "source", sourceType: "document", id: "s-2", mediaType: "text/plain", title: "B", fileName: "b.txt" },
        { type: "tool-call", id: "c-1", name: "get_weather", params: { city: "Oslo" }, providerExecuted: true },
        { ...result, result: { degrees: 0 }, preliminary: true },
        { ...result, result: { degrees: 7 } },
        { ...result, result: "gone", isFailure: true },
        finish
      ])

      const { parts } = yield* client.generate(Requests.make(), Requests.call)

      assert.deepStrictEqual(parts, [
        { type: "file", mediaType: "image/png", data: { type: "base64", base64: "AAEC" } },
        { type: "source", id: "s-1", url: "https://a.test/", title: "A" },
        { type: "source", id: "s-2", mediaType: "text/plain", title: "B", filename: "b.txt" },
        { type: "tool-call", id: "c-1", name: "get_weather", arguments: "{\"city\":\"Oslo\"}", providerExecuted: true },
        { ...given, output: { type: "json", value: { degrees: 7 } }, isError: false },
        { ...given, output: { type: "text", value: "gone" }, isError: true }
      ])
    }))

  it.effect("carries settings to the model where it is told how, and logs what it leaves out", () =>
    Effect.gen(function*() {
      class Config extends Context.Service<Config, { readonly temperature: number | undefined }>()("test/Config") {}
      const seen: Array<number | undefined> = []
      const lines: Array<string> = []
      const logger = Logger.map(Logger.formatJson, (line) => lines.push(line))
      const note = Effect.map(
        Effect.serviceOption(Config),
        (config) => seen.push(config._tag === "Some" ? config.value.temperature : undefined)
      )
      const model = yield* LanguageModel.make({
        generateText: () => Effect.as(note, [{ type: "text", text: "ok" }, finish]),
        streamText: () => Stream.unwrap(Effect.as(note, Stream.make(finish)))
      })
      const make = (options?: EffectAi.Options) =>
        EffectAi.make(options).pipe(Effect.provideService(LanguageModel.LanguageModel, model))
      const configured = yield* make({ configure: ({ temperature }) => Context.make(Config, { temperature }) })
      const plain = yield* make()
      const request = Requests.make({ settings: { temperature: 0.5, headers: { "x-key": "SECRET" } } })

      yield* Effect.gen(function*() {
        yield* configured.generate(request, Requests.call)
        yield* Stream.runDrain(configured.stream!(request, Requests.call))
        assert.strictEqual(lines.length, 0)
        yield* plain.generate(request, Requests.call)
      }).pipe(Effect.provideService(References.MinimumLogLevel, "Debug"), Effect.provide(Logger.layer([logger])))

      assert.deepStrictEqual(seen, [0.5, 0.5, undefined])
      assert.strictEqual(lines.length, 1)
      assert.include(lines[0], "unsupported temperature")
      assert.include(lines[0], "unsupported headers")
      assert.notInclude(lines[0], "SECRET")
    }))

  it.effect("tells the wait, the status and the usage of a failure", () =>
    Effect.gen(function*() {
      const failing = (reason: AiError.AiErrorReason) =>
        Effect.flatMap(
          LanguageModel.make({
            generateText: () => Effect.fail(AiTurns.errorOf(reason)),
            streamText: () => Stream.empty
          }),
          (model) => EffectAi.make().pipe(Effect.provideService(LanguageModel.LanguageModel, model))
        ).pipe(
          Effect.flatMap((client) => Effect.flip(client.generate(Requests.make(), Requests.call)))
        )

      assert.deepInclude(
        yield* failing(
          new AiError.RateLimitError({
            retryAfter: Duration.millis(1_500.2),
            http: { response: { status: 429, headers: {} } }
          })
        ),
        { reason: "rate-limited", retryAfter: 1_501, status: 429 }
      )
      assert.deepInclude(
        yield* failing(
          new AiError.InvalidOutputError({ description: "", usage: { promptTokens: 3, completionTokens: 4 } })
        ),
        { reason: "invalid-response", usage: { inputTokens: { total: 3 }, outputTokens: { total: 4 } } }
      )
      const url = new AiError.NetworkError({ reason: "InvalidUrlError", method: "POST", url: "https://secret.test" })
      assert.deepInclude(yield* failing(url), { reason: "invalid-request", isRetryable: false })
      assert.strictEqual(
        (yield* failing(new AiError.ToolNotFoundError({ toolName: "launch", availableTools: [] }))).reason,
        "invalid-response"
      )
    }))

  it.effect("never takes a response without a finish for whole", () =>
    Effect.gen(function*() {
      const client = yield* clientOf([{ type: "text", text: "half" }], [
        { type: "text-start", id: "1" },
        { type: "text-delta", id: "1", delta: "half" }
      ])

      const whole = yield* Effect.flip(client.generate(Requests.make(), Requests.call))
      const streamed = yield* Effect.flip(Stream.runDrain(client.stream!(Requests.make(), Requests.call)))

      assert.deepInclude(whole, { reason: "network", isRetryable: true })
      assert.deepInclude(streamed, { reason: "network", isRetryable: true })
    }))

  it.effect("fails at an error part, after the deltas before it", () =>
    Effect.gen(function*() {
      const errors: ReadonlyArray<readonly [unknown, ModelError.ModelErrorReason]> = [
        [new AiError.RateLimitError({}), "rate-limited"],
        [AiTurns.errorOf(new AiError.QuotaExhaustedError({})), "quota-exceeded"],
        [{ type: "overloaded_error", message: ModelClientContract.secret }, "overloaded"]
      ]
      for (const [error, reason] of errors) {
        const client = yield* clientOf([], [
          { type: "text-start", id: "1" },
          { type: "text-delta", id: "1", delta: "half" },
          { type: "error", error }
        ])
        const seen: Array<string> = []

        const failure = yield* client.stream!(Requests.make(), Requests.call).pipe(
          Stream.runForEach((piece) => Effect.sync(() => seen.push(piece.type))),
          Effect.flip
        )

        assert.strictEqual(failure.reason, reason)
        assert.notInclude(failure.message, ModelClientContract.secret)
        assert.deepStrictEqual(seen, ["text-delta"])
      }
    }))

  it.effect("refuses an approval that the provider asks for", () =>
    Effect.gen(function*() {
      const client = yield* clientOf([{ type: "tool-approval-request", approvalId: "a-1", toolCallId: "c-1" }, finish])

      const error = yield* Effect.flip(client.generate(Requests.make(), Requests.call))

      assert.strictEqual(error.reason, "unsupported")
    }))

  it.effect("gives other for a reason that the client does not know, whole and streamed", () =>
    Effect.gen(function*() {
      const unknown = { ...finish, reason: "unknown" as const }
      const client = yield* clientOf([{ type: "text", text: "ok" }, unknown], [unknown])

      assert.strictEqual((yield* client.generate(Requests.make(), Requests.call)).finishReason, "other")
      assert.deepStrictEqual(yield* Stream.runCollect(client.stream!(Requests.make(), Requests.call)), [
        { type: "finish", finishReason: "other", usage: { inputTokens: {}, outputTokens: {} } }
      ])
    }))

  it.effect("sends a request without the answer it asks for, which it does not offer", () =>
    Effect.gen(function*() {
      const client = yield* clientOf([{ type: "text", text: "ok" }, finish])
      const request = Requests.make({ answer: { name: "report", schema: {} } })

      assert.isFalse(client.structuredAnswers)
      assert.strictEqual(Message.text((yield* client.generate(request, Requests.call)).parts), "ok")
    }))
})
