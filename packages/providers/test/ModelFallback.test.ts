import { assert, describe, it } from "@effect/vitest"
import type { ModelRequest } from "@mandate/core"
import { Message, ModelError } from "@mandate/core"
import { Step } from "@mandate/testing"
import { Effect, Logger, Stream } from "effect"
import { ModelFallback } from "../src/index.ts"
import * as Requests from "./support/Requests.ts"
import * as Scripted from "./support/Scripted.ts"

const list = Effect.fnUntraced(function*(steps: ReadonlyArray<Step.Step>, options?: ModelFallback.Options) {
  const models = yield* Effect.forEach(steps, (step, index) => Scripted.always("abc"[index]!, step))
  const [first, ...others] = models.map(({ client }) => client)
  return {
    client: ModelFallback.make([first!, ...others], options),
    calls: Effect.forEach(models, ({ calls }) => calls)
  }
})

const attempt = (attempt: number): ModelRequest.ModelCall => ({ ...Requests.call, attempt })

describe("ModelFallback", () => {
  it.effect("asks the next model after a failure that another could mend, and no further one", () =>
    Effect.gen(function*() {
      for (const reason of ModelFallback.defaultReasons) {
        const { calls, client } = yield* list([Step.fail(reason), Step.text("second"), Step.text("third")])

        const response = yield* client.generate(Requests.make(), Requests.call)

        assert.strictEqual(Message.text(response.parts), "second", reason)
        assert.deepStrictEqual(yield* calls, [1, 1, 0])
      }
    }))

  it.effect("does not ask another after a failure that none could mend", () =>
    Effect.gen(function*() {
      const others = ModelError.ModelErrorReason.literals.filter((one) => !ModelFallback.defaultReasons.includes(one))
      assert.deepStrictEqual(others, ["content-filtered", "invalid-request", "unknown"])
      for (const reason of others) {
        const { calls, client } = yield* list([Step.fail(reason), Step.text("second")])

        const error = yield* Effect.flip(client.generate(Requests.make(), Requests.call))

        assert.deepInclude(error, { reason, provider: "a" })
        assert.deepStrictEqual(yield* calls, [1, 0])
      }
    }))

  it.effect("goes by the reasons it is given", () =>
    Effect.gen(function*() {
      const { client } = yield* list([Step.fail("content-filtered"), Step.text("second")], {
        reasons: ["content-filtered"]
      })

      assert.strictEqual(Message.text((yield* client.generate(Requests.make(), Requests.call)).parts), "second")
    }))

  it.effect("leaves failures that can pass to the agent's retries first, where that is asked for", () =>
    Effect.gen(function*() {
      const { calls, client } = yield* list([Step.fail("rate-limited"), Step.text("second")], { retries: 1 })

      const error = yield* Effect.flip(client.generate(Requests.make(), attempt(0)))
      assert.strictEqual(error.reason, "rate-limited")
      assert.deepStrictEqual(yield* calls, [1, 0])

      assert.strictEqual(Message.text((yield* client.generate(Requests.make(), attempt(1))).parts), "second")
    }))

  it.effect("does not wait for retries that mend nothing", () =>
    Effect.gen(function*() {
      const { client } = yield* list([Step.fail("authentication"), Step.text("second")], { retries: 1 })

      assert.strictEqual(Message.text((yield* client.generate(Requests.make(), attempt(0))).parts), "second")
    }))

  it.effect("counts what failed attempts used, and says which model answered", () =>
    Effect.gen(function*() {
      const { client } = yield* list([
        Step.fail("overloaded", { usage: { input: 7, cacheRead: 2 } }),
        Step.withUsage(Step.interrupted("half"), { input: 100, output: 50 }),
        Step.text("third")
      ])

      const response = yield* client.generate(Requests.make(), Requests.call)

      assert.deepStrictEqual(response.usage, {
        inputTokens: { total: 117, cacheRead: 2 },
        outputTokens: { total: 55 }
      })
      assert.deepStrictEqual(response.providerMetadata, { mandate: { answeredBy: "c/m" } })
    }))

  it.effect("keeps a total that is not reported absent, so that it is estimated", () =>
    Effect.gen(function*() {
      const { client } = yield* list([
        Step.fail("overloaded", { usage: { input: 7, output: 1 } }),
        Step.withoutUsage(Step.text("second"))
      ])

      const { usage } = yield* client.generate(Requests.make(), Requests.call)

      assert.deepStrictEqual(usage, { inputTokens: {}, outputTokens: {} })
    }))

  it.effect("leaves a response of the first model as it is", () =>
    Effect.gen(function*() {
      const { client } = yield* list([Step.text("first"), Step.text("second")])

      assert.notProperty(yield* client.generate(Requests.make(), Requests.call), "providerMetadata")
    }))

  it.effect("fails with what a retry mends soonest, the usage of all, and the others' names", () =>
    Effect.gen(function*() {
      const { client } = yield* list([
        Step.fail("authentication", { usage: { input: 1 } }),
        Step.fail("rate-limited", { retryAfter: 5_000, status: 429, detail: "slow", usage: { output: 2 } }),
        Step.fail("rate-limited", { retryAfter: 9_000, usage: { input: 3 } })
      ])

      const error = yield* Effect.flip(client.generate(Requests.make(), Requests.call))

      assert.deepInclude(error, {
        reason: "rate-limited",
        provider: "b",
        status: 429,
        retryAfter: 5_000,
        isRetryable: true,
        detail: "slow; failed too: a/m (authentication), c/m (rate-limited)",
        usage: { inputTokens: { total: 4 }, outputTokens: { total: 2 } }
      })
    }))

  it.effect("fails with the first model's error when no retry can mend any", () =>
    Effect.gen(function*() {
      const { client } = yield* list([Step.fail("authentication"), Step.fail("quota-exceeded")])

      const error = yield* Effect.flip(client.generate(Requests.make(), Requests.call))

      assert.deepInclude(error, { reason: "authentication", provider: "a" })
    }))

  it.effect("switches a stream that has not begun, and counts what the failed attempt used", () =>
    Effect.gen(function*() {
      const { calls, client } = yield* list([
        Step.fail("overloaded", { usage: { input: 7 } }),
        Step.unfinished(""),
        Step.text("third one")
      ])

      const parts = yield* Stream.runCollect(client.stream!(Requests.make(), Requests.call))

      assert.deepStrictEqual(parts, [
        { type: "text-delta", delta: "third " },
        { type: "text-delta", delta: "one" },
        { type: "part", part: { type: "text", text: "third one" } },
        {
          type: "finish",
          finishReason: "stop",
          usage: { inputTokens: { total: 17 }, outputTokens: { total: 5 } },
          providerMetadata: { mandate: { answeredBy: "c/m" } }
        }
      ])
      assert.deepStrictEqual(yield* calls, [1, 1, 1])
    }))

  it.effect("never switches a stream that has begun", () =>
    Effect.gen(function*() {
      const { calls, client } = yield* list([Step.streamError("half", "overloaded"), Step.text("second")])
      const seen: Array<string> = []

      const error = yield* client.stream!(Requests.make(), Requests.call).pipe(
        Stream.runForEach((part) => Effect.sync(() => seen.push(part.type))),
        Effect.flip
      )

      assert.strictEqual(error.reason, "overloaded")
      assert.deepStrictEqual(seen, ["text-delta"])
      assert.deepStrictEqual(yield* calls, [1, 0])
    }))

  it.effect("streams, and gives structured answers, only if all its models do", () =>
    Effect.gen(function*() {
      const { client } = yield* Scripted.always("a", Step.text("a"))
      const { stream: _, structuredAnswers: __, ...plain } = client

      assert.deepInclude(ModelFallback.make([client, client]), { structuredAnswers: true })
      assert.property(ModelFallback.make([client, client]), "stream")
      assert.deepInclude(ModelFallback.make([client, plain]), { structuredAnswers: false })
      assert.notProperty(ModelFallback.make([client, plain]), "stream")
      assert.strictEqual(ModelFallback.make([client]), client)
    }))

  it.effect("logs which model failed, why, and which is asked next", () =>
    Effect.gen(function*() {
      const lines: Array<string> = []
      const logger = Logger.map(Logger.formatJson, (line) => lines.push(line))
      const { client } = yield* list([Step.fail("authentication", { detail: "SECRET" }), Step.text("second")])

      yield* client.generate(Requests.make(), Requests.call).pipe(Effect.provide(Logger.layer([logger])))

      assert.strictEqual(lines.length, 1)
      for (const word of ["WARN", "a/m", "authentication", "b/m"]) {
        assert.include(lines[0]!.toUpperCase(), word.toUpperCase())
      }
      assert.notInclude(lines[0], "SECRET")
    }))
})
