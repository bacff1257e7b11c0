import { assert, describe, it } from "@effect/vitest"
import { type ModelClient, ModelError, type Usage } from "@mandate/core"
import { Effect } from "effect"
import { ModelFallback } from "../../src/index.ts"
import * as Finish from "../../src/v4/Finish.ts"
import * as Requests from "../support/Requests.ts"

const most = Number.MAX_SAFE_INTEGER
const usage: Usage.ModelUsage = { inputTokens: { total: most, cacheRead: 1 }, outputTokens: { total: most } }

const client = (modelId: string, generate: ModelClient.ModelClient["generate"]): ModelClient.ModelClient => ({
  provider: "raw",
  modelId,
  generate
})

const failing = (modelId: string) =>
  client(
    modelId,
    () => Effect.fail(new ModelError.ModelError({ reason: "overloaded", provider: "raw", modelId, usage }))
  )

describe("X01 the usage of several models together", () => {
  it.effect("X01 stays at the most there is, in a response and in an error", () =>
    Effect.gen(function*() {
      const answering = client("c", () =>
        Effect.succeed({ parts: [{ type: "text", text: "done" }], finishReason: "stop", usage }))
      const response = yield* ModelFallback.make([failing("a"), failing("b"), answering]).generate(
        Requests.make(),
        Requests.call
      )
      const error = yield* Effect.flip(
        ModelFallback.make([failing("a"), failing("b")]).generate(Requests.make(), Requests.call)
      )

      assert.deepStrictEqual(response.usage, { ...usage, inputTokens: { total: most, cacheRead: 3 } })
      assert.deepStrictEqual(error.usage, { ...usage, inputTokens: { total: most, cacheRead: 2 } })
    }))

  it.each([
    [-1, undefined],
    [NaN, undefined],
    [Infinity, undefined],
    [0.5, 1],
    [most + 1, most],
    [1e300, most]
  ])("X01 takes %s tokens of a provider as %s", (given, taken) => {
    const { inputTokens, outputTokens } = Finish.toUsage({
      inputTokens: { total: given, noCache: given, cacheRead: given, cacheWrite: given },
      outputTokens: { total: given, text: given, reasoning: given }
    })

    const all = [
      inputTokens.total,
      inputTokens.cacheRead,
      inputTokens.cacheWrite,
      outputTokens.total,
      outputTokens.reasoning
    ]
    assert.deepStrictEqual(all, [taken, taken, taken, taken, taken])
  })
})
