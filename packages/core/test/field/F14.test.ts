import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Answer, TypedAgent } from "@mandate/core"
import { Script, Step } from "@mandate/testing"
import { Effect, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Digest from "../../src/values/Digest.ts"
import * as Json from "../../src/values/Json.ts"
import * as JsonCodec from "../../src/values/JsonCodec.ts"
import * as ValidatingForm from "../../src/values/ValidatingForm.ts"
import { type Backing, backings } from "../support/Backings.ts"
import { tampered } from "../support/TamperedStore.ts"
import * as Waiting from "../support/Waiting.ts"

type Object = { readonly [key: string]: Json.Json }

const string: Object = { type: "string" }
const amount: Object = { type: "integer", enum: [1, 2] }
const parameters = (properties: Object, more: Object = {}): Object => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  ...more
})
const base = parameters({ title: string, amount })

// Each is the JSON Schema of the parameters after the deploy.
const annotated: ReadonlyArray<readonly [string, Object]> = [
  ["a description", parameters({ title: { ...string, description: "Of the card" }, amount })],
  ["a title and a comment", { ...base, title: "Payment", $comment: "v2" }],
  [
    "examples and a default",
    parameters({ title: { ...string, examples: ["a"], default: "b" }, amount })
  ],
  [
    "deprecated, readOnly and writeOnly",
    parameters({
      title: { ...string, deprecated: true, readOnly: true, writeOnly: false },
      amount
    })
  ],
  ["the order of keys", {
    required: ["amount", "title"],
    properties: { amount, title: string },
    type: "object"
  }],
  ["the order of an enum", parameters({ title: string, amount: { enum: [2, 1], type: ["integer"] } })],
  [
    "the place of a schema, named by a reference",
    {
      type: "object",
      properties: { title: { $ref: "#/$defs/Title", description: "A name" }, amount },
      required: ["title", "amount"],
      $defs: { Title: { type: "string", title: "Title" } }
    }
  ]
]

const validating: ReadonlyArray<readonly [string, Object]> = [
  ["a property called title that is gone", parameters({ amount })],
  ["a property called title of another type", parameters({ title: { type: "boolean" }, amount })],
  ["a property called description that is new", parameters({ title: string, amount, description: string })],
  ["another enum", parameters({ title: string, amount: { type: "integer", enum: [1, 3] } })],
  ["a property that is not required any more", { ...base, required: ["title"] }],
  ["a bound", parameters({ title: { ...string, maxLength: 5 }, amount })]
]

const agent = (schema: Object) =>
  AgentBuilder.make("clerk").withTools(
    Toolkit.make(Tool.dynamic("pay", { parameters: schema as never, success: Schema.String, needsApproval: true })),
    { pay: () => Effect.succeed("paid") } as never
  ).build()

const lives = Effect.fnUntraced(function*(backing: Backing) {
  const store = yield* backing.make
  const { model, next } = yield* Waiting.processes(store, {
    clerk: Script.optional([Step.call("pay", { title: "x", amount: 1 }), Step.text("done")])
  })
  yield* next(Effect.flatMap(agent(base), (clerk) => clerk.run("Go", { threadId: "t" })))
  return { model, next, store }
})

const approve = [Answer.approve("0.0:approval0")]

describe.each(backings)("F14 A run that waits, in $name", (backing) => {
  it.effect.each(annotated)("F14 goes on after a deploy that changes %s", ([, schema]) =>
    Effect.gen(function*() {
      const { next } = yield* lives(backing)

      const { status } = yield* next(Effect.flatMap(agent(schema), (clerk) => clerk.resume("t", approve)))

      assert.deepStrictEqual(status, { _tag: "Completed", answer: "done" })
    }))

  it.effect.each(validating)(
    "F14 is refused after a deploy that changes what is valid: %s",
    ([, schema]) =>
      Effect.gen(function*() {
        const { next } = yield* lives(backing)

        const error = yield* next(Effect.flatMap(agent(schema), (clerk) => Effect.flip(clerk.resume("t", approve))))

        assert.deepStrictEqual(error.reason, {
          _tag: "AgentChanged",
          threadId: "t",
          differences: ["the schemas of the tool \"pay\""]
        })
      })
  )

  it.effect("F14 goes on with the shape that rows kept while descriptions were part of it", () =>
    Effect.gen(function*() {
      const { model, store } = yield* lives(backing)
      const [first] = yield* model.requests
      const result = yield* Effect.fromResult(JsonCodec.make(Schema.String))
      const digest = (value: Json.Json) => Digest.short(Json.canonical(value))
      const shape = (schema: Json.Json) =>
        Json.canonical({
          id: "clerk",
          report: "text",
          subagents: {},
          tools: { pay: digest([schema, result.modelSchema]) }
        })
      const described = { ...base, description: "Pays" }
      const resume = (stored: string, schema: Object) =>
        Waiting.processesOf(tampered(store, { runId: "t#0", column: "shape", value: stored }), model)
          .next(Effect.flatMap(agent(schema), (clerk) => clerk.resume("t", approve)))

      const changed = yield* Effect.flip(resume(shape({ ...described, required: [] }), described))
      const { status } = yield* resume(shape(described), described)

      assert.deepStrictEqual(first?.request.tools[0]?.inputSchema, base)
      assert.strictEqual(changed._tag === "RunError" ? changed.reason._tag : "", "AgentChanged")
      assert.strictEqual(status._tag, "Completed")
    }))

  it.effect("F14 goes on where descriptions of a subagent's input, of its report and of its tools changed", () =>
    Effect.gen(function*() {
      const { next } = yield* Waiting.processes(yield* backing.make, {
        lead: [Step.calls(Step.task("clerk", { topic: "tides" })), Step.text("done")],
        clerk: [Step.call("pay", { to: "x" }), Step.report({ sum: 1 })]
      })
      const build = (says: string, identifier: string) => {
        const text = Schema.String.annotate({ description: says, title: says, examples: [says], identifier })
        const Sum = Schema.Finite.annotate({ description: says })
        const Pay = Tool.make("pay", {
          description: says,
          parameters: Schema.Struct({ to: text }).annotate({ description: says }),
          success: text,
          needsApproval: true
        })
        const clerk = TypedAgent.make("clerk", {
          description: says,
          input: Schema.Struct({ topic: text }),
          report: Schema.Struct({ sum: Sum }).annotate({ title: says })
        }).withTools(Toolkit.make(Pay), { pay: () => Effect.succeed("paid") })
        return AgentBuilder.make("lead").withSubagents([clerk]).build()
      }
      yield* next(Effect.flatMap(build("teh name", "A"), (lead) => lead.run("Go", { threadId: "t" })))

      const { status } = yield* next(
        Effect.flatMap(build("the name", "B"), (lead) => lead.resume("t", [Answer.approve("0.0:child~0.0:approval0")]))
      )

      assert.deepStrictEqual(status, { _tag: "Completed", answer: "done" })
    }))
})

describe("F14 The validating form of a JSON Schema", () => {
  const same: ReadonlyArray<readonly [string, Json.Json, Json.Json]> = [
    ["const and an enum of one", { const: "a" }, { enum: ["a"] }],
    ["types in another order", { type: ["string", "null"] }, { type: ["null", "string"] }],
    ["members of a union in another order", { anyOf: [{ type: "null" }, string] }, {
      anyOf: [string, { type: "null" }]
    }],
    ["annotations in an allOf", { type: "string", allOf: [{ description: "x" }] }, { type: "string" }],
    ["no properties at all", { type: "object", properties: {}, required: [] }, { type: "object" }],
    ["any items", { type: "array", items: {} }, { type: "array" }],
    ["keywords of vendors", { type: "string", "x-order": 1 }, { type: "string" }],
    [
      "names of recursive definitions",
      { $ref: "#/$defs/A", $defs: { A: { properties: { next: { $ref: "#/$defs/A" } } } } },
      { $ref: "#/definitions/B~1C", definitions: { "B/C": { properties: { next: { $ref: "#/definitions/B~1C" } } } } }
    ],
    [
      "definitions that nothing refers to",
      { type: "string", $defs: { A: { type: "null" } } },
      { type: "string" }
    ]
  ]
  it.each(same)("F14 is the same for %s", (_, a, b) => {
    assert.strictEqual(Json.canonical(ValidatingForm.make(a)), Json.canonical(ValidatingForm.make(b)))
  })

  const different: ReadonlyArray<readonly [string, Json.Json, Json.Json]> = [
    ["values of an enum that look like annotations", { enum: [{ title: "a" }] }, { enum: [{ title: "b" }] }],
    ["a const that looks like an annotation", { const: { description: "a" } }, { const: { description: "b" } }],
    ["a const beside an enum", { const: "a", enum: ["a", "b"] }, { enum: ["a", "b"] }],
    ["required properties", { required: ["title"] }, { required: ["default"] }],
    ["patterns", { patternProperties: { description: string } }, { patternProperties: { title: string } }],
    ["places in a tuple", { prefixItems: [string, { type: "null" }] }, { prefixItems: [{ type: "null" }, string] }],
    ["how often a oneOf has a member", { oneOf: [string, string] }, { oneOf: [string] }],
    ["items beside unevaluated ones", { items: true, unevaluatedItems: false }, { unevaluatedItems: false }],
    [
      "what a recursive reference means",
      { $defs: { A: { items: { $ref: "#/$defs/B" } }, B: { not: { $ref: "#/$defs/A" } } }, $ref: "#/$defs/A" },
      { $defs: { A: { items: { $ref: "#/$defs/B" } }, B: { not: { $ref: "#/$defs/B" } } }, $ref: "#/$defs/A" }
    ]
  ]
  it.each(different)("F14 differs for %s", (_, a, b) => {
    assert.notStrictEqual(Json.canonical(ValidatingForm.make(a)), Json.canonical(ValidatingForm.make(b)))
  })

  it("F14 is bounded for definitions that double at each level, and removes their descriptions all the same", () => {
    const doubling = (description: string) => ({
      $ref: "#/$defs/0",
      $defs: Object.fromEntries(
        Array.from({ length: 40 }, (_, n) => {
          const next = { $ref: `#/$defs/${n + 1}` }
          return [String(n), n === 39 ? { type: "string", description } : { properties: { a: next, b: next } }]
        })
      )
    })

    const [a, b] = ["a", "b"].map((text) => Json.canonical(ValidatingForm.make(doubling(text) as Json.Json)))

    assert.strictEqual(a, b)
    assert.isBelow(a!.length, 10_000)
  })

  it("F14 is bounded for definitions that nest deeper than a stack", () => {
    const chain = Object.fromEntries(
      Array.from({ length: 9_000 }, (_, n) => [String(n), { items: { $ref: `#/$defs/${n + 1}` } }])
    )

    assert.isString(Json.canonical(ValidatingForm.make({ $ref: "#/$defs/0", $defs: { ...chain, 9000: {} } })))
  })
})
