import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Mandate, ModelRegistry, TypedAgent } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Context, Effect, Layer, Schema } from "effect"
import { z } from "zod"
import { backings } from "../support/Backings.ts"
import * as Results from "../support/Results.ts"
import * as Waiting from "../support/Waiting.ts"

const Report = z.object({
  city: z.string().min(2),
  note: z.string().optional(),
  rating: z.number().default(3),
  spots: z.array(z.object({ name: z.string(), far: z.number().optional() })).optional()
})

const layers = (structuredAnswers: boolean, scripts: Script.Scripts) =>
  Layer.merge(
    Mandate.layerMemory,
    Layer.effectContext(Effect.map(ScriptedModel.make(scripts), (model) =>
      Context.make(ScriptedModel.ScriptedModel, model).pipe(
        Context.add(ModelRegistry.ModelRegistry, { get: () => Effect.succeed({ ...model.client, structuredAnswers }) })
      )))
  )

const written = { city: "Oslo", note: null, spots: [{ name: "harbour", far: null }] }
const value = { city: "Oslo", rating: 3, spots: [{ name: "harbour" }] }

describe("N14 Standard Schemas", () => {
  for (const native of [false, true]) {
    it.effect(`N14 an output has the value that the library gives, native: ${native}`, () =>
      Effect.gen(function*() {
        const { status } = yield* (yield* AgentBuilder.make("a").withOutput(Report).build()).run("Go")

        assert.deepStrictEqual({ ...status }, { _tag: "Completed", answer: value })
      }).pipe(Effect.provide(layers(native, {
        a: [native ? Step.text(JSON.stringify(written)) : Step.report(written)]
      }))))

    it.effect(`N14 what the library refuses is asked for again, without the value, native: ${native}`, () =>
      Effect.gen(function*() {
        const { status } = yield* (yield* AgentBuilder.make("a").withOutput(Report).withReasks(0).build()).run("Go")

        assert.strictEqual(status._tag, "InvalidReport")
        assert.include(JSON.stringify(status), "city: Expected a valid value")
        assert.include(JSON.stringify(status), "rating: Expected number")
      }).pipe(Effect.provide(layers(native, {
        a: [native ? Step.text("{\"city\":\"O\",\"rating\":\"SECRET\"}") : Step.report({ city: "O", rating: "SECRET" })]
      }))))
  }

  it.effect("N14 a root that is no object is wrapped for the model", () =>
    Effect.gen(function*() {
      const { status } = yield* (yield* AgentBuilder.make("a").withOutput(z.array(z.number())).build()).run("Go")

      assert.deepStrictEqual({ ...status }, { _tag: "Completed", answer: [1, 2] })
    }).pipe(Effect.provide(layers(false, { a: [Step.report({ value: [1, 2] })] }))))

  it.effect("N14 a transformation and a check that waits are applied once", () =>
    Effect.gen(function*() {
      const Slow = z.object({ n: z.string().transform(Number).pipe(z.number()) }).refine(async () => true)
      const { status } = yield* (yield* AgentBuilder.make("a").withOutput(Slow).build()).run("Go")

      assert.deepStrictEqual({ ...status }, { _tag: "Completed", answer: { n: 5 } })
    }).pipe(Effect.provide(layers(false, { a: [Step.report({ n: "5" })] }))), 5_000)

  it.effect("N14 a number that is not exact, and one that is a text, are refused", () =>
    Effect.gen(function*() {
      const agent = yield* AgentBuilder.make("a").withOutput(z.object({ n: z.number() })).withReasks(0).build()
      const [big, text] = [yield* agent.run("Go"), yield* agent.run("Go")]

      assert.include(JSON.stringify(big.status), "n: an integer beyond 2^53 cannot be read exactly")
      assert.strictEqual(text.status._tag, "InvalidReport")
    }).pipe(Effect.provide(layers(false, {
      a: Script.runs([Step.calls(Step.rawCall("submit_report", "{\"n\":9007199254740993}"))], [
        Step.report({ n: "NaN" })
      ])
    }))))

  it.effect("N14 what has no JSON is a problem of the definition", () =>
    Effect.gen(function*() {
      const withoutJson = {
        "~standard": { version: 1 as const, vendor: "own", validate: (value: unknown) => ({ value }) }
      }
      const problems = yield* Effect.forEach([
        z.object({ at: z.date() }),
        z.object({ at: z.map(z.string(), z.number()) }),
        z.object({ at: z.iso.date().transform((at) => new Date(at)) }),
        withoutJson
      ], (schema) =>
        Effect.map(Effect.flip(AgentBuilder.make("a").withOutput(schema).build()), ({ problems }) =>
          problems[0]))

      for (const problem of problems) {
        assert.strictEqual(problem.kind, "UnsupportedSchema")
        assert.match(problem.message, /^the schema of the report (has no JSON form: |gives no JSON Schema)/)
      }
    }).pipe(Effect.provide(layers(false, {}))))
})

describe.each(backings)("N14 a subagent with Standard Schemas, in $name", ({ place }) => {
  it.effect("N14 it is given and gives values of its schemas, also to another process", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const child = TypedAgent.make("child", {
        description: "Works",
        input: z.object({ topic: z.string().min(1), depth: z.number().default(2), about: z.string().optional() }),
        report: Report
      }).withInputText((input) => {
        seen.push(input)
        return `Look into ${input.topic}`
      })
      const mixed = TypedAgent.make("mixed", { description: "Works", input: Schema.String, report: Report })
      const model = yield* ScriptedModel.make({
        lead: [
          Step.calls(
            Step.call("task_child", { topic: "tides", about: null }),
            Step.call("task_child", { topic: "" })
          ),
          Step.text("done")
        ],
        child: Script.runs([Step.report(written)], [Step.report({ city: "Bergen" })])
      })
      const { next } = Waiting.processesOf(yield* place, model)
      const lead = AgentBuilder.make("lead").withSubagents([child, mixed])
      yield* next(Effect.flatMap(lead.build(), (agent) => agent.run("Go", { threadId: "t" })))
      const results = Results.last((yield* model.requestsOf("lead")).at(-1)?.request)
      const own = yield* next(Effect.flatMap(child.bind(), (bound) => bound.run({ topic: "x", depth: 1 })))
      const refused = yield* next(
        Effect.flatMap(child.bind(), (bound) => Effect.flip(bound.run({ topic: "", depth: 1 })))
      )

      assert.deepStrictEqual(seen[0], { topic: "tides", depth: 2 })
      assert.deepStrictEqual(results[0], Results.reported("task_child", value))
      assert.strictEqual(results[1] && Results.reason(results[1]), "InvalidInput")
      assert.deepStrictEqual(own._tag === "Reported" && own.report, { city: "Bergen", rating: 3 })
      assert.include(refused.message, "topic: Expected a valid value")
    }))
})
