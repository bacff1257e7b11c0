import type { LanguageModelV4Middleware, LanguageModelV4StreamPart } from "@ai-sdk/provider"
import { assert, describe, it } from "@effect/vitest"
import { extractReasoningMiddleware, registerTelemetry, simulateStreamingMiddleware, wrapLanguageModel } from "ai"
import { Effect } from "effect"
import { AiSdk } from "../src/index.ts"
import * as Mock from "./support/Mock.ts"
import * as MockStream from "./support/MockStream.ts"
import * as Ways from "./support/Ways.ts"

const streaming = (...deltas: ReadonlyArray<string>) =>
  MockStream.streaming([
    { type: "text-start", id: "0" },
    ...deltas.map((delta) => ({ type: "text-delta", id: "0", delta })),
    { type: "text-end", id: "0" },
    MockStream.finish()
  ])

describe("wrapLanguageModel", () => {
  it.effect("lets middleware change a stream, and see it to its end", () =>
    Effect.gen(function*() {
      const seen: Array<string> = []
      const middleware: LanguageModelV4Middleware = {
        specificationVersion: "v4",
        wrapStream: async ({ doStream }) => {
          const { stream, ...rest } = await doStream()
          const loud = new TransformStream<LanguageModelV4StreamPart, LanguageModelV4StreamPart>({
            transform: (part, controller) =>
              controller.enqueue(part.type === "text-delta" ? { ...part, delta: part.delta.toUpperCase() } : part),
            flush: () => void seen.push("flushed")
          })
          return { stream: stream.pipeThrough(loud), ...rest }
        }
      }
      const { model } = streaming("quiet ", "words")

      const { parts } = yield* Ways.streamed(AiSdk.make(wrapLanguageModel({ model, middleware })))

      assert.deepStrictEqual(parts, [{ type: "text", text: "QUIET WORDS" }])
      assert.deepStrictEqual(seen, ["flushed"])
    }))

  it.effect("takes the middleware of the AI SDK: reasoning out of tags, and streams out of whole responses", () =>
    Effect.gen(function*() {
      const reasoning = extractReasoningMiddleware({ tagName: "think" })
      const { model } = streaming("<think>", "Hm", "</think>", "Hi")
      const whole = Mock.answering(Mock.result([{ type: "text", text: "<think>Hm</think>Hi" }]))

      const first = yield* Ways.streamed(AiSdk.make(wrapLanguageModel({ model, middleware: reasoning })))
      const second = yield* Ways.streamed(
        AiSdk.make(wrapLanguageModel({ model: whole, middleware: [simulateStreamingMiddleware(), reasoning] }))
      )

      for (const { parts } of [first, second]) {
        assert.deepStrictEqual(parts.map((part) => "text" in part ? [part.type, part.text.trim()] : []), [
          ["reasoning", "Hm"],
          ["text", "Hi"]
        ])
      }
    }))

  it.effect("types what middleware throws, whole and streamed", () =>
    Effect.gen(function*() {
      const middleware: LanguageModelV4Middleware = {
        specificationVersion: "v4",
        transformParams: () => Promise.reject(new Error("SECRET"))
      }
      const client = AiSdk.make(wrapLanguageModel({ model: Mock.answering(), middleware }))

      for (const [, way] of Ways.ways) {
        const error = yield* Effect.flip(way(client))
        assert.deepInclude(error, { _tag: "ModelError", reason: "unknown" })
        assert.notInclude(String(error), "SECRET")
      }
    }))
})

describe("registerTelemetry", () => {
  it.effect("receives nothing from a model alone", () =>
    Effect.gen(function*() {
      const seen: Array<PropertyKey> = []
      registerTelemetry(
        new Proxy({}, {
          get: (_, name) => {
            seen.push(name)
            return undefined
          }
        })
      )
      seen.length = 0

      yield* Ways.whole(AiSdk.make(Mock.answering()))
      yield* Ways.streamed(streaming("Hi").client)

      assert.deepStrictEqual(seen, [])
    }))
})
