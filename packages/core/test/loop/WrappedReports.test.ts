import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, type Json, Mandate, TypedAgent } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Layer, Schema } from "effect"
import * as Models from "../support/Models.ts"
import * as Results from "../support/Results.ts"

interface Root {
  readonly what: string
  readonly schema: Schema.Codec<unknown, unknown>
  readonly json: Json.Json
  readonly value: unknown
  readonly wrong: Json.Json
}

const roots: ReadonlyArray<Root> = [
  { what: "a number", schema: Schema.Number, json: 3, value: 3, wrong: "three" },
  { what: "a string", schema: Schema.String, json: "three", value: "three", wrong: 3 },
  { what: "an array", schema: Schema.Array(Schema.Int), json: [1, 2], value: [1, 2], wrong: [1.5] },
  { what: "null or a string", schema: Schema.NullOr(Schema.String), json: null, value: null, wrong: 3 },
  {
    what: "a union of objects",
    schema: Schema.Union([Schema.Struct({ a: Schema.Int }), Schema.Struct({ b: Schema.Int })]),
    json: { b: 2 },
    value: { b: 2 },
    wrong: { c: 3 }
  },
  { what: "a number kept as a string", schema: Schema.FiniteFromString, json: "3", value: 3, wrong: "x" }
]

const layers = (scripts: Script.Scripts) => Layer.mergeAll(Mandate.layerMemory, Models.layer(scripts))

describe("Reports whose root is no object", () => {
  for (const { json, schema, value, what, wrong } of roots) {
    const clerk = AgentBuilder.make("clerk").withOutput(schema)
    const wrapped = (json: Json.Json) => Step.call("submit_report", { value: json })

    it.effect(`${what} is asked for as an object, and given out of its wrapper`, () =>
      Effect.gen(function*() {
        const agent = yield* clerk.build()
        const result = yield* agent.run("Go", { threadId: "t" })

        const [first] = yield* (yield* ScriptedModel.ScriptedModel).requests
        const submit = first?.request.tools.find(({ name }) => name === "submit_report")
        assert.strictEqual(submit?.inputSchema["type"], "object")
        assert.deepStrictEqual(submit?.inputSchema["required"], ["value"])
        assert.deepStrictEqual({ ...result.status }, { _tag: "Completed", answer: value })
        assert.deepStrictEqual((yield* agent.status("t")).status, result.status)
      }).pipe(Effect.provide(layers({ clerk: [wrapped(json)] }))))

    it.effect(`${what} is read from a text as it is, bare or in a fence`, () =>
      Effect.gen(function*() {
        const agent = yield* clerk.build()
        const bare = yield* agent.run("Go", { threadId: "bare" })
        const fenced = yield* agent.run("Go", { threadId: "fenced" })

        assert.deepStrictEqual({ ...bare.status }, { _tag: "Completed", answer: value })
        assert.deepStrictEqual(fenced.status, bare.status)
      }).pipe(Effect.provide(layers({
        clerk: Script.runs(
          [Step.text(JSON.stringify(json))],
          [Step.text(`\`\`\`json\n${JSON.stringify(json)}\n\`\`\``)]
        )
      }))))

    it.effect(`what is not ${what} is refused inside the wrapper`, () =>
      Effect.gen(function*() {
        const { status } = yield* (yield* clerk.withReasks(0).build()).run("Go")

        assert.strictEqual(status._tag, "InvalidReport")
        assert.include(status._tag === "InvalidReport" ? status.issues.join() : "", "value")
      }).pipe(Effect.provide(layers({ clerk: [wrapped(wrong)] }))))

    it.effect(`${what} crosses to the parent's model without the wrapper`, () =>
      Effect.gen(function*() {
        const child = TypedAgent.make("child", {
          description: "Works",
          input: Schema.Array(Schema.Int),
          report: schema
        })
        yield* (yield* AgentBuilder.make("parent").withSubagents([child]).build()).run("Go")

        const model = yield* ScriptedModel.ScriptedModel
        const [, second] = yield* model.requestsOf("parent")
        const [asked] = yield* model.requestsOf("child")
        assert.deepStrictEqual(Results.last(second?.request), [Results.reported("task_child", json)])
        assert.include(JSON.stringify(asked?.request.messages), "[1,2]")
      }).pipe(Effect.provide(layers({
        parent: [Step.call("task_child", { value: [1, 2] }), Step.text("done")],
        child: [wrapped(json)]
      }))))
  }
})
