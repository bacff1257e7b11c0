import { assert, describe, it } from "@effect/vitest"
import { Mandate, TypedAgent } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Schema, Stream } from "effect"
import * as Models from "../support/Models.ts"

const researcher = TypedAgent.make("researcher", {
  description: "Researches",
  input: Schema.Struct({ since: Schema.Date }),
  report: Schema.Struct({ at: Schema.Date })
})
const at = "1970-01-01T00:00:00.000Z"

describe("BoundAgent.json", () => {
  it.effect("takes an input as a model writes it and gives the report as JSON", () =>
    Effect.gen(function*() {
      const { json } = yield* researcher.bind()
      const outcome = yield* json.run({ since: at })

      assert.strictEqual(json.id, "researcher")
      assert.strictEqual(json.description, "Researches")
      assert.deepInclude(json.inputSchema, { type: "object", required: ["since"] })
      assert.deepStrictEqual(outcome._tag === "Reported" ? outcome.report : outcome._tag, { at })
      const model = yield* ScriptedModel.ScriptedModel
      const [first] = yield* model.requests
      assert.include(JSON.stringify(first!.request.messages), at)
    }).pipe(Effect.provide([
      Mandate.layerMemory,
      Models.layer({ researcher: [Step.report({ at })] })
    ])))

  it.effect("streams and starts with the same outcome", () =>
    Effect.gen(function*() {
      const counter = TypedAgent.make("counter", {
        description: "Counts",
        input: Schema.Array(Schema.Number),
        report: Schema.NumberFromString
      })
      const { json } = yield* counter.bind()
      const events = yield* Stream.runCollect(json.stream({ value: [1, 2] }))
      const handle = yield* json.start({ value: [3] })

      const last = events.at(-1)
      assert.isTrue(last?._tag === "RunFinished" && last.result._tag === "Reported" && last.result.report === "3")
      const outcome = yield* handle.await
      assert.isTrue(outcome._tag === "Reported" && outcome.report === "3")
    }).pipe(Effect.provide([
      Mandate.layerMemory,
      Models.layer({ counter: Script.each([Step.report("3")]) })
    ])))

  it.effect("refuses an input that does not decode, and starts nothing", () =>
    Effect.gen(function*() {
      const { json } = yield* researcher.bind()
      const { reason } = yield* Effect.flip(json.run({ since: 3 }))

      assert.strictEqual(reason._tag, "InvalidInput")
      assert.strictEqual(yield* Effect.map(ScriptedModel.ScriptedModel, (model) => model.calls).pipe(Effect.flatten), 0)
    }).pipe(Effect.provide([Mandate.layerMemory, Models.layer({})])))

  it.effect("gives a failure as it is", () =>
    Effect.gen(function*() {
      const { json } = yield* researcher.withReasks(0).bind()
      const outcome = yield* json.run({ since: at })

      assert.strictEqual(outcome._tag === "NotReported" ? outcome.failure._tag : outcome._tag, "InvalidReport")
    }).pipe(Effect.provide([
      Mandate.layerMemory,
      Models.layer({ researcher: [Step.report({ at: 3 })] })
    ])))
})
