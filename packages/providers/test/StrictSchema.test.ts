import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import * as Families from "../src/strict/Family.ts"
import * as StrictSchema from "../src/strict/StrictSchema.ts"
import type * as StrictModel from "./support/StrictModel.ts"

const rewrite = (schema: StrictModel.JsonSchema, family: Families.Family = "openai") =>
  Result.getOrElse(StrictSchema.rewrite(schema, family), (reason) => reason)

const rewritten = (schema: StrictModel.JsonSchema, family: Families.Family = "openai") => {
  const made = rewrite(schema, family)
  if (typeof made === "string") throw new Error(made)
  return made
}

const object = (properties: StrictModel.JsonSchema, required = Object.keys(properties)) => ({
  type: "object",
  properties,
  required
})

describe("StrictSchema", () => {
  it.effect.prop(
    "takes anything that a model may write, and changes what is changed once only",
    [Schema.Json],
    ([json]) =>
      Effect.sync(() => {
        const made = rewritten(object({ a: { type: "string" }, b: object({ c: { type: "null" } }, []) }, []))
        const once = made.restore(json)
        assert.strictEqual(made.restore(once), once)
      })
  )

  it("requires every key, closes every object, and leaves nothing but what all take", () => {
    const { schema } = rewritten({
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      title: "T",
      properties: {
        id: { type: "string", description: "An id", minLength: 2, pattern: "^a" },
        count: { type: "integer", minimum: -9007199254740991, maximum: 7, default: 3 },
        kind: { const: "x" },
        either: { oneOf: [{ type: "string" }, object({ deep: { type: "boolean" } }, [])] },
        mixed: { type: ["string", "null"], enum: ["a", null] },
        same: { allOf: [{ $ref: "#/$defs/Same" }], description: "The same" },
        bounded: { type: "string", allOf: [{ minLength: 1 }, { maxLength: 3 }] },
        some: { type: "array", prefixItems: [{ type: "string" }], items: { type: "string" }, minItems: 1 },
        none: { not: {} }
      },
      required: ["id", "either", "same"],
      additionalProperties: true,
      $defs: { Same: { type: "object", properties: {} }, Unused: { not: { type: "null" } } }
    })

    const closed = (properties: object) => ({
      type: "object",
      properties,
      required: Object.keys(properties),
      additionalProperties: false
    })
    assert.deepStrictEqual(schema as {}, {
      ...closed({
        id: { type: "string", description: "An id (minLength: 2, pattern: ^a)" },
        count: {
          anyOf: [{ type: "integer", description: "(maximum: 7, default: 3)" }, { type: "null" }],
          description: "(maximum: 7, default: 3)"
        },
        kind: { anyOf: [{ type: "string", enum: ["x"] }, { type: "null" }] },
        either: {
          anyOf: [{ type: "string" }, closed({ deep: { anyOf: [{ type: "boolean" }, { type: "null" }] } })]
        },
        mixed: { anyOf: [{ type: "string", enum: ["a"] }, { type: "null" }] },
        same: { $ref: "#/$defs/Same" },
        bounded: {
          anyOf: [{ type: "string", description: "(minLength: 1, maxLength: 3)" }, { type: "null" }],
          description: "(minLength: 1, maxLength: 3)"
        },
        some: {
          anyOf: [
            { type: "array", items: { type: "string" }, description: "(minItems: 1)" },
            { type: "null" }
          ],
          description: "(minItems: 1)"
        }
      }),
      $defs: { Same: closed({}) }
    })
  })

  it("says why a schema cannot be put strictly, and where", () => {
    const at = (schema: unknown) => rewrite(object({ deep: { type: "array", items: object({ x: schema }) } }))
    const reasons = [
      [{ type: "object", additionalProperties: { type: "string" } }, "has keys that are not named (a record)"],
      [{ type: "object" }, "has keys that are not named (a record)"],
      [{ ...object({}), additionalProperties: { type: "string" } }, "has keys that are not named (a record)"],
      [{ type: "array", prefixItems: [{ type: "string" }] }, "has a tuple"],
      [{ type: "array", items: [{ type: "string" }] }, "has a tuple"],
      [{}, "takes anything"],
      [{ description: "Whatever" }, "takes anything"],
      [true, "takes anything"],
      [false, "takes nothing"],
      [{ type: "string", enum: [1] }, "takes nothing"],
      [{ type: "string", not: { const: "a" } }, "uses not"],
      [{ allOf: [object({}), object({})] }, "uses allOf"],
      [{ ...object({}), anyOf: [{ required: ["a"] }] }, "combines anyOf or oneOf with more"],
      [{ $ref: "#/$defs/Nowhere" }, "refers to what it does not hold"],
      [{ $ref: "https://elsewhere.test/schema" }, "refers to what it does not hold"],
      [object({ y: { type: "string" } }, ["z"]), "requires a key without a schema"],
      [{ enum: [{ a: 1 }] }, "has keys that are not named (a record)"]
    ] as const
    for (const [schema, reason] of reasons) assert.strictEqual(at(schema), `${reason} at "deep[].x"`)
    assert.strictEqual(rewrite({ anyOf: [] }), "takes nothing")
    assert.strictEqual(rewrite({ type: "string" }), "is no object at its root")
  })

  it("bounds its work", () => {
    const chain = (levels: number): StrictModel.JsonSchema =>
      levels === 0 ? { type: "string" } : object({ a: chain(levels - 1) })
    const doubling = Object.fromEntries(
      Array.from(
        { length: 30 },
        (_, n) => [`d${n}`, object({ l: { $ref: `#/$defs/d${n + 1}` }, r: { $ref: `#/$defs/d${n + 1}` } })]
      )
    )
    const wide = object({ a: { $ref: "#/$defs/d0" } })
    assert.strictEqual(rewrite(chain(500), "anthropic"), "nests too deep")
    assert.strictEqual(rewrite(chain(11)), "has more than 10 objects in one another")
    assert.strictEqual(rewrite({ ...wide, $defs: { ...doubling, d30: { type: "string" } } }, "google"), "is too large")
    assert.strictEqual(
      rewrite(object({ a: { anyOf: Array.from({ length: 20_000 }, () => ({ type: "string" })) } })),
      "is too large"
    )
    assert.strictEqual(
      rewrite({ ...object({ a: { $ref: "#/$defs/A" } }), $defs: { A: { anyOf: [{ $ref: "#/$defs/A" }] } } }),
      "has a definition that is only itself (\"#/$defs/A\")"
    )
  })

  it("finds the member of a union of many levels without trying all ways through it", () => {
    const node = (key: string) => object({ [key]: { type: "string" }, next: { $ref: "#/$defs/Node" } }, [key])
    const { restore } = rewritten({
      ...object({ node: { $ref: "#/$defs/Node" } }),
      $defs: { Node: { anyOf: [node("a"), node("b"), node("c")] } }
    })
    const written = (levels: number): any =>
      levels === 0 ? null : { [["a", "b", "c"][levels % 3]!]: "x", next: written(levels - 1) }
    const plain = (levels: number): any =>
      levels === 1 ? { b: "x" } : { [["a", "b", "c"][levels % 3]!]: "x", next: plain(levels - 1) }

    assert.deepStrictEqual(restore({ node: written(200) }) as {}, { node: plain(200) })
  })

  it("keeps names such as __proto__, and a null that is one", () => {
    const { restore, schema } = rewritten(JSON.parse(
      "{\"type\":\"object\",\"properties\":{\"__proto__\":{\"type\":\"string\"},\"n\":{\"type\":[\"string\",\"null\"]}}}"
    ))
    assert.deepStrictEqual(schema["required"], ["__proto__", "n"])
    assert.strictEqual(JSON.stringify(restore(JSON.parse("{\"__proto__\":null,\"n\":null}"))), "{\"n\":null}")
    assert.strictEqual(JSON.stringify(restore(JSON.parse("{\"__proto__\":\"x\"}"))), "{\"__proto__\":\"x\"}")
  })

  it("is in a family's own words", () => {
    const schema = {
      ...object({ list: { enum: [1, 2] }, both: { $ref: "#/definitions/B~1" } }),
      definitions: { "B/": object({ a: { type: "string" } }) }
    }
    const definition = { ...object({ a: { type: "string" } }), additionalProperties: false }
    const of = (family: Families.Family) => rewritten(schema, family).schema as any
    for (const family of ["openai", "anthropic"] as const) {
      assert.deepStrictEqual(of(family).properties.both, { $ref: "#/$defs/Definition1" })
      assert.deepStrictEqual(of(family).$defs, { Definition1: definition })
      assert.deepStrictEqual(of(family).properties.list, { type: "number", enum: [1, 2] })
    }
    assert.deepStrictEqual(of("google").properties.both, definition)
    assert.notProperty(of("google"), "$defs")
    assert.deepStrictEqual(of("google").properties.list, { type: "number", description: "(one of: 1, 2)" })
    assert.deepStrictEqual(rewritten(object({ up: { $ref: "#" } }, [])).schema as {}, {
      type: "object",
      properties: { up: { anyOf: [{ $ref: "#" }, { type: "null" }] } },
      required: ["up"],
      additionalProperties: false
    })
  })

  it("tells the family of a model by its provider", () => {
    const of = (provider: string, modelId = "m") => Families.of({ provider, modelId })
    for (const provider of ["anthropic.messages", "vertex.anthropic.messages", "amazon-bedrock"]) {
      assert.strictEqual(of(provider), "anthropic")
    }
    for (const provider of ["google.generative-ai", "google.vertex.chat"]) assert.strictEqual(of(provider), "google")
    for (const provider of ["openai.responses", "azure.chat", "local.chat"]) assert.strictEqual(of(provider), "openai")
    assert.strictEqual(of("gateway", "anthropic/claude"), "anthropic")
  })
})
