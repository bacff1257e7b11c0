import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, MemoryRunStore, type ModelClient, ModelRegistry } from "@mandate/core"
import { TestRuntime } from "@mandate/testing"
import { Effect, Fiber, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } }
const call = { type: "tool-call", id: "c", name: "pay", arguments: "{}" }
const text = { type: "text", text: "done" }
const whole = { parts: [text], finishReason: "stop", usage }
const calls = { parts: [call], finishReason: "tool-calls", usage }
const tokens = (total: number) => ({ ...whole, usage: { ...usage, inputTokens: { total } } })

const broken: ReadonlyArray<readonly [string, unknown, string]> = [
  ["nothing", undefined, ""],
  ["no parts", { ...whole, parts: undefined }, ": parts: Missing key"],
  ["a text that is none", { ...whole, parts: [{ ...text, text: 5 }] }, ": parts[0].text: Expected string"],
  ["a call without an id", { ...calls, parts: [{ ...call, id: undefined }] }, ": parts[0].id: Missing key"],
  [
    "arguments that are no text",
    { ...calls, parts: [{ ...call, arguments: {} }] },
    ": parts[0].arguments: Expected string"
  ],
  ["tokens that are no number", tokens(NaN), ": usage.inputTokens.total: Expected number"],
  ["less than no tokens", tokens(-1), ": usage.inputTokens.total: Expected a value greater than or equal to 0"],
  ["half a token", tokens(1.5), ": usage.inputTokens.total: Expected an integer"],
  ["no usage", { ...whole, usage: undefined }, ": usage: Missing key"],
  ["metadata that is no JSON", { ...whole, parts: [{ ...text, providerMetadata: { p: { x: 1n } } }] }, ""]
]

/** A client that gives what its type does not allow at first, and a whole response from then on. */
const clientOf = (first: Effect.Effect<unknown, unknown>, times: number): ModelClient.ModelClient => {
  let asked = 0
  const next = Effect.suspend(() => ++asked <= times ? first : Effect.succeed(whole)) as Effect.Effect<never>
  return {
    provider: "p",
    modelId: "m",
    generate: () => next,
    stream: () =>
      Stream.unwrap(
        Effect.map(next as Effect.Effect<any>, ({ parts, ...finish }) =>
          Stream.fromIterable([...parts.map((part: unknown) => ({ type: "part", part })), {
            type: "finish",
            ...finish
          }]))
      )
  }
}

const processes = (client: ModelClient.ModelClient) => {
  const store = MemoryRunStore.make()
  const registry = Layer.succeed(ModelRegistry.ModelRegistry, { get: () => Effect.succeed(client) })
  let started = 0
  return <A, E>(
    effect: Effect.Effect<
      A,
      E,
      Layer.Success<typeof registry> | Layer.Success<ReturnType<typeof TestRuntime.layerStore>>
    >
  ) => Effect.provide(effect, Layer.fresh(Layer.merge(TestRuntime.layerStore(store, `process-${++started}`), registry)))
}

const lead = AgentBuilder.make("lead")
const after = Effect.fnUntraced(function*<A, E>(work: Effect.Effect<A, E>) {
  const running = yield* Effect.forkChild(work, { startImmediately: true })
  yield* TestClock.adjust("1 minute")
  return yield* Fiber.join(running)
})

describe("a client that returns an invalid response", () => {
  it.effect.each(broken)("is asked again, and the thread can be read: %s", ([, given]) =>
    Effect.gen(function*() {
      const next = processes(clientOf(Effect.succeed(given), 1))
      const result = yield* next(Effect.flatMap(lead.build(), (agent) => after(agent.run("Go", { threadId: "t" }))))
      const history = yield* next(Effect.flatMap(lead.build(), (agent) => agent.history("t")))

      assert.deepStrictEqual(result.status, { _tag: "Completed", answer: "done" })
      assert.lengthOf(history, 1)
    }))

  it.effect.each(broken)(
    "again and again, fails the run, and another process goes on: %s",
    ([, given, problem]) =>
      Effect.gen(function*() {
        const next = processes(clientOf(Effect.succeed(given), 3))
        const { reason } = yield* next(
          Effect.flatMap(lead.build(), (agent) => after(Effect.flip(agent.run("Go", { threadId: "t" }))))
        )
        const { status } = yield* next(Effect.flatMap(lead.build(), (agent) => agent.status("t")))
        const recovered = yield* next(Effect.flatMap(lead.build(), (agent) => agent.recover("t")))

        assert.deepStrictEqual<unknown>(reason, {
          _tag: "ModelFailed",
          threadId: "t",
          reason: "invalid-response",
          provider: "p",
          modelId: "m",
          detail: `the client returned an invalid response${problem}`
        })
        assert.deepStrictEqual<unknown>(status, { _tag: "Failed", reason })
        assert.deepStrictEqual(recovered.status, { _tag: "Completed", answer: "done" })
      })
  )

  it.effect("in pieces, is asked again too", () =>
    Effect.gen(function*() {
      const next = processes(clientOf(Effect.succeed(tokens(NaN)), 1))
      const events = yield* next(
        Effect.flatMap(lead.build(), (agent) => after(Stream.runCollect(agent.stream("Go", { threadId: "t" }))))
      )

      const last = events.at(-1)
      assert.strictEqual(last?._tag === "RunFinished" && last.result.status._tag, "Completed")
    }))

  it.effect("is taken as what is stored of it where that is a response", () =>
    Effect.gen(function*() {
      const given = {
        ...whole,
        parts: [{ ...text, providerMetadata: { p: { x: undefined } } }],
        providerMetadata: undefined
      }
      const next = processes(clientOf(Effect.succeed(given), 1))
      const result = yield* next(Effect.flatMap(lead.build(), (agent) => agent.run("Go", { threadId: "t" })))

      assert.strictEqual(result.usage.own.modelCalls, 1)
    }))

  it.effect("and fails with what is no model error, fails the run, and says nothing of it", () =>
    Effect.gen(function*() {
      const next = processes(clientOf(Effect.fail(new Error("s3cr3t")), 1))
      const { reason } = yield* next(
        Effect.flatMap(lead.build(), (agent) => Effect.flip(agent.run("Go", { threadId: "t" })))
      )
      const { status } = yield* next(Effect.flatMap(lead.build(), (agent) => agent.status("t")))

      assert.strictEqual(reason._tag === "ModelFailed" && reason.reason, "unknown")
      assert.deepStrictEqual<unknown>(status, { _tag: "Failed", reason })
      assert.notInclude(JSON.stringify(reason), "s3cr3t")
    }))
})
