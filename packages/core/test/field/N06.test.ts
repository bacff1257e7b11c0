import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Mandate, ToolContext, TypedAgent } from "@mandate/core"
import { ScriptedModel, Step } from "@mandate/testing"
import { Effect, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Models from "../support/Models.ts"
import * as Results from "../support/Results.ts"

const Opaque = Schema.instanceOf(Map)
const Declared = Schema.declare((value): value is Date => value instanceof Date)

interface Node {
  readonly value: unknown
  readonly next?: Node
}
const Recursive: Schema.Codec<Node> = Schema.Struct({
  next: Schema.optionalKey(Schema.suspend(() => Recursive)),
  value: Opaque
})

const unsupported: ReadonlyArray<readonly [what: string, schema: Schema.Codec<any, any>, path: string]> = [
  ["an instance", Opaque, "the value"],
  ["a declared type", Declared, "the value"],
  ["a property", Schema.Struct({ f: Opaque }), "f"],
  ["an optional property", Schema.Struct({ f: Schema.optionalKey(Declared) }), "f"],
  ["an `optional` property", Schema.Struct({ f: Schema.optional(Declared) }), "f"],
  ["a property of a property", Schema.Struct({ a: Schema.Struct({ f: Opaque }) }), "a.f"],
  ["an element of an array", Schema.Struct({ f: Schema.Array(Opaque) }), "f.*"],
  ["an element of a tuple", Schema.Struct({ f: Schema.Tuple([Schema.String, Opaque]) }), "f[1]"],
  ["the rest of a tuple", Schema.TupleWithRest(Schema.Tuple([Schema.String]), [Opaque]), "*"],
  ["a member of a union", Schema.Struct({ f: Schema.Union([Schema.String, Opaque]) }), "f"],
  ["a value of a record", Schema.Record(Schema.String, Opaque), "*"],
  ["a part of a recursive schema", Recursive, "value"],
  ["a suspended schema", Schema.Struct({ f: Schema.suspend(() => Opaque) }), "f"],
  ["a property of a class", class Own extends Schema.Class<Own>("Own")({ f: Opaque }) {}, "f"],
  ["a value of a map", Schema.Struct({ f: Schema.ReadonlyMap(Schema.String, Opaque) }), "f.*[1]"],
  ["the value of an option", Schema.Struct({ f: Schema.Option(Opaque) }), "f.value"],
  [
    "the source of a transformation",
    Schema.Struct({
      f: Schema.Struct({ g: Opaque }).pipe(Schema.decodeTo(Schema.Struct({ g: Schema.Any })))
    }),
    "f.g"
  ]
]

const supported: ReadonlyArray<readonly [what: string, schema: Schema.Codec<any, any>]> = [
  ["anything", Schema.Struct({ f: Schema.Unknown, g: Schema.Any, h: Schema.Json })],
  ["an object or an array", Schema.Struct({ f: Schema.ObjectKeyword })],
  [
    "a date, a map and bytes",
    Schema.Struct({
      f: Schema.Date,
      g: Schema.ReadonlyMap(Schema.String, Schema.Int),
      h: Schema.Uint8Array
    })
  ],
  [
    "a declared type with a codec of its own",
    Schema.Struct({
      f: Schema.declare((value): value is Date => value instanceof Date, {
        toCodecJson: () => undefined
      })
    })
  ],
  [
    "a type that is decoded from JSON",
    Schema.Struct({
      f: Schema.Json.pipe(Schema.decodeTo(Schema.Any))
    })
  ],
  ["a property that must be absent", Schema.Struct({ f: Schema.optionalKey(Schema.Never) })]
]

const problemsOf = (agent: AgentBuilder.AgentBuilder<any> | TypedAgent.TypedAgent<any, any>) =>
  Effect.map(
    Effect.flip("bind" in agent ? Effect.asVoid(agent.bind()) : Effect.asVoid(agent.build())),
    ({ problems }) => problems.map(({ kind, message }) => [kind, message] as const)
  )

const tools = (tool: Tool.Any) =>
  AgentBuilder.make("a").withTools(
    Toolkit.make(tool),
    { look: () => Effect.void } as never
  ) as AgentBuilder.AgentBuilder<
    string
  >

describe("N06 schemas without a JSON form", () => {
  for (const [what, schema, path] of unsupported) {
    it.effect(`N06 ${what} is refused where the agent is bound, with the path`, () =>
      Effect.gen(function*() {
        const places = [
          ["report", AgentBuilder.make("a").withOutput(schema)],
          ["input", TypedAgent.make("a", { description: "Works", input: schema, report: Schema.String })],
          ["report", TypedAgent.make("a", { description: "Works", input: Schema.String, report: schema })],
          ["parameters of the tool \"look\"", tools(Tool.make("look", { parameters: schema }))],
          ["result of the tool \"look\"", tools(Tool.make("look", { success: schema }))]
        ] as const
        for (const [place, agent] of places) {
          const problems = yield* problemsOf(agent)

          assert.lengthOf(problems, 1)
          assert.strictEqual(problems[0]![0], "UnsupportedSchema")
          assert.include(problems[0]![1], `the schema of the ${place} has no JSON form at ${path}: `)
        }
      }).pipe(Effect.provide([Mandate.layerMemory, Models.layer({})])))
  }

  for (const [what, schema] of supported) {
    it.effect(`N06 ${what} has one`, () =>
      Effect.gen(function*() {
        yield* AgentBuilder.make("a").withOutput(schema).build()
        yield* tools(Tool.make("look", { parameters: schema, success: schema })).build()
      }).pipe(Effect.provide([Mandate.layerMemory, Models.layer({})])))
  }

  it.effect("N06 a question whose answer has none is not asked, and nothing is done whose value has none", () =>
    Effect.gen(function*() {
      let done = 0
      const two = Toolkit.make(Tool.make("ask"), Tool.make("once"))
      const agent = yield* AgentBuilder.make("a").withTools(two, {
        ask: () => Effect.asVoid(ToolContext.ask("Which?", { answer: Schema.Struct({ f: Opaque }) })),
        once: () => Effect.asVoid(ToolContext.once("n", Opaque, Effect.sync(() => new Map([[done++, 1]]))))
      }).build()
      const { status } = yield* agent.run("Go")
      const model = yield* ScriptedModel.ScriptedModel
      const results = Results.last((yield* model.requestsOf("a")).at(-1)?.request)

      assert.strictEqual(status._tag, "Completed")
      assert.deepStrictEqual(results.map(Results.reason), ["ToolFailed", "ToolFailed"])
      assert.strictEqual(done, 0)
    }).pipe(Effect.provide([
      Mandate.layerMemory,
      Models.layer({ a: [Step.calls(Step.call("ask"), Step.call("once")), Step.text("done")] })
    ])))
})
