import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Mandate, type ModelRequest } from "@mandate/core"
import { ScriptedModel, Step, StrictRules } from "@mandate/testing"
import { Effect, Layer, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as RequestForm from "../../src/loop/RequestForm.ts"
import * as Models from "../support/Models.ts"

type InputSchema = ModelRequest.ModelTool["inputSchema"]

const array = { type: "array" }
const object = (tags: Schema.Json): InputSchema => ({ type: "object", properties: { tags } })

/** Schemas as servers and applications write them, and what is sent in their place. */
const schemas: ReadonlyArray<readonly [what: string, given: InputSchema, sent: InputSchema]> = [
  ["no properties", { type: "object" }, { type: "object", properties: {} }],
  [
    "properties that are none",
    { type: "object", properties: null },
    { type: "object", properties: {} }
  ],
  [
    "no properties, but others allowed",
    { type: "object", additionalProperties: true },
    { type: "object", additionalProperties: true, properties: {} }
  ],
  ["an array without items", object(array), object({ ...array, items: {} })],
  ["a nullable array", object({ type: ["array", "null"] }), object({ type: ["array", "null"], items: {} })],
  ["an array in a union", object({ anyOf: [array, { type: "null" }] }), {
    type: "object",
    properties: { tags: { anyOf: [{ ...array, items: {} }, { type: "null" }] } }
  }],
  ["an array of arrays", object({ ...array, items: array }), object({ ...array, items: { ...array, items: {} } })],
  [
    "a tuple",
    object({ ...array, prefixItems: [array] }),
    object({
      ...array,
      prefixItems: [{ ...array, items: {} }],
      items: {}
    })
  ],
  [
    "an array in a definition",
    { ...object({ $ref: "#/$defs/T" }), $defs: { T: array } },
    { ...object({ $ref: "#/$defs/T" }), $defs: { T: { ...array, items: {} } } }
  ],
  [
    "an array among additional properties",
    { type: "object", properties: {}, additionalProperties: array },
    { type: "object", properties: {}, additionalProperties: { ...array, items: {} } }
  ]
]

/** Schemas that are sent as they are, the very same object. */
const fine: ReadonlyArray<readonly [what: string, schema: InputSchema]> = [
  ["a property called type", object({ type: "string" })],
  ["values that look like schemas", object({ enum: [array], default: array, examples: [array], const: array })],
  ["a property called items", { type: "object", properties: { items: { type: "string" }, type: { const: "array" } } }],
  ["any items", object({ ...array, items: true })],
  ["no items", object({ ...array, items: false, prefixItems: [{}] })]
]

describe("F03 The schema of a tool's parameters", () => {
  it.each(schemas)("F03 is complete where it has %s", (_, given, sent) => {
    const made = RequestForm.complete(given)

    assert.deepStrictEqual(made, sent)
    assert.strictEqual(RequestForm.complete(made), made)
  })

  it.each(fine)("F03 stays as it is where it has %s", (_, schema) => {
    assert.strictEqual(RequestForm.complete(schema), schema)
  })

  it.effect("F03 is complete in a request, of tools without parameters and of those with a JSON Schema", () =>
    Effect.gen(function*() {
      const tools = Toolkit.make(
        Tool.make("now", { success: Schema.String }),
        Tool.dynamic("ask", { parameters: { type: "object" }, success: Schema.String }),
        Tool.dynamic("tag", { parameters: object(array), success: Schema.String })
      )
      const agent = yield* AgentBuilder.make("clerk").withTools(tools, {
        now: () => Effect.succeed("noon"),
        ask: () => Effect.succeed("asked"),
        tag: () => Effect.succeed("tagged")
      }).build()
      yield* agent.run("Go")
      const [first] = yield* Effect.flatMap(ScriptedModel.ScriptedModel, ({ requests }) => requests)

      assert.deepStrictEqual(StrictRules.check(first!.request), [])
      assert.deepStrictEqual(
        first!.request.tools.map(({ inputSchema }) => Object.keys(inputSchema).includes("properties")),
        [
          true,
          true,
          true
        ]
      )
    }).pipe(Effect.provide(Layer.merge(Mandate.layerMemory, Models.layer({ clerk: [Step.text("done")] })))))
})
