import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import type * as Families from "../src/strict/Family.ts"
import * as StrictSchema from "../src/strict/StrictSchema.ts"
import * as StrictModel from "./support/StrictModel.ts"

const families: ReadonlyArray<Families.Family> = ["openai", "anthropic", "google"]

// A schema in a few words. Keys that may be absent begin with `o`, ones that may be null with `n`: in the strict form
// the two look alike, so a union in which one key is both has no one way back.
type Shape =
  | { readonly is: "string" | "int" | "boolean" | "word" }
  | { readonly is: "list"; readonly of: Shape }
  | { readonly is: "struct"; readonly fields: ReadonlyArray<readonly [kind: "r" | "o" | "n" | "self", of: Shape]> }
  | { readonly is: "union"; readonly of: ReadonlyArray<Shape> }

/** Draws numbers below a bound from a list, which begins anew when it ends. */
const dice = (numbers: ReadonlyArray<number>) => {
  let next = 0
  return (below: number): number => numbers[next++ % numbers.length]! % below
}

const drawShape = (draw: (below: number) => number, depth: number): Shape => {
  const pick = draw(depth === 0 ? 4 : 7)
  switch (pick) {
    case 0:
    case 1:
    case 2:
    case 3:
      return { is: (["string", "int", "boolean", "word"] as const)[pick] }
    case 4:
      return { is: "list", of: drawShape(draw, depth - 1) }
    case 5:
      return { is: "union", of: [drawShape(draw, depth - 1), drawShape(draw, depth - 1), drawShape(draw, depth - 1)] }
    default:
      return drawStruct(draw, depth)
  }
}

const drawStruct = (draw: (below: number) => number, depth: number): Shape & { readonly is: "struct" } => ({
  is: "struct",
  fields: Array.from({ length: 1 + draw(3) }, () =>
    [
      (["r", "o", "n", "o", "self"] as const)[draw(5)]!,
      drawShape(draw, depth - 1)
    ] as const)
})

const keyOf = (kind: string, index: number): string => (kind === "self" ? "o" : kind) + index

const schemaOf = (shape: Shape, self: Schema.Codec<any, any>): Schema.Codec<any, any> => {
  switch (shape.is) {
    case "string":
      return Schema.String
    case "int":
      return Schema.Int
    case "boolean":
      return Schema.Boolean
    case "word":
      return Schema.Literals(["a", "b"])
    case "list":
      return Schema.Array(schemaOf(shape.of, self))
    case "union":
      return Schema.Union(shape.of.map((one) => schemaOf(one, self)))
    case "struct":
      return Schema.Struct(Object.fromEntries(shape.fields.map(([kind, of], index) => {
        const field = kind === "self" ? self : schemaOf(of, self)
        return [
          keyOf(kind, index),
          kind === "r" ? field : kind === "n" ? Schema.NullOr(field) : Schema.optionalKey(field)
        ]
      }))) as Schema.Codec<any, any>
  }
}

const drawValue = (draw: (below: number) => number, root: Shape): any => {
  const of = (shape: Shape, depth: number): any => {
    switch (shape.is) {
      case "string":
        return ["", "a", "null"][draw(3)]
      case "int":
        return draw(100) - 50
      case "boolean":
        return draw(2) === 0
      case "word":
        return ["a", "b"][draw(2)]
      case "list":
        return Array.from({ length: draw(3) }, () => of(shape.of, depth))
      case "union":
        return of(shape.of[draw(shape.of.length)]!, depth)
      case "struct":
        return Object.fromEntries(shape.fields.flatMap(([kind, field], index) => {
          const key = keyOf(kind, index)
          if ((kind === "self" && depth === 0) || (kind !== "r" && draw(2) === 0)) {
            return kind === "n"
              ? [[key, null]]
              : []
          }
          return [[key, kind === "self" ? of(root, depth - 1) : of(field, depth)]]
        }))
    }
  }
  return of(root, 3)
}

const numbers = Schema.NonEmptyArray(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 })))

describe("StrictSchema, for any schema", () => {
  it.prop(
    "gives a value back as it was, whatever the schema",
    { forSchema: numbers, forValue: numbers },
    ({ forSchema, forValue }) => {
      const shape = drawStruct(dice(forSchema), 3)
      const Root: Schema.Codec<any, any> = schemaOf(shape, Schema.suspend((): Schema.Codec<any, any> => Root))
        .annotate({ identifier: "Root" }) as Schema.Codec<any, any>
      const plain = drawValue(dice(forValue), shape)
      const schema = Tool.getJsonSchemaFromSchema(Schema.Struct({ value: Root })) as StrictModel.JsonSchema
      assert.isTrue(Schema.is(Root)(plain))

      for (const family of families) {
        const made = Result.getOrElse(StrictSchema.rewrite(schema, family), (reason) => reason)
        if (typeof made === "string") {
          assert.match(made, /^refers to itself/)
          assert.notStrictEqual(family, "openai")
          continue
        }
        assert.deepStrictEqual(StrictModel.refused(made.schema), [])
        const written = StrictModel.write(made.schema, { value: plain })
        assert.isDefined(written)
        assert.deepStrictEqual(made.restore(written!.json), { value: plain })
      }
    },
    { arbitrary: { runs: 500 } }
  )
})
