import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Json, Mandate, ModelRegistry, TypedAgent } from "@mandate/core"
import { type Script, ScriptedModel, Step } from "@mandate/testing"
import { Context, Effect, Layer, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { backings } from "../support/Backings.ts"
import * as Postures from "../support/Postures.ts"
import * as Waiting from "../support/Waiting.ts"

interface Tree {
  readonly name: string
  readonly note?: string
  readonly children?: ReadonlyArray<Tree>
}
const Tree: Schema.Codec<Tree> = Schema.Struct({
  name: Schema.String,
  note: Schema.optionalKey(Schema.String),
  children: Schema.optionalKey(Schema.Array(Schema.suspend(() => Tree)))
})

const Note = Schema.Struct({ text: Schema.String, at: Schema.optionalKey(Schema.Finite) })

/** Of each: the schema, what a model wrote, and the value that it stands for. */
const variants: ReadonlyArray<readonly [what: string, schema: Schema.Codec<any, any>, json: unknown, value: unknown]> =
  [
    ["a property", Note, { text: "x", at: null }, { text: "x" }],
    ["all properties", Schema.Struct({ a: Schema.optionalKey(Schema.Int) }), { a: null }, {}],
    ["an `optional` property", Schema.Struct({ a: Schema.optional(Schema.String) }), { a: null }, {}],
    [
      "a property of a struct in a struct",
      Schema.Struct({ note: Note }),
      { note: { text: "x", at: null } },
      { note: { text: "x" } }
    ],
    ["a property in an array", Schema.Struct({ all: Schema.Array(Note) }), { all: [{ text: "x", at: null }] }, {
      all: [{ text: "x" }]
    }],
    ["a property in a record", Schema.Record(Schema.String, Note), { k: { text: "x", at: null } }, {
      k: { text: "x" }
    }],
    [
      "a property beside a record",
      Schema.StructWithRest(Schema.Struct({ n: Schema.optionalKey(Schema.Int) }), [
        Schema.Record(Schema.String, Schema.Int)
      ]),
      { n: null, m: 1 },
      { m: 1 }
    ],
    ["a property in a tuple", Schema.Tuple([Note, Schema.Int]), [{ text: "x", at: null }, 1], [{ text: "x" }, 1]],
    ["the last element of a tuple", Schema.Tuple([Schema.Int, Schema.optionalKey(Schema.String)]), [1, null], [1]],
    ["properties of a recursive schema", Tree, {
      name: "a",
      note: null,
      children: [{ name: "b", note: null, children: null }]
    }, { name: "a", children: [{ name: "b" }] }],
    [
      "a property of one member of a union",
      Schema.Struct({ at: Schema.Union([Schema.String, Note]) }),
      { at: { text: "x", at: null } },
      { at: { text: "x" } }
    ],
    [
      "a property of a member that a tag names",
      Schema.Union([
        Schema.Struct({ kind: Schema.Literal("a"), n: Schema.NullOr(Schema.Int) }),
        Schema.Struct({ kind: Schema.Literal("b"), n: Schema.optionalKey(Schema.Int) })
      ]),
      { kind: "b", n: null },
      { kind: "b" }
    ],
    [
      "a property with a default",
      Schema.Struct({ n: Schema.Finite.pipe(Schema.withDecodingDefaultKey(Effect.succeed(10))) }),
      { n: null },
      { n: 10 }
    ],
    ["a property whose value is encoded", Schema.Struct({ d: Schema.optionalKey(Schema.Date) }), { d: null }, {}],
    ["a property of a class", class Own extends Schema.Class<Own>("Own")({ a: Schema.optionalKey(Schema.Int) }) {}, {
      a: null
    }, {}]
  ]

/** `null` that the schema takes. */
const kept: typeof variants = [
  [
    "an optional property that takes null",
    Schema.Struct({ a: Schema.optionalKey(Schema.NullOr(Schema.Int)) }),
    { a: null },
    { a: null }
  ],
  ["an optional property that is any JSON", Schema.Struct({ a: Schema.optionalKey(Schema.Json) }), { a: null }, {
    a: null
  }],
  [
    "an optional property that takes null beside one that does not, and a record",
    Schema.Struct({
      a: Schema.optionalKey(Schema.NullOr(Schema.Int)),
      b: Schema.optionalKey(Schema.Int),
      c: Schema.Record(Schema.String, Schema.Int)
    }),
    { a: null, b: null, c: { k: 1 } },
    { a: null, c: { k: 1 } }
  ],
  [
    "a property of the member of a union that takes it, when another would leave it out",
    Schema.Struct({
      b: Schema.optionalKey(Schema.Int),
      at: Schema.Union([
        Schema.Struct({ n: Schema.optionalKey(Schema.Int) }),
        Schema.Struct({ n: Schema.Null })
      ])
    }),
    { b: null, at: { n: null } },
    { at: { n: null } }
  ]
]

const refusedJson: ReadonlyArray<readonly [what: string, schema: Schema.Codec<any, any>, json: unknown]> = [
  ["a required property", Schema.Struct({ a: Schema.Int }), { a: null }],
  ["a value of a record", Schema.Record(Schema.String, Schema.Int), { a: null }],
  ["an element of an array", Schema.Struct({ a: Schema.Array(Schema.Int) }), { a: [null] }]
]

const layers = (structuredAnswers: boolean, scripts: Script.Scripts) =>
  Layer.merge(
    Mandate.layerMemory,
    Layer.effectContext(Effect.map(ScriptedModel.make(scripts), (model) =>
      Context.make(ScriptedModel.ScriptedModel, model).pipe(
        Context.add(ModelRegistry.ModelRegistry, { get: () => Effect.succeed({ ...model.client, structuredAnswers }) })
      )))
  )

const isObject = (json: unknown) => typeof json === "object" && json !== null && !Array.isArray(json)
const wire = (schema: Schema.Codec<any, any>, json: unknown) =>
  isObject(json) && !(schema.ast._tag === "Union") ? json : { value: json }

/** What comes of a report, given natively or through the tool. */
const reported = (schema: Schema.Codec<any, any>, json: unknown, native: boolean) => {
  const given = wire(schema, json)
  const step = native ? Step.text(JSON.stringify(given)) : Step.call("submit_report", given as Json.Json)
  return Effect.gen(function*() {
    const { status } = yield* (yield* AgentBuilder.make("a").withOutput(schema).withReasks(0).build()).run("Go")
    return status
  }).pipe(Effect.provide(layers(native, { a: [step] })))
}

/** What the handler of a tool is called with. */
const called = Effect.fnUntraced(function*(schema: Schema.Codec<any, any>, json: unknown) {
  const seen: Array<unknown> = []
  const tools = Toolkit.make(Tool.make("look", { parameters: schema, success: Schema.String }))
  const agent = AgentBuilder.make("a").withTools(tools, {
    look: (params: unknown) => Effect.as(Effect.sync(() => seen.push(params)), "seen")
  } as never) as AgentBuilder.AgentBuilder<string>
  yield* Effect.provide(
    Effect.flatMap(agent.build(), (agent) => agent.run("Go")),
    layers(false, { a: [Step.call("look", wire(schema, json) as Json.Json), Step.text("done")] })
  )
  return seen
})

/** What a subagent is given as its input. */
const delegated = Effect.fnUntraced(function*(schema: Schema.Codec<any, any>, json: unknown) {
  const seen: Array<unknown> = []
  const child = TypedAgent.make("child", { description: "Works", input: schema, report: Schema.String })
    .withInputText((input) => {
      seen.push(input)
      return "Work"
    })
  yield* Effect.provide(
    Effect.flatMap(AgentBuilder.make("a").withSubagents([child]).build(), (agent) => agent.run("Go")),
    layers(false, {
      a: [Step.call("task_child", wire(schema, json) as Json.Json), Step.text("done")],
      child: [Step.report({ value: "ok" })]
    })
  )
  return seen
})

const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))

describe("F31 null for an optional key", () => {
  for (const [what, schema, json, value] of [...variants, ...kept]) {
    for (const native of [false, true]) {
      it.effect(`F31 ${what} has one value in a report, native: ${native}`, () =>
        Effect.gen(function*() {
          const status = yield* reported(schema, json, native)

          assert.strictEqual(status._tag, "Completed")
          assert.deepStrictEqual(status._tag === "Completed" && plain(status.answer), plain(value))
        }))
    }

    it.effect(`F31 ${what} has the same value in the arguments of a tool and in a task`, () =>
      Effect.gen(function*() {
        const [argument] = yield* called(schema, json)
        const [input] = yield* delegated(schema, json)

        assert.deepStrictEqual(plain(argument), plain(value))
        assert.deepStrictEqual(plain(input), plain(value))
      }))
  }

  for (const [what, schema, json] of refusedJson) {
    it.effect(`F31 ${what} is refused, in a report and in arguments`, () =>
      Effect.gen(function*() {
        assert.strictEqual((yield* reported(schema, json, false))._tag, "InvalidReport")
        assert.strictEqual((yield* reported(schema, json, true))._tag, "InvalidReport")
        assert.deepStrictEqual(yield* called(schema, json), [])
      }))
  }

  it.effect("F31 an absent key, as an undefined one, is absent for the handler", () =>
    Effect.gen(function*() {
      const [params] = yield* called(Schema.Struct({ a: Schema.optional(Schema.String) }), { a: null })

      assert.deepStrictEqual(Object.keys(params as object), [])
    }))

  const Sample = Schema.Struct({
    a: Schema.optionalKey(Schema.String),
    b: Schema.optionalKey(Schema.NullOr(Schema.Boolean)),
    c: Schema.optionalKey(Schema.Array(Schema.Struct({ d: Schema.optionalKey(Schema.Int), e: Schema.Boolean }))),
    f: Schema.optionalKey(Schema.Record(Schema.String, Schema.Struct({ g: Schema.optionalKey(Schema.String) })))
  })

  const filled = (value: typeof Sample.Type) => ({
    a: value.a ?? null,
    b: value.b ?? null,
    c: value.c?.map(({ d, e }) => ({ d: d ?? null, e })) ?? null,
    f: value.f === undefined
      ? null
      : Object.fromEntries(Object.entries(value.f).map(([key, { g }]) => [key, { g: g ?? null }]))
  })

  it.effect.prop("F31 both ways of reporting give one value", [Sample], ([value]) =>
    Effect.gen(function*() {
      const expected = { ...value, b: value.b ?? null }
      const [submitted, native] = [
        yield* reported(Sample, filled(value), false),
        yield* reported(Sample, filled(value), true)
      ]

      assert.deepStrictEqual(
        submitted._tag === "Completed" && plain(submitted.answer),
        plain(Json.stringify(expected).value)
      )
      assert.deepStrictEqual(native._tag === "Completed" && plain(native.answer), plain(Json.stringify(expected).value))
    }), { arbitrary: { runs: 20 } })
})

describe.each(backings)("F31 a report that was stored, in $name", ({ place }) => {
  it.effect("F31 has in the history the value that it had first", () =>
    Effect.gen(function*() {
      const model = yield* ScriptedModel.make({ a: [Step.call("submit_report", { text: "x", at: null })] })
      const { next } = Waiting.processesOf(yield* place, model)
      const agent = AgentBuilder.make("a").withOutput(Note)
      const { status } = yield* next(Effect.flatMap(agent.build(), (agent) => agent.run("Go", { threadId: "t" })))
      const again = yield* next(Effect.flatMap(agent.build(), (agent) => agent.status("t")))

      assert.deepStrictEqual({ ...status }, { _tag: "Completed", answer: { text: "x" } })
      assert.include(JSON.stringify(again), JSON.stringify({ text: "x" }))
      assert.notInclude(JSON.stringify(again), "null")
    }))
})

describe("F31 the delegate tool", () => {
  it.effect("F31 limits that are null are none, and a context that is null is null", () =>
    Effect.gen(function*() {
      const agent = yield* AgentBuilder.make("lead").withPostures().build()
      const { usage } = yield* agent.run("Go", { threadId: "t" })

      const model = yield* ScriptedModel.ScriptedModel
      const [first] = yield* model.requestsOf("scout")
      assert.strictEqual(usage.tree.childRuns, 1)
      assert.include(JSON.stringify(first?.request.messages), "null\\n\\nTask:\\nLook")
    }).pipe(Effect.provide(Postures.runtime([{ name: "scout", description: "Looks", instructions: "Look." }], {
      lead: [
        Step.call("delegate", {
          posture: "scout",
          task: "Look",
          context: null,
          maxTokens: null,
          maxToolCalls: null,
          timeoutSeconds: null
        }),
        Step.text("done")
      ],
      scout: [Step.text("seen")]
    }))))
})
