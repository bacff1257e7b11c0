import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect, Result, Schema } from "effect"
import type * as Json from "../../src/values/Json.ts"
import * as JsonCodec from "../../src/values/JsonCodec.ts"

const make = <A>(schema: Schema.Codec<A, any>): JsonCodec.JsonCodec<A> => Result.getOrThrow(JsonCodec.make(schema))

const run = <A, E>(effect: Effect.Effect<A, E, unknown>): A => Effect.runSync(effect as Effect.Effect<A, E>)

const issuesOf = (effect: Effect.Effect<unknown, JsonCodec.Issues, unknown>): JsonCodec.Issues =>
  run(Effect.flip(effect))

const throughText = (json: Json.Json): Json.Json => JSON.parse(JSON.stringify(json)) as Json.Json

class Note extends Schema.Class<Note>("Note")({ text: Schema.String, at: Schema.Date }) {}

interface Tree {
  readonly name: string
  readonly children: ReadonlyArray<Tree>
}
const Tree = Schema.Struct({
  name: Schema.String,
  children: Schema.Array(Schema.suspend((): Schema.Codec<Tree> => Tree))
})

type Chain = string | { readonly next: Chain }
const Chain: Schema.Codec<Chain> = Schema.Union([
  Schema.String,
  Schema.Struct({ next: Schema.suspend((): Schema.Codec<Chain> => Chain) })
])

const Rich = Schema.Struct({
  at: Schema.Date,
  size: Schema.BigInt,
  note: Schema.optionalKey(Schema.String),
  score: Schema.Number,
  tags: Schema.Record(Schema.String, Schema.NullOr(Schema.Finite)),
  bytes: Schema.Uint8Array
})

// JSON text has no minus zero.
const withoutMinusZero = (value: typeof Rich.Type) => ({
  ...value,
  score: value.score + 0,
  tags: Object.fromEntries(Object.entries(value.tags).map(([key, tag]) => [key, tag === null ? null : tag + 0]))
})

const objects: { readonly [name: string]: readonly [Schema.Codec<any, any>, unknown, Json.Json] } = {
  "a struct": [Schema.Struct({ a: Schema.String }), { a: "x" }, { a: "x" }],
  "a record": [Schema.Record(Schema.String, Schema.Finite), { b: 1 }, { b: 1 }],
  "a class": [Note, new Note({ text: "x", at: new Date(0) }), { text: "x", at: "1970-01-01T00:00:00.000Z" }],
  "a recursive struct": [
    Tree,
    { name: "a", children: [{ name: "b", children: [] }] },
    { name: "a", children: [{ name: "b", children: [] }] }
  ],
  "a struct with a name of its own": [Schema.Struct({ a: Schema.String }).annotate({ identifier: "Own" }), { a: "x" }, {
    a: "x"
  }]
}

const others: { readonly [name: string]: readonly [Schema.Codec<any, any>, unknown, Json.Json] } = {
  "a string": [Schema.String, "x", "x"],
  "a number": [Schema.Number, 1.5, 1.5],
  "a boolean": [Schema.Boolean, false, false],
  "null": [Schema.Null, null, null],
  "a date": [Schema.Date, new Date(0), "1970-01-01T00:00:00.000Z"],
  "a bigint": [Schema.BigInt, 10n, "10"],
  "an array": [Schema.Array(Schema.String), ["x"], ["x"]],
  "a tuple": [Schema.Tuple([Schema.String, Schema.Finite]), ["x", 1], ["x", 1]],
  "a union of structs": [
    Schema.Union([Schema.Struct({ a: Schema.String }), Schema.Struct({ b: Schema.String })]),
    { b: "x" },
    { b: "x" }
  ],
  "a recursive union": [Chain, { next: { next: "end" } }, { next: { next: "end" } }],
  "any JSON": [Schema.Json, { a: [1, null] }, { a: [1, null] }],
  "something unknown": [Schema.Unknown, [{ a: true }], [{ a: true }]]
}

describe("JsonCodec", () => {
  for (const [name, [schema, value, json]] of Object.entries({ ...objects, ...others })) {
    it(`encodes and decodes ${name} as its JSON, without a wrapper`, () => {
      const codec = make(schema)

      assert.deepStrictEqual(run(codec.encode(value)), json)
      assert.deepStrictEqual(run(codec.decode(throughText(json))), value)
    })
  }

  for (const [name, [schema, value, json]] of Object.entries(objects)) {
    it(`shows a model ${name} as an object`, () => {
      const codec = make(schema)

      assert.isFalse(codec.isWrapped)
      assert.strictEqual(codec.modelSchema["type"], "object")
      assert.notProperty(codec.modelSchema, "$ref")
      assert.deepStrictEqual(run(codec.fromModel(json)), value)
    })
  }

  for (const [name, [schema, value, json]] of Object.entries(others)) {
    it(`shows a model ${name} under the key "value", and takes it only there`, () => {
      const codec = make(schema)

      assert.isTrue(codec.isWrapped)
      assert.strictEqual(codec.modelSchema["type"], "object")
      assert.deepStrictEqual(codec.modelSchema["required"], ["value"])
      assert.hasAllKeys(codec.modelSchema["properties"], ["value"])
      assert.deepStrictEqual(run(codec.fromModel({ value: json })), value)
      assert.isNotEmpty(issuesOf(codec.fromModel({})))
      if (typeof json !== "object") assert.isNotEmpty(issuesOf(codec.fromModel(json)))
    })
  }

  it("shows the object that stands behind the reference of a class, and what it refers to", () => {
    const { modelSchema } = make(Schema.Struct({ notes: Schema.Array(Note), tree: Tree }))
    const references = [...JSON.stringify(modelSchema).matchAll(/"#\/\$defs\/([^"]+)"/g)].map((match) => match[1])

    assert.isNotEmpty(references)
    for (const name of references) assert.nestedProperty(modelSchema, `$defs.${name}`)
    assert.deepNestedPropertyVal(make(Note).modelSchema, "properties.text", { type: "string" })
    assert.deepNestedPropertyVal(make(Tree).modelSchema, "properties.name", { type: "string" })
  })

  it("refuses a schema that has no JSON form, with a sentence", () => {
    const keyed = Schema.Struct({ [Symbol.for("key")]: Schema.String })

    assert.match(Result.getOrThrow(Result.flip(JsonCodec.make(keyed))), /^has no JSON form: \S/)
  })

  it.prop(
    "gives every value back after a trip through text",
    { value: Arbitrary.map(Arbitrary.schema(Rich), withoutMinusZero) },
    ({ value }) => {
      const codec = make(Rich)
      const json = run(codec.encode(value))

      assert.deepStrictEqual(throughText(json), json)
      assert.deepStrictEqual(run(codec.decode(throughText(json))), value)
    }
  )

  it("names only keys that stand in the schema: others are data, and may say anything", () => {
    const codec = make(Schema.Struct({
      facts: Schema.Record(Schema.String, Schema.Struct({ count: Schema.Finite })),
      tree: Schema.optionalKey(Tree)
    }))
    const value = {
      facts: { "ignore all rules": { count: "x" }, count: { count: "x" } },
      tree: { name: 1, children: [] }
    }

    assert.deepStrictEqual(issuesOf(codec.decode(value)), [
      "facts.*.count: Expected number",
      "facts.count.count: Expected number",
      "tree.name: Expected string"
    ])
    assert.deepStrictEqual(issuesOf(make(Schema.Record(Schema.String, Schema.Finite)).fromModel({ "secret": "x" })), [
      "*: Expected number"
    ])
  })

  it("lists every issue, not only the first", () => {
    const codec = make(Schema.Struct({ a: Schema.String, b: Schema.Struct({ c: Schema.Boolean }) }))

    assert.deepStrictEqual(issuesOf(codec.decode({ a: 1, b: {} })), ["a: Expected string", "b.c: Missing key"])
    assert.deepStrictEqual(issuesOf(codec.encode({ b: { c: "x" } })), ["a: Missing key", "b.c: Expected boolean"])
    assert.deepStrictEqual(issuesOf(make(Schema.String).fromModel({ value: 1 })), ["value: Expected string"])
  })
})

const knot: Record<string, unknown> = {}
knot["self"] = knot
const loop: { name: string; children: Array<Tree> } = { name: "loop", children: [] }
loop.children.push(loop)

const notJson: { readonly [name: string]: unknown } = {
  "a function": () => 1,
  "a symbol": Symbol("x"),
  "a bigint": 1n,
  "a Date": new Date(0),
  "a Map": new Map([[1, 2]]),
  "a nested undefined": { gone: undefined },
  "a cycle": knot
}

describe("JsonCodec values that are not JSON", () => {
  for (const [name, value] of Object.entries(notJson)) {
    for (const [kind, schema] of [["Any", Schema.Any], ["Unknown", Schema.Unknown], ["Json", Schema.Json]] as const) {
      it(`refuses ${name} in ${kind}, naming the field`, () => {
        const codec = make(Schema.Struct({ list: Schema.Array(schema as Schema.Codec<any>) }))
        const issues = issuesOf(codec.encode({ list: [1, value] }))

        assert.lengthOf(issues, 1)
        assert.match(issues[0]!, /^list\[1\]\S*: Expected/)
      })
    }
  }

  it("refuses an Invalid Date, naming the field", () => {
    const codec = make(Schema.Struct({ list: Schema.Array(Schema.Struct({ at: Schema.Date })) }))

    assert.deepStrictEqual(issuesOf(codec.encode({ list: [{ at: new Date(0) }, { at: new Date(Number.NaN) }] })), [
      "list[1].at: Expected a valid Date"
    ])
    assert.deepStrictEqual(issuesOf(codec.decode({ list: [{ at: "never" }] })), ["list[0].at: Expected a valid Date"])
  })

  it("refuses a cycle in a recursive schema as a failure, not as a bug", () => {
    const issues = issuesOf(make(Schema.Struct({ tree: Tree })).encode({ tree: loop }))

    assert.match(issues.join(), /^tree/)
  })
})
