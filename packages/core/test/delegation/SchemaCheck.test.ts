import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, DelegateRuntime, Mandate, ModelRegistry, ToolCatalog, TypedAgent } from "@mandate/core"
import { ScriptedModel, Step } from "@mandate/testing"
import { Effect, Layer, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Postures from "../support/Postures.ts"

const Odd = Schema.Struct({ odd: Schema.String })
const Even = Schema.Struct({ even: Schema.String })
const Count = Tool.make("count", { parameters: Odd, success: Schema.String })
const Loose = Tool.make("loose", { parameters: Odd, success: Schema.String }).annotate(Tool.Strict, false)
const Plain = Tool.make("plain", { parameters: Even, success: Schema.String })

/** A registry of one model, which takes no schema with a key `odd`. */
const registryOf = (
  { client }: ScriptedModel.ScriptedModel["Service"],
  structuredAnswers: boolean
): ModelRegistry.ModelRegistry["Service"] => ({
  get: () =>
    Effect.succeed({
      ...client,
      structuredAnswers,
      modelId: "picky",
      refusesSchema: (schema: object) => JSON.stringify(schema).includes("odd") ? "is odd" : undefined
    })
})

const picky = (structuredAnswers: boolean) =>
  Layer.merge(
    Mandate.layerMemory,
    Layer.effect(
      ModelRegistry.ModelRegistry,
      Effect.map(ScriptedModel.make({}), (model) => registryOf(model, structuredAnswers))
    )
  )

const agent = (id: string, input: Schema.Codec<any, any>, report: Schema.Codec<any, any>) =>
  TypedAgent.make(id, { description: "Works", input, report })

const problems = <O, R>(builder: AgentBuilder.AgentBuilder<O, R>) =>
  Effect.map(Effect.flip(builder.build()), (error) => error._tag === "AgentDefinitionError" ? error.problems : [])

const odd = (what: string) => `the schema of the ${what} is odd; the model "picky" cannot be held to it`

describe("Schemas that a model refuses", () => {
  for (const native of [false, true]) {
    it.effect(`every one is a problem of the definition${native ? ", native answers too" : ""}`, () =>
      Effect.gen(function*() {
        const lead = AgentBuilder.make("lead")
          .withSubagents([agent("scout", Odd, Even), agent("clerk", Even, Odd), agent("fine", Even, Even)])
          .withTools(Toolkit.make(Count, Loose), { count: () => Effect.succeed(""), loose: () => Effect.succeed("") })

        assert.deepStrictEqual((yield* problems(lead)).map((problem) => ({ ...problem })), [
          { agent: "lead > clerk", kind: "UnsupportedSchema", message: odd("report") },
          { agent: "lead", kind: "UnsupportedSchema", message: odd("parameters of the tool \"count\"") },
          { agent: "lead", kind: "UnsupportedSchema", message: odd("input of the subagent \"scout\"") }
        ])
      }).pipe(Effect.provide(picky(native)), Effect.scoped))
  }

  it.effect("a family without any is bound", () =>
    Effect.gen(function*() {
      const lead = AgentBuilder.make("lead").withSubagents([agent("fine", Even, Even)])
        .withTools(Toolkit.make(Loose), { loose: () => Effect.succeed("") })
      assert.isDefined(yield* lead.build())
    }).pipe(Effect.provide(picky(false)), Effect.scoped))

  it.effect("are not asked about the delegate tool, whose context may be anything", () =>
    Effect.gen(function*() {
      const model = yield* ScriptedModel.make({ lead: [Step.text("done")] })
      const client = { ...model.client, modelId: "picky", refusesSchema: () => "may be anything" }
      yield* Effect.flatMap(AgentBuilder.make("lead").withPostures().build(), (lead) => lead.run("Go")).pipe(
        Effect.provide(
          DelegateRuntime.layer().pipe(Layer.provideMerge(Layer.mergeAll(
            Postures.parts([Postures.posture("scout")]),
            Mandate.layerMemory,
            Layer.succeed(ModelRegistry.ModelRegistry, { get: () => Effect.succeed(client) })
          )))
        )
      )

      const [request] = yield* model.requests
      assert.deepStrictEqual(request?.request.tools.map(({ name, strict }) => [name, strict]), [["delegate", false]])
    }))

  it.effect("of a tool of the catalog leaves that tool out of a run, which has the others", () =>
    Effect.gen(function*() {
      const model = yield* ScriptedModel.make({ lead: [Step.text("done")] })
      yield* Effect.gen(function*() {
        yield* ToolCatalog.add(Toolkit.make(Count, Loose, Plain), {
          count: () => Effect.succeed(""),
          loose: () => Effect.succeed(""),
          plain: () => Effect.succeed("")
        })
        const lead = yield* AgentBuilder.make("lead").withCatalogTools(["count", "loose", "plain"]).build()
        yield* lead.run("Go")
      }).pipe(Effect.provide([
        Mandate.layerMemory,
        ToolCatalog.layer,
        Layer.succeed(ModelRegistry.ModelRegistry, registryOf(model, false))
      ]))

      const [request] = yield* model.requests
      assert.deepStrictEqual(request?.request.tools.map(({ name }) => name), ["loose", "plain"])
    }))
})
