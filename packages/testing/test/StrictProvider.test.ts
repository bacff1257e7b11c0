import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Mandate, ModelRegistry } from "@mandate/core"
import { Script, ScriptedModel, Step, StrictProvider } from "@mandate/testing"
import { Effect, Layer, Stream } from "effect"
import { asking, at, streamOf, textOf } from "./calling.ts"

describe("StrictProvider", () => {
  it.effect("rejects a request that breaks a rule before it reaches the client, and remembers it", () =>
    Effect.gen(function*() {
      const model = yield* ScriptedModel.make({ clerk: Script.optional([Step.text("a")]) })
      const strict = yield* StrictProvider.wrap(model.client)
      const call = at("clerk", "t#0")

      const error = yield* Effect.flip(textOf(strict, call, asking(" ")))

      assert.deepInclude({ ...error }, {
        reason: "invalid-request",
        provider: "scripted",
        detail: "user-text (message 0)"
      })
      assert.deepStrictEqual(yield* strict.violations, [
        { broken: [{ rule: "user-text", detail: "message 0" }], request: asking(" "), call }
      ])
      assert.strictEqual(yield* model.calls, 0)
    }))

  it.effect("passes good requests and streams on", () =>
    Effect.gen(function*() {
      const model = yield* ScriptedModel.make({ clerk: [Step.text("a"), Step.text("b")] })
      const strict = yield* StrictProvider.wrap(model.client)

      assert.strictEqual(yield* textOf(strict, at("clerk", "t#0")), "a")
      assert.lengthOf(yield* Stream.runCollect(streamOf(strict, at("clerk", "t#0", 1))), 3)
      assert.deepStrictEqual(yield* strict.violations, [])
    }))

  it.effect("rejects streamed requests too", () =>
    Effect.gen(function*() {
      const model = yield* ScriptedModel.make({})
      const strict = yield* StrictProvider.wrap(model.client)
      const stream = strict.stream?.(asking(""), at("clerk", "t#0")) ?? Stream.empty

      assert.strictEqual((yield* Effect.flip(Stream.runCollect(stream))).reason, "invalid-request")
      assert.lengthOf(yield* strict.violations, 1)
    }))

  it.effect("tells what was rejected until it is asked, and adds nothing to that later", () =>
    Effect.gen(function*() {
      const strict = yield* StrictProvider.wrap((yield* ScriptedModel.make({})).client)
      const none = yield* strict.violations
      yield* Effect.flip(textOf(strict, at("clerk", "t#0"), asking("")))

      assert.deepStrictEqual([none.length, (yield* strict.violations).length], [0, 1])
    }))

  it.effect("does not give a stream to a client that has none", () =>
    Effect.gen(function*() {
      const { client: { stream: _, ...client } } = yield* ScriptedModel.make({})
      assert.notProperty(yield* StrictProvider.wrap(client), "stream")
    }))

  it.effect("wraps all models of a registry and keeps what else its layer gives", () =>
    Effect.gen(function*() {
      const registry = yield* ModelRegistry.ModelRegistry
      const model = yield* ScriptedModel.ScriptedModel
      const strict = yield* StrictProvider.StrictProvider

      for (const id of [undefined, "fast"]) {
        const client = yield* registry.get(id)
        assert.strictEqual(
          (yield* Effect.flip(textOf(client, at("clerk", "t#0"), asking("")))).reason,
          "invalid-request"
        )
      }
      assert.strictEqual(yield* textOf(yield* registry.get("fast"), at("clerk", "t#0")), "a")

      assert.lengthOf(yield* strict.violations, 2)
      assert.strictEqual(yield* model.calls, 1)
    }).pipe(Effect.provide(StrictProvider.layer(ScriptedModel.layer({ clerk: [Step.text("a")] })))))

  it.effect("wraps the models of its own registry where two of them are provided", () =>
    Effect.gen(function*() {
      const answerOf = Effect.gen(function*() {
        const agent = yield* AgentBuilder.make("clerk").build()
        const { status } = yield* agent.run("Go")
        return status._tag === "Completed" ? status.answer : status._tag
      })
      const runtime = (text: string) =>
        Layer.merge(Mandate.layerMemory, StrictProvider.layer(ScriptedModel.layer({ clerk: [Step.text(text)] })))
      const both = yield* Effect.gen(function*() {
        return [yield* Effect.provide(answerOf, runtime("inner")), yield* answerOf]
      }).pipe(Effect.provide(runtime("outer")))

      assert.deepStrictEqual(both, ["inner", "outer"])
    }))
})
