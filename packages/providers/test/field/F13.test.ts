import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Mandate, ModelRegistry } from "@mandate/core"
import { Step } from "@mandate/testing"
import { Duration, Effect, Layer, Schedule, Schema, Stream } from "effect"
import { AiError, LanguageModel } from "effect/ai"
import { AiSdk, EffectAi, ModelFallback } from "../../src/index.ts"
import * as Failure from "../../src/v4/Failure.ts"
import * as AiTurns from "../support/AiTurns.ts"
import { clients } from "../support/Clients.ts"
import * as ProviderServer from "../support/ProviderServer.ts"
import * as Requests from "../support/Requests.ts"
import * as Scripted from "../support/Scripted.ts"
import * as Ways from "../support/Ways.ts"

const now = Date.UTC(2026, 0, 1)
const day = 86_400_000

interface Given {
  readonly [name: string]: string
}

const waitOf = (responseHeaders: unknown, statusCode = 429, responseBody?: string) =>
  Failure.classify(Object.assign(new Error("failed"), { statusCode, responseHeaders, responseBody }), now).retryAfter

const headers: ReadonlyArray<readonly [headers: Given, wait: number | undefined]> = [
  [{ "retry-after": "86400" }, day],
  [{ "retry-after": `${30 * 86_400}` }, 30 * day],
  [{ "retry-after": "Fri, 02 Jan 2026 00:00:00 GMT" }, day],
  [{ "retry-after": "Thursday, 01-Jan-26 00:01:00 GMT" }, undefined],
  [{ "retry-after": "Wed, 31 Dec 2025 00:00:00 GMT" }, 0],
  [{ "retry-after-ms": "86400000" }, day],
  [{ "Retry-After-Ms": " 1500.2 " }, 1_501],
  [{ "retry-after-ms": "soon", "retry-after": "7" }, 7_000],
  [{ "retry-after": "9".repeat(30) }, Number.MAX_SAFE_INTEGER],
  [{ "retry-after": "9".repeat(400) }, Number.MAX_SAFE_INTEGER],
  [{ "retry-after-ms": "9".repeat(400) }, Number.MAX_SAFE_INTEGER],
  [{ "retry-after": "-5" }, undefined],
  [{ "retry-after-ms": "-5" }, undefined],
  [{ "retry-after": "NaN" }, undefined],
  [{ "retry-after": "Infinity" }, undefined],
  [{ "retry-after": "1e9" }, undefined],
  [{ "retry-after": "" }, undefined],
  [{ "retry-after": "Monday" }, undefined],
  [{ "x-ratelimit-reset-requests": "1h30m", "x-ratelimit-remaining-requests": "0" }, 5_400_000],
  [{ "x-ratelimit-reset-tokens": "20ms" }, 20],
  [{ "x-ratelimit-reset-requests": "1s", "x-ratelimit-reset-tokens": "6m0s" }, 360_000],
  [
    { "x-ratelimit-reset-requests": "1s", "x-ratelimit-reset-tokens": "6m", "x-ratelimit-remaining-tokens": "9" },
    1_000
  ],
  [{ "x-ratelimit-reset": "90" }, 90_000],
  [{ "ratelimit-reset": "90" }, 90_000],
  [{ "x-ratelimit-reset": `${(now + day) / 1_000}` }, day],
  [{ "x-ratelimit-reset": `${now + day}` }, day],
  [{ "x-ratelimit-reset": "1000000001" }, 0],
  [{ "anthropic-ratelimit-requests-reset": "2026-01-01T00:02:00Z" }, 120_000],
  [{ "anthropic-ratelimit-requests-reset": "2026-01-01T25:00:00Z" }, undefined],
  [{ "x-ratelimit-reset": "9".repeat(20) }, Number.MAX_SAFE_INTEGER],
  [{ "x-ratelimit-reset": "9".repeat(400) }, undefined],
  [{ "x-ratelimit-reset": "-5" }, undefined],
  [{ "x-ratelimit-reset": "soon" }, undefined],
  [{ "x-ratelimit-reset": "1 fortnight" }, undefined],
  [{ "x-ratelimit-reset-tokens": "6m0s", "retry-after": "2" }, 2_000]
]

const bodies: ReadonlyArray<readonly [delay: unknown, wait: number | undefined]> = [
  ["34.07s", 34_070],
  ["86400s", day],
  ["0s", 0],
  ["9".repeat(20) + "s", Number.MAX_SAFE_INTEGER],
  ["-5s", undefined],
  ["soon", undefined],
  [5, undefined]
]

const failing = (error: AiError.AiErrorReason) =>
  Effect.flatMap(
    LanguageModel.make({
      generateText: () => Effect.fail(AiTurns.errorOf(error)),
      streamText: () => Stream.fail(AiTurns.errorOf(error))
    }),
    (model) => EffectAi.make().pipe(Effect.provideService(LanguageModel.LanguageModel, model))
  )

describe("F13: the wait that a provider asks for", () => {
  for (const [given, wait] of headers) {
    it(`F13: is ${wait} milliseconds by ${JSON.stringify(given).slice(0, 120)}`, () => {
      assert.strictEqual(waitOf(given), wait)
    })
  }

  it("F13: is read of headers that are no object, or hold no texts, as no wait", () => {
    for (const given of [undefined, null, "retry-after: 5", { "retry-after": ["5", "6"] }, { "retry-after": {} }]) {
      assert.isUndefined(waitOf(given))
    }
  })

  it("F13: is not taken from a limit's reset where the failure is no 429", () => {
    assert.isUndefined(waitOf({ "x-ratelimit-reset": "90" }, 503))
    assert.strictEqual(waitOf({ "retry-after": "90" }, 503), 90_000)
  })

  for (const [retryDelay, wait] of bodies) {
    it(`F13: is ${wait} milliseconds by a body with the delay ${String(retryDelay).slice(0, 40)}`, () => {
      const body = JSON.stringify({ error: { code: 429, details: [{ "@type": "RetryInfo", retryDelay }] } })
      assert.strictEqual(waitOf({}, 429, body), wait)
    })
  }

  it.prop("F13: is a whole number that an error takes, whatever the headers", [
    Schema.String,
    Schema.String
  ], ([first, second]) => {
    const wait = waitOf({ "retry-after": first, "retry-after-ms": second, "x-ratelimit-reset-tokens": first })
    assert.isTrue(wait === undefined || (Number.isSafeInteger(wait) && wait >= 0))
  })

  for (const { model, name } of clients) {
    for (const [how, way] of Ways.ways) {
      it.live(`F13: of a day fails a run at once on ${name}, ${how}`, () =>
        Effect.gen(function*() {
          const server = yield* ProviderServer.start(() => ({
            _tag: "refuse",
            status: 429,
            type: "rate",
            headers: { "retry-after": "86400" }
          }))
          const client = AiSdk.make(model(server.url))
          const asked = yield* Effect.flip(way(client))
          const agent = AgentBuilder.make("clerk").withRetry(Schedule.recurs(3))
          const error = yield* Effect.flatMap(agent.build(), (built) => Effect.flip(built.run("Go"))).pipe(
            Effect.provide(Layer.merge(Mandate.layerMemory, ModelRegistry.layer({ default: client })))
          )

          assert.deepInclude(asked, { reason: "rate-limited", retryAfter: day, status: 429 })
          assert.deepInclude(error.reason, { _tag: "ModelFailed", retryAfterMillis: day })
          assert.lengthOf(server.requests, 2)
        }))
    }
  }

  it.effect("F13: is read of effect/ai's errors and of the headers they pass on", () =>
    Effect.gen(function*() {
      const http = { response: { status: 429, headers: { "retry-after": "86400" } } }
      const table: ReadonlyArray<readonly [AiError.AiErrorReason, number | undefined]> = [
        [new AiError.RateLimitError({ retryAfter: Duration.days(1) }), day],
        [new AiError.RateLimitError({ retryAfter: Duration.infinity }), Number.MAX_SAFE_INTEGER],
        [new AiError.RateLimitError({ retryAfter: Duration.seconds(-5) }), undefined],
        [new AiError.RateLimitError({ http }), day],
        [new AiError.InternalProviderError({ description: "overloaded", http }), day]
      ]
      for (const [reason, wait] of table) {
        const client = yield* failing(reason)
        for (const [, way] of Ways.ways) {
          assert.strictEqual((yield* Effect.flip(way(client))).retryAfter, wait)
        }
      }
    }))

  it.effect("F13: over what the agent accepts lets a list ask its next model, retries or not", () =>
    Effect.gen(function*() {
      const first = yield* Scripted.always("a", Step.fail("rate-limited", { retryAfter: "1 day" }))
      const second = yield* Scripted.always("b", Step.text("second"))
      const list = ModelFallback.make([first.client, second.client], { retries: 2 })

      const { status } = yield* Effect.flatMap(AgentBuilder.make("agent").build(), (agent) => agent.run("Go")).pipe(
        Effect.provide(Layer.merge(Mandate.layerMemory, ModelRegistry.layer({ default: list })))
      )
      const kept = yield* Effect.flip(list.generate(Requests.make(), { ...Requests.call, maxRetryAfter: 2 * day }))

      assert.deepStrictEqual(status, { _tag: "Completed", answer: "second" })
      assert.deepInclude(kept, { reason: "rate-limited", provider: "a", retryAfter: day })
    }))

  it.effect("F13: of the model that can be asked again soonest is that of a list", () =>
    Effect.gen(function*() {
      const first = yield* Scripted.always("a", Step.fail("rate-limited", { retryAfter: "1 day" }))
      const second = yield* Scripted.always("b", Step.fail("overloaded", { retryAfter: "1 hour" }))
      const list = ModelFallback.make([first.client, second.client])

      assert.deepInclude(yield* Effect.flip(list.generate(Requests.make(), Requests.call)), {
        provider: "b",
        retryAfter: 3_600_000
      })
    }))
})
