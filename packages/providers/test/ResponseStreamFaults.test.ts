import { InvalidResponseDataError, JSONParseError } from "@ai-sdk/provider"
import { assert, describe, it } from "@effect/vitest"
import { MockLanguageModelV4 } from "ai/test"
import { Effect } from "effect"
import { AiSdk } from "../src/index.ts"
import * as MockStream from "./support/MockStream.ts"

const text = (id: string, ...deltas: ReadonlyArray<string>) => [
  { type: "text-start", id },
  ...deltas.map((delta) => ({ type: "text-delta", id, delta })),
  { type: "text-end", id }
]
const problem = (...parts: ReadonlyArray<unknown>) => Effect.flip(MockStream.collect(MockStream.streaming(parts)))
const reset = Object.assign(new TypeError("terminated"), { cause: Object.assign(new Error(), { code: "ECONNRESET" }) })

describe("ResponseStream, broken", () => {
  const unfinished: ReadonlyArray<readonly [what: string, parts: ReadonlyArray<unknown>]> = [
    ["a text that goes on", text("0", "a").slice(0, 2)],
    ["a whole text without a finish", text("0", "a")],
    ["a call that is being written", [{ type: "tool-input-start", id: "c1", toolName: "look" }, MockStream.finish()]],
    ["a finish as interrupted", [
      ...text("0", "a"),
      MockStream.finish({ finishReason: { unified: "interrupted", raw: undefined } })
    ]],
    ["a finish for no reason", [
      ...text("0", "a"),
      MockStream.finish({ finishReason: { unified: "other", raw: undefined } })
    ]]
  ]
  for (const [what, parts] of unfinished) {
    it.effect(`${what} is not a response: network, retryable`, () =>
      Effect.gen(function*() {
        const error = yield* problem(...parts)

        assert.deepInclude(error, { _tag: "ModelError", reason: "network", provider: "mock", isRetryable: true })
        assert.isUndefined(error.status)
      }))
  }

  it.effect("a failure after a finish is a failure, with what it used where that is known", () =>
    Effect.gen(function*() {
      const late = yield* Effect.flip(
        MockStream.collect(MockStream.streaming([...text("0", "a"), MockStream.finish()], { fails: reset }))
      )
      const given = yield* problem(MockStream.finish({ finishReason: { unified: "error", raw: "boom" } }))

      assert.strictEqual(late.reason, "network")
      assert.deepInclude(given, { reason: "overloaded" })
      assert.deepStrictEqual(given.usage, { inputTokens: { total: 1 }, outputTokens: { total: 2 } })
    }))

  const errors: ReadonlyArray<readonly [error: unknown, reason: string]> = [
    [{ type: "overloaded_error", message: "SECRET" }, "overloaded"],
    [{ message: "SECRET", type: "server_error", code: "server_error" }, "overloaded"],
    [{ message: "SECRET", statusCode: 529, isRetryable: true }, "overloaded"],
    [{ code: 503, status: "UNAVAILABLE", message: "SECRET" }, "overloaded"],
    [{ statusCode: 429, message: "SECRET" }, "rate-limited"],
    [{ statusCode: 429, data: { error: { code: "insufficient_quota", message: "SECRET" } } }, "quota-exceeded"],
    [{ type: "rate_limit_error", message: "SECRET" }, "rate-limited"],
    [{ error: { type: "insufficient_quota", message: "SECRET" } }, "quota-exceeded"],
    [{ type: "authentication_error", message: "SECRET" }, "authentication"],
    [{ type: "invalid_request_error", message: "SECRET" }, "invalid-request"],
    [{ code: "context_length_exceeded", message: "SECRET" }, "context-too-long"],
    [{ code: "content_filter", message: "SECRET" }, "content-filtered"],
    ["SECRET upstream died", "overloaded"],
    [undefined, "overloaded"],
    [null, "overloaded"],
    [new JSONParseError({ text: "SECRET", cause: new Error("SECRET") }), "invalid-response"],
    [new InvalidResponseDataError({ data: undefined, message: "SECRET" }), "network"],
    [new TypeError("terminated"), "network"]
  ]
  for (const [error, reason] of errors) {
    it.effect(`an error within a stream is ${reason}: ${error instanceof Error ? error.name : JSON.stringify(error)}`, () =>
      Effect.gen(function*() {
        const { client, source } = MockStream.streaming([...text("0", "a"), { type: "error", error }], "hang")
        const failed = yield* Effect.flip(MockStream.collect({ client }))

        assert.strictEqual(failed.reason, reason)
        assert.isUndefined(failed.status)
        assert.notInclude(JSON.stringify(failed) + failed.message + String(failed), "SECRET")
        assert.isTrue(source.isCancelled)
      }))
  }

  it.effect("an error that cannot be written as JSON is still one", () =>
    Effect.gen(function*() {
      const circular: { self?: unknown } = {}
      circular.self = circular

      assert.strictEqual((yield* problem({ type: "error", error: circular })).reason, "overloaded")
    }))

  const malformed: ReadonlyArray<unknown> = [
    { type: "text-delta", id: "0" },
    { type: "text-delta", id: "0", delta: 7 },
    { type: "tool-call", toolCallId: 1, toolName: "look", input: "{}" },
    { type: "file", mediaType: "image/png" },
    { type: "source", sourceType: "url" }
  ]
  for (const part of malformed) {
    it.effect(`a part that is off its type is refused: ${JSON.stringify(part)}`, () =>
      Effect.gen(function*() {
        assert.strictEqual((yield* problem(part, MockStream.finish())).reason, "invalid-response")
      }))
  }

  it.effect("a part of a type that is not known, and an approval that is asked for, are unsupported", () =>
    Effect.gen(function*() {
      const unknown = yield* problem({ type: "hologram" }, MockStream.finish())
      const approval = yield* problem({ type: "tool-approval-request", approvalId: "a", toolCallId: "c" })
      const nothing = yield* problem(undefined)

      assert.strictEqual(unknown.reason, "unsupported")
      assert.strictEqual(approval.reason, "unsupported")
      assert.isFalse(nothing.isRetryable && nothing.reason === "network")
    }))

  it.effect("a client that throws, or gives no stream, fails and does not die", () =>
    Effect.gen(function*() {
      const ask = (doStream: () => never) =>
        Effect.flip(MockStream.collect({ client: AiSdk.make(new MockLanguageModelV4({ doStream })) }))
      const thrown = yield* ask(() => {
        throw new Error("SECRET")
      })
      const none = yield* ask((() => Promise.resolve({})) as never)

      assert.strictEqual(thrown.reason, "unknown")
      assert.strictEqual(none.reason, "unknown")
      assert.notInclude(String(thrown), "SECRET")
    }))
})
