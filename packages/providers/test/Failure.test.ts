import {
  AISDKError,
  APICallError,
  EmptyResponseBodyError,
  InvalidArgumentError,
  InvalidPromptError,
  InvalidResponseDataError,
  JSONParseError,
  LoadAPIKeyError,
  LoadSettingError,
  NoContentGeneratedError,
  NoSuchModelError,
  TypeValidationError,
  UnsupportedFunctionalityError
} from "@ai-sdk/provider"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { TestClock } from "effect/testing"
import { AiSdk } from "../src/index.ts"
import * as Failure from "../src/v4/Failure.ts"
import * as Mock from "./support/Mock.ts"
import * as Requests from "./support/Requests.ts"

const apiError = (more: Partial<ConstructorParameters<typeof APICallError>[0]>) =>
  new APICallError({ message: "SECRET", url: "https://secret.test", requestBodyValues: { prompt: "SECRET" }, ...more })

const reasonOf = (thrown: unknown) => Failure.classify(thrown, 0).reason

const refused = (body: unknown, statusCode = 400) =>
  reasonOf(apiError({ statusCode, responseBody: typeof body === "string" ? body : JSON.stringify(body) }))

const retryAfter = (responseHeaders: { [name: string]: string }, now = 0) =>
  Failure.classify(apiError({ statusCode: 429, responseHeaders }), now).retryAfter

describe("Failure", () => {
  it("knows the errors of the AI SDK", () => {
    const message = "SECRET"
    assert.strictEqual(reasonOf(new LoadAPIKeyError({ message })), "authentication")
    assert.strictEqual(reasonOf(new LoadSettingError({ message })), "invalid-request")
    assert.strictEqual(reasonOf(new NoSuchModelError({ modelId: "m", modelType: "languageModel" })), "invalid-request")
    assert.strictEqual(reasonOf(new UnsupportedFunctionalityError({ functionality: "audio" })), "unsupported")
    assert.strictEqual(reasonOf(new InvalidPromptError({ prompt: "SECRET", message })), "invalid-request")
    assert.strictEqual(reasonOf(new InvalidArgumentError({ argument: "a", message })), "invalid-request")
    assert.strictEqual(reasonOf(new EmptyResponseBodyError()), "invalid-response")
    assert.strictEqual(reasonOf(new InvalidResponseDataError({ data: "SECRET" })), "invalid-response")
    assert.strictEqual(reasonOf(new JSONParseError({ text: "SECRET", cause: undefined })), "invalid-response")
    assert.strictEqual(reasonOf(new NoContentGeneratedError()), "invalid-response")
    assert.strictEqual(reasonOf(new TypeValidationError({ value: "SECRET", cause: undefined })), "invalid-response")
    assert.strictEqual(reasonOf(new AISDKError({ name: "Other", message })), "unknown")
  })

  it("knows connections that fail, however they are wrapped", () => {
    const reset = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" })
    assert.strictEqual(reasonOf(apiError({})), "network")
    assert.strictEqual(
      reasonOf(apiError({ statusCode: 200, cause: new TypeError("terminated", { cause: reset }) })),
      "network"
    )
    assert.strictEqual(reasonOf(apiError({ statusCode: 200, cause: new SyntaxError("SECRET") })), "invalid-response")
    assert.strictEqual(reasonOf(new TypeError("fetch failed")), "network")
    assert.strictEqual(reasonOf(new Error("x", { cause: reset })), "network")
    assert.strictEqual(reasonOf(new DOMException("SECRET", "TimeoutError")), "network")
    assert.strictEqual(reasonOf(new TypeError("x is not a function")), "unknown")
  })

  it("knows errors with a status that are not of the AI SDK", () => {
    const gateway = Object.assign(new Error("SECRET"), { statusCode: 503 })
    const nonsense = Object.assign(new Error("SECRET"), { statusCode: Number.NaN })

    assert.deepStrictEqual(Failure.classify(gateway, 0), { reason: "overloaded", status: 503 })
    assert.strictEqual(reasonOf(nonsense), "unknown")
  })

  it("takes anything that can be thrown", () => {
    const circular = new Error("SECRET")
    circular.cause = circular
    for (const thrown of [undefined, null, "SECRET", 7, {}, Object.create(null), circular]) {
      assert.strictEqual(reasonOf(thrown), "unknown")
    }
  })

  it("tells a request that is refused by what its body says", () => {
    assert.strictEqual(refused({ error: { type: "billing_error" } }, 402), "quota-exceeded")
    assert.strictEqual(refused({ error: { message: "Your credit balance is too low to go on" } }), "quota-exceeded")
    assert.strictEqual(refused({ error: { message: "You exceeded your current quota" } }, 429), "rate-limited")
    assert.strictEqual(refused([{ error: { code: 429, status: "RESOURCE_EXHAUSTED" } }], 429), "rate-limited")
    assert.strictEqual(refused({ error: { innererror: { code: "ResponsibleAIPolicyViolation" } } }), "content-filtered")
    assert.strictEqual(
      refused({ error: { message: "Output blocked by content filtering policy" } }),
      "content-filtered"
    )
    assert.strictEqual(refused({ error: { message: "max_tokens is too large: 9 of 4" } }), "invalid-request")
    assert.strictEqual(refused("Not JSON: context_length_exceeded"), "invalid-request")
    assert.strictEqual(refused(undefined), "invalid-request")
    for (
      const message of [
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens",
        "prompt is too long: 208310 tokens > 200000 maximum",
        "input length and `max_tokens` exceed context limit: 1 + 2 > 3",
        "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        "Input is too long for requested model.",
        "the request exceeds the available context size"
      ]
    ) {
      assert.strictEqual(refused({ error: { message } }), "context-too-long", message)
      assert.strictEqual(refused(message, 413), "context-too-long", message)
    }
  })

  it("reads no more of a body than the beginning", () => {
    const long = { error: { message: "x".repeat(70_000), code: "context_length_exceeded" } }
    const late = { error: { message: `${"x".repeat(5_000)} prompt is too long` } }

    assert.strictEqual(refused(long), "invalid-request")
    assert.strictEqual(refused(late), "invalid-request")
  })

  it("reads how long to wait", () => {
    assert.strictEqual(retryAfter({ "retry-after": "7" }), 7_000)
    assert.strictEqual(retryAfter({ "Retry-After": " 0.0015 " }), 2)
    assert.strictEqual(retryAfter({ "retry-after-ms": "20", "retry-after": "7" }), 20)
    assert.strictEqual(retryAfter({ "retry-after-ms": "soon", "retry-after": "7" }), 7_000)
    assert.strictEqual(retryAfter({ "retry-after": "Thu, 01 Jan 1970 00:01:00 GMT" }, 15_000), 45_000)
    assert.strictEqual(retryAfter({ "retry-after": "Thu, 01 Jan 1970 00:01:00 GMT" }, 90_000), 0)
    for (const value of ["", "soon", "-5", "Infinity"]) {
      assert.isUndefined(retryAfter({ "retry-after": value }), value)
    }
    assert.isUndefined(retryAfter({}))
  })

  it.prop(
    "gives what an error accepts, for any status and wait",
    [Schema.Number, Schema.String],
    ([statusCode, wait]) => {
      const problem = Failure.classify(apiError({ statusCode, responseHeaders: { "retry-after": wait } }), 0)
      const error = Failure.toError({ provider: "mock", modelId: "m-1" }, problem)

      assert.notInclude(JSON.stringify(error), "SECRET")
    }
  )

  it.effect("takes the time of a wait until a date from the clock", () =>
    Effect.gen(function*() {
      yield* TestClock.setTime(Date.UTC(2026, 0, 1))
      const responseHeaders = { "retry-after": "Thu, 01 Jan 2026 00:00:30 GMT" }
      const client = AiSdk.make(Mock.failing(apiError({ statusCode: 503, responseHeaders })))

      const error = yield* Effect.flip(client.generate(Requests.make(), Requests.call))

      assert.deepInclude(error, { reason: "overloaded", status: 503, retryAfter: 30_000 })
    }))
})
