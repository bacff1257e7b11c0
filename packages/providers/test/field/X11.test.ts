import { createOpenAI } from "@ai-sdk/openai"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import { assert, describe, it } from "@effect/vitest"
import { ModelRegistry } from "@mandate/core"
import { ConfigProvider, Effect } from "effect"
import { AiSdk } from "../../src/index.ts"
import * as FailingServer from "../support/FailingServer.ts"
import * as Ways from "../support/Ways.ts"

const text = "x".repeat(2_000)
const whole = JSON.stringify({
  id: "1",
  created: 1,
  model: "m",
  choices: [{ index: 0, message: { role: "assistant", content: text }, finish_reason: "stop" }]
})
const event = JSON.stringify({
  id: "1",
  created: 1,
  model: "m",
  choices: [{ index: 0, delta: { content: text }, finish_reason: "stop" }]
})

describe("X11: the body of a response", () => {
  for (const [how, way] of Ways.ways) {
    for (const name of ["OpenAI chat", "OpenAI compatible"]) {
      it.live(`X11: is read up to its bound, on ${name}, ${how}`, () =>
        Effect.gen(function*() {
          const body = how === "whole" ? whole : `data: ${event}\n\ndata: [DONE]\n\n`
          const headers = { "content-type": how === "whole" ? "application/json" : "text/event-stream" }
          const baseURL = `http://${yield* FailingServer.start({ status: 200, headers, body })}/v1`
          const ask = (maxBytes: number) => {
            const fetch = AiSdk.boundedFetch(maxBytes)
            const model = name === "OpenAI chat"
              ? createOpenAI({ baseURL, apiKey: "k", fetch }).chat("m")
              : createOpenAICompatible({ name: "fake", baseURL, fetch })("m")
            return Effect.result(way(AiSdk.make(model)))
          }

          const fits = yield* ask(Buffer.byteLength(body))
          assert.strictEqual(fits._tag, "Success")
          for (const maxBytes of [Buffer.byteLength(body) - 1, 100, 0, Number.NaN]) {
            const result = yield* ask(maxBytes)
            assert.strictEqual(result._tag, "Failure")
            if (result._tag === "Failure") assert.strictEqual(result.failure.reason, "invalid-response")
          }
        }))
    }
  }

  it.live("X11: of the model that the environment names is bounded", () =>
    Effect.gen(function*() {
      const host = yield* FailingServer.start({ status: 200, body: "x".repeat(AiSdk.maxResponseBytes + 1) })
      const client = yield* Effect.flatMap(ModelRegistry.ModelRegistry, (models) => models.get(undefined)).pipe(
        Effect.provide(AiSdk.fromEnv()),
        Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnvRecord({
          MANDATE_MODEL: "openai-compatible/m",
          OPENAI_BASE_URL: `http://${host}/v1`
        })))
      )
      const error = yield* Effect.flip(Ways.whole(client))

      assert.strictEqual(error.reason, "invalid-response")
    }))
})
