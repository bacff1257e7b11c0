import type { LanguageModelV3, LanguageModelV4CallOptions, LanguageModelV4Middleware } from "@ai-sdk/provider"
import { assert, describe, it } from "@effect/vitest"
import { Message, ModelRegistry, type ModelRequest, Options } from "@mandate/core"
import { simulateStreamingMiddleware, wrapLanguageModel } from "ai"
import { MockLanguageModelV3, MockLanguageModelV4 } from "ai/test"
import { Effect, Logger, References, Result } from "effect"
import { AiSdk } from "../src/index.ts"
import * as Mock from "./support/Mock.ts"
import * as Requests from "./support/Requests.ts"
import * as Ways from "./support/Ways.ts"

const image = (url: string, mediaType = "image/png"): Message.Message => ({
  role: "user",
  content: [{ type: "file", mediaType, data: { type: "url", url } }]
})

describe("AiSdk", () => {
  it.effect("is the default model of its layer", () =>
    Effect.gen(function*() {
      const registry = yield* ModelRegistry.ModelRegistry
      const client = yield* registry.get(undefined)

      const response = yield* client.generate(Requests.make(), Requests.call)

      assert.deepInclude(client, { provider: "mock", modelId: "m-1", structuredAnswers: true })
      assert.strictEqual(Message.text(response.parts), "ok")
    }).pipe(Effect.provide(AiSdk.layer(Mock.answering(), { structuredAnswers: true }))))

  it.effect("refuses a model of an older specification and says what to do", () =>
    Effect.gen(function*() {
      const model: LanguageModelV3 = new MockLanguageModelV3({ provider: "old", modelId: "m-3" })
      // @ts-expect-error Type '"v3"' is not assignable to type '"v4"'
      const client = AiSdk.make(model)

      const error = yield* Effect.flip(client.generate(Requests.make(), Requests.call))

      assert.deepInclude(error, { reason: "unsupported", provider: "old", modelId: "m-3", isRetryable: false })
      assert.deepStrictEqual(yield* Effect.flip(Ways.streamed(client)), error)
      assert.include(error.message, "is of v3")
      assert.include(error.message, "upgrade")
      assert.include(error.message, "wrapLanguageModel")
    }))

  it.effect("refuses a model of v2 in the same way", () =>
    Effect.gen(function*() {
      const model = { ...new MockLanguageModelV4({ provider: "old", modelId: "m-2" }), specificationVersion: "v2" }
      const client = AiSdk.make(model as never)

      const error = yield* Effect.flip(client.generate(Requests.make(), Requests.call))

      assert.deepInclude(error, { reason: "unsupported", provider: "old", modelId: "m-2", isRetryable: false })
      assert.deepStrictEqual(yield* Effect.flip(Ways.streamed(client)), error)
      assert.include(error.message, "is of v2")
    }))

  const takes = "model must be a language model of the AI SDK, such as openai(\"gpt-5\") gives"
  it.each<readonly [string, unknown, string]>([
    ["a string", "openai/own-name", `${takes}, not a string`],
    ["null", null, `${takes}, not null`],
    ["an empty object", {}, `${takes}, not an object`],
    ["nothing", undefined, "model is required; the arguments are model"]
  ])("refuses at once what is not a model at all, in words that do not show it: %s", (_, model, problem) => {
    const error = Result.getOrThrow(Result.flip(Result.try(() => AiSdk.make(model as never))))

    assert.instanceOf(error, Options.InvalidOptions)
    assert.strictEqual(error.message, `The options of AiSdk.make are not valid: ${problem}`)
  })

  it.effect("takes an older model through wrapLanguageModel, as the message says", () =>
    Effect.gen(function*() {
      const old = new MockLanguageModelV3({ doGenerate: Mock.result([{ type: "text", text: "old" }]) as never })
      const client = AiSdk.make(wrapLanguageModel({ model: old, middleware: [] }))

      const response = yield* client.generate(Requests.make(), Requests.call)

      assert.strictEqual(Message.text(response.parts), "old")
    }))

  it.effect("lets middleware change the prompt of one call only", () =>
    Effect.gen(function*() {
      const model = Mock.answering()
      const client = AiSdk.make(wrapLanguageModel({
        model,
        middleware: {
          specificationVersion: "v4",
          transformParams: ({ params }) => {
            params.prompt.unshift({ role: "system", content: "added" })
            const last = params.prompt.at(-1)
            if (last?.role === "user") last.content.push({ type: "text", text: "added" })
            return Promise.resolve(params)
          }
        }
      }))
      const request = Requests.make()

      yield* client.generate(request, Requests.call)
      yield* client.generate(request, Requests.call)

      const [first, second] = model.doGenerateCalls
      assert.strictEqual(second?.prompt.length, 2)
      assert.deepStrictEqual(second?.prompt, first?.prompt)
    }))

  it.effect("puts the settings of a request over its own, one by one", () =>
    Effect.gen(function*() {
      const model = Mock.answering()
      const client = AiSdk.make(model, {
        settings: {
          temperature: 0,
          seed: 1,
          headers: { a: "own", b: "own" },
          providerOptions: { acme: { x: 1, y: 1 }, other: { z: 1 } }
        }
      })

      yield* client.generate(
        Requests.make({ settings: { temperature: 1, headers: { b: "call" }, providerOptions: { acme: { y: 2 } } } }),
        Requests.call
      )

      const [{ abortSignal: _, prompt: __, tools: ___, toolChoice: ____, ...options }] = model.doGenerateCalls as [any]
      assert.deepStrictEqual(options, {
        temperature: 1,
        seed: 1,
        headers: { a: "own", b: "call" },
        providerOptions: { acme: { x: 1, y: 2 }, other: { z: 1 } }
      })
    }))

  for (const [how, way] of Ways.ways) {
    it.effect(`sends every setting as the option of the same name, ${how}`, () =>
      Effect.gen(function*() {
        const settings: Required<ModelRequest.ModelSettings> = {
          temperature: 0.5,
          topP: 0.9,
          topK: 5,
          presencePenalty: 0.1,
          frequencyPenalty: 0.2,
          maxOutputTokens: 100,
          stopSequences: ["END"],
          seed: 7,
          reasoning: "max",
          headers: { a: "b" },
          providerOptions: { acme: { x: 1 } }
        }
        const calls: Array<LanguageModelV4CallOptions> = []
        const middleware: LanguageModelV4Middleware = {
          specificationVersion: "v4",
          transformParams: ({ params }) => {
            calls.push(params)
            return Promise.resolve(params)
          }
        }
        const model = wrapLanguageModel({
          model: Mock.answering(),
          middleware: [simulateStreamingMiddleware(), middleware]
        })

        yield* way(AiSdk.make(model), Requests.make({ settings }))

        const { abortSignal: _, prompt: __, tools: ___, toolChoice: ____, ...options } = calls[0] as any
        assert.deepStrictEqual(options, settings)
      }))
  }

  it.effect("refuses a URL in the content of a tool result that the model does not fetch", () =>
    Effect.gen(function*() {
      const [part] = image("https://elsewhere.test/a.png").content as [Message.FilePart]
      const result: Message.ToolResultPart = {
        type: "tool-result",
        id: "c1",
        name: "shot",
        output: { type: "content", value: [part] },
        isError: false
      }

      const error = yield* Effect.flip(
        Ways.streamed(AiSdk.make(Mock.answering()), Requests.make({ messages: [{ role: "tool", content: [result] }] }))
      )

      assert.strictEqual(error.reason, "unsupported")
    }))

  it.effect("sends neither tools nor a choice when there are no tools", () =>
    Effect.gen(function*() {
      const model = Mock.answering()

      yield* AiSdk.make(model).generate(Requests.make({ tools: [], toolChoice: "none" }), Requests.call)

      assert.doesNotHaveAnyKeys(model.doGenerateCalls[0], ["tools", "toolChoice", "responseFormat"])
    }))

  it.effect("sends the URL of a file that the model can fetch and refuses others", () =>
    Effect.gen(function*() {
      const model = Mock.answering(undefined, { "image/*": [/^https:\/\/files\.test\//g] })
      const client = AiSdk.make(model)
      const ask = (message: Message.Message) => client.generate(Requests.make({ messages: [message] }), Requests.call)

      yield* ask(image("https://files.test/a.png"))
      yield* ask(image("https://files.test/b.png", "image"))
      const elsewhere = yield* Effect.flip(ask(image("https://elsewhere.test/a.png")))
      const pdf = yield* Effect.flip(ask(image("https://files.test/a.pdf", "application/pdf")))
      const noUrl = yield* Effect.flip(ask(image("a.png")))

      assert.strictEqual(model.doGenerateCalls.length, 2)
      assert.strictEqual(elsewhere.reason, "unsupported")
      assert.notInclude(elsewhere.message, "elsewhere.test")
      assert.strictEqual(pdf.reason, "unsupported")
      assert.strictEqual(noUrl.reason, "invalid-request")
    }))

  it.effect("asks a model for its URLs once they matter, and waits for them", () =>
    Effect.gen(function*() {
      let asked = 0
      const model = new MockLanguageModelV4({
        supportedUrls: () => {
          asked++
          return Promise.resolve({ "*/*": [/^https:/] })
        },
        doGenerate: Mock.result([])
      })
      const client = AiSdk.make(model)

      yield* client.generate(Requests.make(), Requests.call)
      assert.strictEqual(asked, 0)
      yield* client.generate(Requests.make({ messages: [image("https://files.test/a.png")] }), Requests.call)
      assert.strictEqual(asked, 1)
    }))

  it.effect("fails, and does not die, when a client throws before it returns a promise", () =>
    Effect.gen(function*() {
      const model = new MockLanguageModelV4({
        doGenerate: () => {
          throw new Error("SECRET")
        }
      })

      const error = yield* Effect.flip(AiSdk.make(model).generate(Requests.make(), Requests.call))

      assert.strictEqual(error.reason, "unknown")
      assert.notInclude(error.message, "SECRET")
    }))

  it.effect("logs the names of what a client left out", () =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const logger = Logger.map(Logger.formatJson, (line) => lines.push(line))
      const model = Mock.answering(
        Mock.result([], {
          warnings: [
            { type: "unsupported", feature: "topK", details: "SECRET" },
            { type: "deprecated", setting: "user", message: "SECRET" },
            { type: "other", message: "SECRET" }
          ]
        })
      )

      yield* AiSdk.make(model).generate(Requests.make(), Requests.call).pipe(
        Effect.provideService(References.MinimumLogLevel, "Debug"),
        Effect.provide(Logger.layer([logger]))
      )

      assert.strictEqual(lines.length, 1)
      assert.include(lines[0], "unsupported topK")
      assert.include(lines[0], "deprecated user")
      assert.notInclude(lines[0], "SECRET")
    }))
})
