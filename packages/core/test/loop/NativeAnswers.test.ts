import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Mandate, ModelRegistry, TypedAgent } from "@mandate/core"
import { type Script, ScriptedModel, Step } from "@mandate/testing"
import { Context, Effect, Layer, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Results from "../support/Results.ts"
import { ways } from "../support/Ways.ts"

const Report = Schema.Struct({
  city: Schema.String,
  pop: Schema.Number,
  note: Schema.optionalKey(Schema.String),
  counts: Schema.Record(Schema.String, Schema.Number),
  pair: Schema.Tuple([Schema.String, Schema.Int])
})
const report = { city: "Turin", pop: 850, counts: { trams: 12 }, pair: ["a", 1] as const }
const strict = { ...report, note: null, counts: [{ 0: "trams", 1: 12 }], pair: { 0: "a", 1: 1 } }
const Work = Tool.make("work", { parameters: Schema.Struct({ n: Schema.Number }), success: Schema.Number })

const Berths = Schema.Struct({
  at: Schema.Union([
    Schema.Struct({ port: Schema.String, berth: Schema.optionalKey(Schema.Int) }),
    Schema.Struct({ port: Schema.String, berth: Schema.NullOr(Schema.Int), pilot: Schema.String })
  ])
})

const clerk = AgentBuilder.make("clerk")
  .withOutput(Report)
  .withTools(Toolkit.make(Work), { work: ({ n }) => Effect.succeed(n) })

/** The memory runtime with a scripted model that declares structured answers. */
const layers = (scripts: Script.Scripts) =>
  Layer.merge(
    Mandate.layerMemory,
    Layer.effectContext(Effect.map(ScriptedModel.make(scripts), (model) =>
      Context.make(ScriptedModel.ScriptedModel, model).pipe(
        Context.add(ModelRegistry.ModelRegistry, {
          get: () => Effect.succeed({ ...model.client, structuredAnswers: true })
        })
      )))
  )

const json = (value: unknown) => Step.text(JSON.stringify(value))
const requests = Effect.map(
  Effect.flatMap(ScriptedModel.ScriptedModel, (model) => model.requests),
  (all) => all.map(({ request }) => request)
)
const told = Effect.map(requests, (all) => JSON.stringify(all.at(-1)?.messages.at(-1)))

describe("Native answers", () => {
  for (const [how, way] of ways) {
    it.effect(`the final text is the answer, tools stay beside it, and submit_report is not offered: ${how}`, () =>
      Effect.gen(function*() {
        const { status } = yield* way(yield* clerk.build(), "Go")

        const all = yield* requests
        assert.deepStrictEqual({ ...status }, { _tag: "Completed", answer: report })
        assert.strictEqual(all.length, 2)
        for (const { answer, tools } of all) {
          assert.deepStrictEqual(tools.map(({ name }) => name), ["work"])
          assert.strictEqual(answer?.name, "report")
          assert.strictEqual(answer?.schema["type"], "object")
        }
      }).pipe(Effect.provide(layers({ clerk: [Step.call("work", { n: 1 }), json(strict)] }))))
  }

  it.effect("the schema is one that strict providers take: every key required, nothing else allowed", () =>
    Effect.gen(function*() {
      yield* (yield* clerk.build()).run("Go")

      const [first] = yield* requests
      const schema = first!.answer!.schema
      assert.sameMembers(schema["required"] as Array<string>, ["city", "pop", "note", "counts", "pair"])
      assert.strictEqual(schema["additionalProperties"], false)
      assert.deepInclude(schema["properties"] as object, {
        note: { anyOf: [{ type: "string" }, { type: "null" }] },
        pop: { type: "number" }
      })
      assert.notInclude(JSON.stringify(schema), "Infinity")
    }).pipe(Effect.provide(layers({ clerk: [json(strict)] }))))

  it.effect("JSON as the schema itself encodes it is an answer too", () =>
    Effect.gen(function*() {
      const { status } = yield* (yield* clerk.build()).run("Go")

      assert.deepStrictEqual({ ...status }, { _tag: "Completed", answer: { ...report, note: "n" } })
    }).pipe(Effect.provide(layers({ clerk: [json({ ...report, note: "n" })] }))))

  for (
    const [what, step, words] of [
      ["prose", Step.text("About 850"), "JSON"],
      ["JSON of another shape", json({ ...strict, pop: "secret-850" }), "pop"]
    ] as const
  ) {
    it.effect(`${what} is asked for again, in words that name no tool`, () =>
      Effect.gen(function*() {
        const { status } = yield* (yield* clerk.build()).run("Go")

        assert.strictEqual(status._tag, "Completed")
        assert.include(yield* told, words)
        assert.notInclude(yield* told, "submit_report")
        assert.notInclude(yield* told, "secret")
      }).pipe(Effect.provide(layers({ clerk: [step, json(strict)] }))))

    it.effect(`${what} is an invalid report when no re-ask is left`, () =>
      Effect.gen(function*() {
        const { status } = yield* (yield* clerk.withReasks(0).build()).run("Go")

        assert.strictEqual(status._tag, "InvalidReport")
        assert.notInclude(JSON.stringify(status), "secret")
      }).pipe(Effect.provide(layers({ clerk: [step] }))))
  }

  it.effect("a call of submit_report is a call of an unknown tool, and text beside calls is no answer", () =>
    Effect.gen(function*() {
      const { status } = yield* (yield* clerk.build()).run("Go")

      const [, second] = yield* requests
      assert.deepStrictEqual(Results.last(second).map(Results.reason), ["UnknownTool"])
      assert.deepStrictEqual({ ...status }, { _tag: "Completed", answer: report })
    }).pipe(Effect.provide(layers({
      clerk: [Step.calls(JSON.stringify({ ...strict, city: "Milan" }), Step.report(report)), json(strict)]
    }))))

  for (const text of [{ value: [1, 2] }, [1, 2]]) {
    it.effect(`a report whose root is no object comes in its wrapper, or bare: ${JSON.stringify(text)}`, () =>
      Effect.gen(function*() {
        const { status } = yield* (yield* AgentBuilder.make("clerk").withOutput(Schema.Array(Schema.Int)).build()).run(
          "Go"
        )

        assert.deepStrictEqual({ ...status }, { _tag: "Completed", answer: [1, 2] })
      }).pipe(Effect.provide(layers({ clerk: [json(text)] }))))
  }

  it.effect("a union's member is the one that has all the keys that came, where null may stand for an absent one", () =>
    Effect.gen(function*() {
      const { status } = yield* (yield* AgentBuilder.make("clerk").withOutput(Berths).build()).run("Go")

      assert.deepStrictEqual(JSON.parse(JSON.stringify(status)), {
        _tag: "Completed",
        answer: { at: { port: "Oslo", berth: null, pilot: "Ada" } }
      })
    }).pipe(Effect.provide(layers({ clerk: [json({ at: { port: "Oslo", berth: null, pilot: "Ada" } })] }))))

  it.effect("a recursive report is asked for and read", () =>
    Effect.gen(function*() {
      const { status } = yield* (yield* AgentBuilder.make("clerk").withOutput(Node).build()).run("Go")

      assert.deepStrictEqual(JSON.parse(JSON.stringify(status)), {
        _tag: "Completed",
        answer: { name: "a", next: { name: "b" } }
      })
    }).pipe(Effect.provide(layers({ clerk: [json({ name: "a", next: { name: "b", next: null } })] }))))

  it.effect("a typed child reports natively to a parent that answers in text", () =>
    Effect.gen(function*() {
      const { status } = yield* (yield* AgentBuilder.make("parent").withSubagents([child]).build()).run("Go")

      const all = yield* requests
      assert.deepStrictEqual(all.map(({ answer }) => answer?.name), [undefined, "report", undefined])
      assert.deepStrictEqual(Results.last(all[2]), [Results.reported("task_child", { city: "Turin" })])
      assert.deepStrictEqual({ ...status }, { _tag: "Completed", answer: "done" })
    }).pipe(Effect.provide(layers({
      parent: [Step.call("task_child", { city: "Turin" }), Step.text("done")],
      child: [json({ city: "Turin" })]
    }))))
})

interface Node {
  readonly name: string
  readonly next?: Node
}

const Node = Schema.Struct({
  name: Schema.String,
  next: Schema.optionalKey(Schema.suspend((): Schema.Codec<Node> => Node))
})

const child = TypedAgent.make("child", {
  description: "Looks a city up",
  input: Schema.Struct({ city: Schema.String }),
  report: Schema.Struct({ city: Schema.String })
})
