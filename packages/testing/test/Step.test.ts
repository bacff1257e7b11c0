import { assert, describe, it } from "@effect/vitest"
import type { ModelResponse } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Deferred, Effect, Fiber, Ref, Stream } from "effect"
import { TestClock } from "effect/testing"
import { asking, at, streamOf, textOf } from "./calling.ts"

/** The response to the first call of a run with one step. */
const respond = Effect.fnUntraced(function*(step: Step.Step) {
  const model = yield* ScriptedModel.make({ clerk: [step] })
  return yield* model.client.generate(asking("go"), at("clerk", "t#0"))
})

const deltas = (parts: ReadonlyArray<ModelResponse.ModelStreamPart>) =>
  parts.flatMap((part) => part.type === "text-delta" ? [part.delta] : [])

const tokens = (input: number, output: number) => ({ inputTokens: { total: input }, outputTokens: { total: output } })

describe("Step", () => {
  it.effect("answers with text, 10 input and 5 output tokens", () =>
    Effect.gen(function*() {
      assert.deepStrictEqual(yield* respond(Step.text("done")), {
        parts: [{ type: "text", text: "done" }],
        finishReason: "stop",
        usage: tokens(10, 5)
      })
    }))

  it.effect("gives calls ids by agent, run, step and index", () =>
    Effect.gen(function*() {
      const { finishReason, parts } = yield* respond(
        Step.calls(
          "Let me see.",
          Step.call("find", { q: 1 }),
          Step.rawCall("find", "{"),
          Step.textTask("scout", "look")
        )
      )

      assert.strictEqual(finishReason, "tool-calls")
      assert.deepStrictEqual(parts, [
        { type: "text", text: "Let me see." },
        { type: "tool-call", id: "call-clerk-0-0-0", name: "find", arguments: "{\"q\":1}" },
        { type: "tool-call", id: "call-clerk-0-0-1", name: "find", arguments: "{" },
        {
          type: "tool-call",
          id: "call-clerk-0-0-2",
          name: "task",
          arguments: "{\"subagent\":\"scout\",\"description\":\"look\"}"
        }
      ])
    }))

  it.effect("lets a script choose ids, empty and repeated ones too", () =>
    Effect.gen(function*() {
      const { parts } = yield* respond(
        Step.calls(
          Step.call("a", {}, { id: "" }),
          Step.call("b", {}, { id: "x" }),
          Step.call("c", {}, { id: "x" }),
          Step.call("d")
        )
      )

      const ids = parts.flatMap((part) => part.type === "tool-call" ? [part.id] : [])
      assert.deepStrictEqual(ids, ["", "x", "x", "call-clerk-0-0-3"])
    }))

  it.effect("wraps reports and inputs that are no objects under value", () =>
    Effect.gen(function*() {
      const { parts } = yield* respond(
        Step.calls(Step.report(3), Step.report({ value: 3, a: 1 }), Step.task("scout", ["x"]))
      )

      assert.deepStrictEqual(
        parts.map((part) => part.type === "tool-call" ? [part.name, part.arguments] : []),
        [["submit_report", "{\"value\":3}"], ["submit_report", "{\"value\":3,\"a\":1}"], [
          "task_scout",
          "{\"value\":[\"x\"]}"
        ]]
      )
    }))

  it.effect("says how a response ended", () =>
    Effect.gen(function*() {
      const steps = [
        Step.call("find"),
        Step.cut("half a", Step.call("find")),
        Step.contentFilter(),
        Step.contentFilter("Sorry"),
        Step.pause("hm"),
        Step.interrupted("ha"),
        Step.unfinished("ha"),
        Step.parts([{ type: "reasoning", text: "hm" }, Step.call("find")], "other")
      ]

      const responses = yield* Effect.forEach(steps, respond)
      assert.deepStrictEqual(
        responses.map(({ finishReason, parts }) => [finishReason, parts.map(({ type }) => type).join()]),
        [
          ["tool-calls", "tool-call"],
          ["length", "text,tool-call"],
          ["content-filter", ""],
          ["content-filter", "text"],
          ["pause", "text"],
          ["interrupted", "text"],
          ["interrupted", "text"],
          ["other", "reasoning,tool-call"]
        ]
      )
    }))

  it.effect("fails with what it is given", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(
        respond(
          Step.fail("rate-limited", { retryAfter: "2 seconds", usage: { input: 3 }, detail: "slow down", status: 429 })
        )
      )
      const plain = yield* Effect.flip(respond(Step.fail("network")))

      assert.deepInclude({ ...error }, {
        reason: "rate-limited",
        provider: "scripted",
        modelId: "scripted",
        detail: "slow down",
        status: 429,
        retryAfter: 2000,
        usage: { inputTokens: { total: 3 }, outputTokens: {} }
      })
      assert.isUndefined(plain.usage)
    }))

  it.effect("dies with a defect", () =>
    Effect.gen(function*() {
      const defect = yield* Effect.catchDefect(respond(Step.defect("broken")), Effect.succeed)
      assert.strictEqual(defect, "broken")
    }))

  it.effect("says the usage it is told, or none", () =>
    Effect.gen(function*() {
      const told = yield* respond(
        Step.withUsage(Step.delay(0, Step.text("a")), {
          input: 7,
          output: 9,
          cacheRead: 1,
          cacheWrite: 2,
          reasoning: 3
        })
      )
      const untold = yield* respond(Step.withoutUsage(() => Step.text("a")))
      const failed = yield* Effect.flip(respond(Step.withUsage(Step.fail("overloaded"), { input: 1, output: 2 })))

      assert.deepStrictEqual(told.usage, {
        inputTokens: { total: 7, cacheRead: 1, cacheWrite: 2 },
        outputTokens: { total: 9, reasoning: 3 }
      })
      assert.deepStrictEqual(untold.usage, { inputTokens: {}, outputTokens: {} })
      assert.deepStrictEqual(failed.usage, tokens(1, 2))
    }))

  it.effect("waits on the test clock", () =>
    Effect.gen(function*() {
      const fiber = yield* Effect.forkChild(respond(Step.delay("1 minute", Step.text("late"))), {
        startImmediately: true
      })

      yield* TestClock.adjust("59 seconds")
      assert.isUndefined(fiber.pollUnsafe())

      yield* TestClock.adjust("1 second")
      assert.strictEqual((yield* Fiber.join(fiber)).finishReason, "stop")
    }))

  it.effect("is chosen by a function of the request, which may be an effect", () =>
    Effect.gen(function*() {
      const gate = yield* Deferred.make<string>()
      const model = yield* ScriptedModel.make({
        clerk: [
          (request, call) => Step.text(`${request.messages.length} ${call.step}`),
          () => Effect.map(Deferred.await(gate), Step.text)
        ]
      })

      assert.strictEqual(yield* textOf(model.client, at("clerk", "t#0")), "1 0")
      const fiber = yield* Effect.forkChild(textOf(model.client, at("clerk", "t#0", 1)), { startImmediately: true })
      yield* Deferred.succeed(gate, "opened")
      assert.strictEqual(yield* Fiber.join(fiber), "opened")
    }))

  it.effect("hangs until it is interrupted, and remembers it", () =>
    Effect.gen(function*() {
      const model = yield* ScriptedModel.make({ clerk: [Step.hang(), Step.delay("1 day", Step.text("never"))] })

      for (const step of [0, 1]) {
        const fiber = yield* Effect.forkChild(textOf(model.client, at("clerk", "t#0", step)))
        yield* model.awaitCalls(step + 1)
        assert.lengthOf(yield* model.interrupted, step)
        yield* Fiber.interrupt(fiber)
      }

      assert.deepStrictEqual(yield* model.interrupted, [at("clerk", "t#0", 0), at("clerk", "t#0", 1)])
    }))

  it.effect("does something else when it is asked for again", () =>
    Effect.gen(function*() {
      const model = yield* ScriptedModel.make({ clerk: [Step.again(Step.fail("authentication"), Step.text("mended"))] })
      const ask = textOf(model.client, at("clerk", "t#0"))

      assert.strictEqual((yield* Effect.flip(ask)).reason, "authentication")
      assert.strictEqual(yield* ask, "mended")
      assert.strictEqual(yield* ask, "mended")
    }))

  it.effect("streams deltas, whole parts and a finish", () =>
    Effect.gen(function*() {
      const model = yield* ScriptedModel.make({
        clerk: [Step.parts([
          { type: "reasoning", text: "so it is" },
          { type: "text", text: "one two" },
          Step.call("find", { query: "😀😀" })
        ], "tool-calls")]
      })

      const parts = yield* Stream.runCollect(streamOf(model.client, at("clerk", "t#0")))
      const whole = yield* model.client.generate(asking("go"), at("clerk", "t#0"))

      assert.deepStrictEqual(
        parts.map((part) => part.type === "part" ? part.part.type : part.type).join(" "),
        [
          "reasoning-delta reasoning-delta reasoning-delta reasoning",
          "text-delta text-delta text",
          "tool-input-delta tool-input-delta tool-call",
          "finish"
        ].join(" ")
      )
      assert.deepStrictEqual(parts.flatMap((part) => part.type === "part" ? [part.part] : []), whole.parts)
      assert.deepStrictEqual(parts.at(-1), { type: "finish", finishReason: "tool-calls", usage: tokens(10, 5) })
      assert.strictEqual(
        parts.map((part) => part.type === "tool-input-delta" ? part.delta : "").join(""),
        "{\"query\":\"😀😀\"}"
      )
    }))

  it.effect("fails in the middle of a stream", () =>
    Effect.gen(function*() {
      const model = yield* ScriptedModel.make({
        clerk: Script.each([Step.streamError("half a sentence", "overloaded")])
      })
      const seen = yield* Ref.make<ReadonlyArray<ModelResponse.ModelStreamPart>>([])

      const error = yield* streamOf(model.client, at("clerk", "t#0")).pipe(
        Stream.runForEach((part) => Ref.update(seen, (parts) => [...parts, part])),
        Effect.flip
      )
      const plain = yield* Effect.flip(textOf(model.client, at("clerk", "t#1")))

      assert.deepStrictEqual(deltas(yield* Ref.get(seen)), ["half ", "a ", "sentence"])
      assert.deepStrictEqual([error.reason, plain.reason], ["overloaded", "overloaded"])
    }))

  it.effect("ends a stream without a finish", () =>
    Effect.gen(function*() {
      const model = yield* ScriptedModel.make({ clerk: [Step.unfinished("half a")] })
      assert.deepStrictEqual(yield* Stream.runCollect(streamOf(model.client, at("clerk", "t#0"))), [
        { type: "text-delta", delta: "half " },
        { type: "text-delta", delta: "a" }
      ])
    }))

  it.effect("hangs in the middle of a stream", () =>
    Effect.gen(function*() {
      const model = yield* ScriptedModel.make({ clerk: [Step.hang("half a")] })
      const enough = yield* Deferred.make<void>()
      const fiber = yield* streamOf(model.client, at("clerk", "t#0")).pipe(
        Stream.runForEach((part) =>
          part.type === "text-delta" && part.delta === "a" ? Deferred.succeed(enough, undefined) : Effect.void
        ),
        Effect.forkChild
      )

      yield* Deferred.await(enough)
      yield* Fiber.interrupt(fiber)

      assert.deepStrictEqual(yield* model.interrupted, [at("clerk", "t#0")])
    }))
})
