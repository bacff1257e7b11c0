import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Mandate } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Layer, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Models from "../support/Models.ts"

const good = { city: "Turin", pop: 850 }
const bad = { city: "Turin" }
const Work = Tool.make("work", { success: Schema.String })
const work = Step.call("work")
const clerk = AgentBuilder.make("clerk")
  .withOutput(Schema.Struct({ city: Schema.String, pop: Schema.Number }))
  .withTools(Toolkit.make(Work), { work: () => Effect.succeed("worked") })

const layers = (steps: Script.Script) => Layer.mergeAll(Mandate.layerMemory, Models.layer({ clerk: steps }))
const calls = Effect.flatMap(ScriptedModel.ScriptedModel, (model) => model.calls)

describe("Re-asks", () => {
  for (const reasks of [0, 1, 3, 5]) {
    it.effect(`an agent with ${reasks} re-asks is asked ${reasks + 1} times, however its answers fail`, () =>
      Effect.gen(function*() {
        const { status } = yield* (yield* clerk.withReasks(reasks).build()).run("Go")

        assert.strictEqual(status._tag, "InvalidReport")
        assert.strictEqual(yield* calls, reasks + 1)
      }).pipe(Effect.provide(layers(
        [Step.report(bad), Step.text("no"), Step.cut(work), Step.cut("n"), Step.text("{}"), Step.report({})]
          .slice(0, reasks + 1)
      ))))
  }

  it.effect("work between two answers does not renew the re-asks", () =>
    Effect.gen(function*() {
      const { status } = yield* (yield* clerk.build()).run("Go")

      assert.strictEqual(status._tag, "InvalidReport")
      assert.strictEqual(yield* calls, 3)
    }).pipe(Effect.provide(layers([Step.report(bad), work, Step.report(bad)]))))

  it.effect("re-asks are counted over all drives of a run", () =>
    Effect.gen(function*() {
      const agent = yield* clerk.build()
      const error = yield* Effect.flip(agent.run("Go", { threadId: "t" }))
      const { status } = yield* agent.recover("t")

      assert.strictEqual(error.reason._tag, "ModelFailed")
      assert.strictEqual(status._tag, "InvalidReport")
    }).pipe(Effect.provide(layers([Step.report(bad), Step.again(Step.fail("authentication"), Step.report(bad))]))))

  it.effect("what the model was told stays where it was when the run is recovered", () =>
    Effect.gen(function*() {
      const agent = yield* clerk.build()
      yield* Effect.flip(agent.run("Go", { threadId: "t" }))
      const { status } = yield* agent.recover("t")

      const [, , before, after] = yield* (yield* ScriptedModel.ScriptedModel).requests
      assert.strictEqual(status._tag, "Completed")
      assert.deepStrictEqual(before!.request.messages.map(({ role }) => role), [
        "user",
        "assistant",
        "user",
        "assistant",
        "tool"
      ])
      assert.deepStrictEqual(after!.request.messages, before!.request.messages)
    }).pipe(Effect.provide(layers([
      Step.text("no"),
      work,
      Step.again(Step.fail("authentication"), Step.report(good))
    ]))))

  it.effect("each run of a thread has re-asks of its own", () =>
    Effect.gen(function*() {
      const agent = yield* clerk.build()
      const first = yield* agent.run("Go", { threadId: "t" })
      const second = yield* agent.run("Again", { threadId: "t" })

      assert.strictEqual(first.status._tag, "InvalidReport")
      assert.strictEqual(second.status._tag, "Completed")
    }).pipe(Effect.provide(layers(
      Script.runs([Step.report(bad), Step.text("no")], [Step.text("no"), Step.report(good)])
    ))))
})
