import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Mandate, type ModelRequest, TypedAgent } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Models from "../support/Models.ts"

const Measure = Schema.Struct({
  at: Schema.Date,
  size: Schema.BigInt,
  note: Schema.optionalKey(Schema.String),
  score: Schema.Number
})
type Measure = typeof Measure.Type

const measure: Measure = { at: new Date("2026-11-30T10:00:00Z"), size: 123456789012345678901234567890n, score: 0.5 }
const encoded = { at: "2026-11-30T10:00:00.000Z", size: "123456789012345678901234567890", score: 0.5 }

const Read = Tool.make("read", {
  success: Schema.Struct({ when: Schema.Date, gone: Schema.optional(Schema.String) })
})
const scale = TypedAgent.make("scale", {
  description: "Measures",
  input: Measure,
  report: Measure
}).withTools(Toolkit.make(Read), { read: () => Effect.succeed({ when: new Date(0), gone: undefined }) })
const lab = AgentBuilder.make("lab").withSubagents([scale])

const toolResults = (request: ModelRequest.ModelRequest) =>
  request.messages.flatMap((message) => message.role === "tool" ? message.content : [])

// Whatever a provider is given must be the same after a trip through JSON text.
const assertPureJson = (value: unknown): void => assert.deepStrictEqual(JSON.parse(JSON.stringify(value)), value)

const reading = Step.calls(Step.call("read"))

describe("C30 values that are not JSON", () => {
  it.effect("C30 the parent's model reads pure JSON, and so does every model request", () =>
    Effect.gen(function*() {
      const agent = yield* lab.build()
      yield* agent.run("Go")

      const model = yield* ScriptedModel.ScriptedModel
      const [, second] = yield* model.requestsOf("lab")
      assert.deepStrictEqual(toolResults(second!.request).map(({ isError, output }) => ({ isError, output })), [
        { isError: false, output: { type: "json", value: { report: encoded } } }
      ])
      const [, afterTool] = yield* model.requestsOf("scale")
      assert.deepStrictEqual(toolResults(afterTool!.request).map(({ output }) => output), [
        { type: "json", value: { when: "1970-01-01T00:00:00.000Z", gone: null } }
      ])
      for (const { request } of yield* model.requests) assertPureJson(request.messages)
    }).pipe(Effect.provide([
      Mandate.layerMemory,
      Models.layer({
        lab: [Step.taskOf(scale, measure), Step.text("done")],
        scale: [reading, Step.reportOf(scale, measure)]
      })
    ])))

  it.effect("C30 code gets the typed report, the first time and whenever it is read again", () =>
    Effect.gen(function*() {
      const bound = yield* scale.bind()
      const outcome = yield* bound.run(measure, { threadId: "t" })
      const { status } = yield* bound.status("t")
      const [settled] = yield* bound.history("t")

      assert.deepStrictEqual(outcome._tag === "Reported" && outcome.report, measure)
      assert.deepStrictEqual(status, { _tag: "Completed", answer: measure })
      assert.deepStrictEqual(settled!.status, { _tag: "Completed", answer: measure })
      const model = yield* ScriptedModel.ScriptedModel
      const [first] = yield* model.requests
      assert.deepStrictEqual(first!.request.messages, [{
        role: "user",
        content: [{
          type: "text",
          text: `Task for scale:\n${JSON.stringify({ at: encoded.at, score: 0.5, size: encoded.size })}`
        }]
      }])
    }).pipe(Effect.provide([
      Mandate.layerMemory,
      Models.layer({ scale: [reading, Step.reportOf(scale, measure)] })
    ])))

  it.effect("C30 an agent's typed answer comes back typed", () =>
    Effect.gen(function*() {
      const agent = yield* AgentBuilder.make("lab").withOutput(Measure).build()
      const result = yield* agent.run("Go", { threadId: "t" })

      assert.deepStrictEqual(result.status, { _tag: "Completed", answer: measure })
      assert.deepStrictEqual((yield* agent.status("t")).status, result.status)
    }).pipe(Effect.provide([Mandate.layerMemory, Models.layer({ lab: [Step.report(encoded)] })])))

  it.effect("C30 numbers that JSON has no form for are no report, and the model is asked again", () =>
    Effect.gen(function*() {
      const agent = yield* lab.build()
      yield* agent.run("Go")

      const model = yield* ScriptedModel.ScriptedModel
      const [, second] = yield* model.requestsOf("lab")
      assert.deepStrictEqual(toolResults(second!.request).map(({ output }) => output.value), [
        { report: encoded },
        { report: encoded }
      ])
    }).pipe(Effect.provide([
      Mandate.layerMemory,
      Models.layer({
        lab: [Step.calls(Step.taskOf(scale, measure), Step.taskOf(scale, measure)), Step.text("done")],
        scale: Script.runs(
          [Step.reportOf(scale, { ...measure, score: Number.NaN }), Step.reportOf(scale, measure)],
          [Step.reportOf(scale, { ...measure, score: Number.NEGATIVE_INFINITY }), Step.reportOf(scale, measure)]
        )
      })
    ])))

  it.effect("C30 a report reads the same from its run and from its thread ever after, minus zero included", () =>
    Effect.gen(function*() {
      const bound = yield* scale.bind()
      const outcome = yield* bound.run(measure, { threadId: "t" })
      const { status } = yield* bound.status("t")

      const first = outcome._tag === "Reported" ? outcome.report : undefined
      assert.deepStrictEqual(status, { _tag: "Completed", answer: first! })
    }).pipe(Effect.provide([
      Mandate.layerMemory,
      Models.layer({
        scale: [Step.rawCall("submit_report", JSON.stringify(encoded).replace("0.5", "-0"))]
      })
    ])))
})

interface Tree {
  readonly name: string
  readonly children: ReadonlyArray<Tree>
}
const Tree = Schema.Struct({
  name: Schema.String,
  children: Schema.Array(Schema.suspend((): Schema.Codec<Tree> => Tree))
})
const loop: { name: string; children: Array<Tree> } = { name: "loop", children: [] }
loop.children.push(loop)
const knot: Record<string, unknown> = { name: "knot" }
knot["self"] = knot

// Each result cannot be encoded, for a reason of its own. `names` is what the failure must name.
const broken: {
  readonly [name: string]: { readonly schema: Schema.Codec<any, any>; readonly value: unknown; readonly names: string }
} = {
  "an Invalid Date": {
    schema: Schema.Struct({ when: Schema.Date }),
    value: { when: new Date(Number.NaN) },
    names: "when"
  },
  "an Invalid Date deep inside": {
    schema: Schema.Struct({ list: Schema.Array(Schema.Struct({ when: Schema.Date })) }),
    value: { list: [{ when: new Date(0) }, { when: new Date(Number.NaN) }] },
    names: "list[1].when"
  },
  "a function in Unknown": { schema: Schema.Struct({ data: Schema.Unknown }), value: { data: () => 1 }, names: "data" },
  "a function in Any": { schema: Schema.Struct({ data: Schema.Any }), value: { data: () => 1 }, names: "data" },
  "a Date in Unknown": { schema: Schema.Struct({ data: Schema.Unknown }), value: { data: new Date(0) }, names: "data" },
  "a bigint in Any": { schema: Schema.Struct({ data: Schema.Any }), value: { data: 1n }, names: "data" },
  "a nested undefined in Any": {
    schema: Schema.Struct({ data: Schema.Any }),
    value: { data: { gone: undefined } },
    names: "data"
  },
  "an undefined optional key": {
    schema: Schema.Struct({ note: Schema.optionalKey(Schema.String) }),
    value: { note: undefined },
    names: "note"
  },
  "a cycle in Unknown": { schema: Schema.Struct({ data: Schema.Unknown }), value: { data: knot }, names: "data" },
  "a cycle in Any": { schema: Schema.Struct({ data: Schema.Any }), value: { data: knot }, names: "data" },
  "a cycle in a recursive schema": { schema: Schema.Struct({ tree: Tree }), value: { tree: loop }, names: "tree" }
}

const odd = (schema: Schema.Codec<any, any>, value: unknown) =>
  TypedAgent.make("odd", { description: "Calls an odd tool", input: Schema.String, report: Schema.String })
    .withTools(Toolkit.make(Tool.make("odd_tool", { success: schema })), { odd_tool: () => Effect.succeed(value) })

describe("C30 values that cannot be encoded", () => {
  for (const [name, { names, schema, value }] of Object.entries(broken)) {
    it.effect(`C30 ${name} is that call's failure, names its field, and the run goes on`, () =>
      Effect.gen(function*() {
        const bound = yield* odd(schema, value).bind()
        const outcome = yield* bound.run("Go")

        assert.strictEqual(outcome._tag, "Reported")
        const model = yield* ScriptedModel.ScriptedModel
        const [, second] = yield* model.requests
        const results = toolResults(second!.request)
        assert.deepStrictEqual(results.map(({ isError }) => isError), [true])
        const { error } = results[0]!.output.value as { error: { reason: string; message: string } }
        assert.strictEqual(error.reason, "InvalidResult")
        assert.include(error.message, names)
        assert.match(error.message, /^The result of the tool cannot be encoded: /)
        assertPureJson(second!.request.messages)
      }).pipe(Effect.provide([
        Mandate.layerMemory,
        Models.layer({ odd: [Step.call("odd_tool"), Step.report("done")] })
      ])))

    it.effect(`C30 an input with ${name} is refused before anything starts, and names its field`, () =>
      Effect.gen(function*() {
        const child = TypedAgent.make("odd", { description: "Reads", input: schema, report: Schema.String })
        const bound = yield* child.bind()
        const error = yield* Effect.flip(bound.run(value, { threadId: "t" }))

        assert.strictEqual(error.reason._tag, "InvalidInput")
        assert.include(error.message, names)
        assert.strictEqual((yield* Effect.flip(bound.status("t"))).reason._tag, "UnknownThread")
        const model = yield* ScriptedModel.ScriptedModel
        assert.strictEqual(yield* model.calls, 0)
      }).pipe(Effect.provide([Mandate.layerMemory, Models.layer({})])))
  }

  it.effect("C30 a declared failure that cannot be encoded is the call's failure", () =>
    Effect.gen(function*() {
      const Late = Tool.make("late", { success: Schema.String, failure: Schema.Struct({ when: Schema.Date }) })
      const bound = yield* TypedAgent.text("clerk", { description: "Waits" })
        .withTools(Toolkit.make(Late), { late: () => Effect.fail({ when: new Date(Number.NaN) }) })
        .bind()
      const outcome = yield* bound.run({ description: "Wait" })

      assert.strictEqual(outcome._tag, "Reported")
      const model = yield* ScriptedModel.ScriptedModel
      const [, second] = yield* model.requests
      assert.deepStrictEqual(toolResults(second!.request).map(({ isError }) => isError), [true])
    }).pipe(Effect.provide([
      Mandate.layerMemory,
      Models.layer({ clerk: [Step.call("late"), Step.text("done")] })
    ])))

  it.effect("C30 a report that decodes to no value of its schema is asked for again, naming the field", () =>
    Effect.gen(function*() {
      const bound = yield* scale.bind()
      const outcome = yield* bound.run(measure)

      assert.deepStrictEqual(outcome._tag === "NotReported" && outcome.failure, {
        _tag: "InvalidReport",
        issues: ["size: Expected a string representing a bigint"]
      })
      const model = yield* ScriptedModel.ScriptedModel
      const [, second] = yield* model.requests
      const [refusal] = toolResults(second!.request)
      assert.isTrue(refusal!.isError)
      assert.include(JSON.stringify(refusal!.output), "at: ")
    }).pipe(Effect.provide([
      Mandate.layerMemory,
      Models.layer({
        scale: [Step.report({ ...encoded, at: "not a date" }), Step.report({ ...encoded, size: "many" })]
      })
    ])))

  it.effect("C30 what a model nests too deep to be walked is that call's failure, and the run goes on", () =>
    Effect.gen(function*() {
      const child = TypedAgent.make("child", { description: "Never runs", input: Schema.Json, report: Schema.Json })
      const bound = yield* odd(Schema.String, "").withSubagents([child]).withReasks(1)
        .withTools(Toolkit.make(Deep), { deep: () => Effect.succeed("seen") })
        .bind()
      const outcome = yield* bound.run("Go")

      assert.strictEqual(outcome._tag, "Reported")
      const model = yield* ScriptedModel.ScriptedModel
      const [, second] = yield* model.requests
      assert.deepStrictEqual(toolResults(second!.request).map(({ isError }) => isError), [true, true])
    }).pipe(Effect.provide([
      Mandate.layerMemory,
      Models.layer({
        odd: [
          Step.calls(Step.rawCall("deep", nested("data")), Step.rawCall("task_child", nested("value"))),
          Step.rawCall("submit_report", nested("value")),
          Step.report("done")
        ]
      })
    ])))
})

const Deep = Tool.make("deep", { parameters: Schema.Struct({ data: Schema.Unknown }), success: Schema.String })

const nested = (key: string): string => `{"${key}":${"[".repeat(50_000)}${"]".repeat(50_000)}}`
