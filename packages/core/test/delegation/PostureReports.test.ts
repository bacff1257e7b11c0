import { assert, describe, it } from "@effect/vitest"
import { DelegateRuntime, Mandate, ModelRegistry, Posture } from "@mandate/core"
import { ScriptedModel, Step } from "@mandate/testing"
import { Effect, Layer } from "effect"
import * as Postures from "../support/Postures.ts"

const { posture } = Postures

const text = { type: "string" }
const object = (properties: Record<string, unknown>, more: object = {}) =>
  ({ type: "object", properties, ...more }) as never

// A schema, a report that it refuses, and one that it takes.
const schemas: ReadonlyArray<readonly [string, never, object, object]> = [
  ["a closed object", object({ a: text }, { additionalProperties: false }), { a: "x", b: 1 }, { a: "x" }],
  [
    "a closed object inside",
    object({ a: { type: "array", items: object({ b: text }, { additionalProperties: false }) } }),
    { a: [{ b: "x", c: 1 }] },
    { a: [{ b: "x" }], more: { kept: [1] } }
  ],
  [
    "definitions that hold themselves",
    {
      $ref: "#/$defs/node",
      $defs: { node: object({ kids: { type: "array", items: { $ref: "#/$defs/node" } } }) }
    } as never,
    { kids: [{ kids: 1 }] },
    { kids: [{ kids: [] }] }
  ],
  ["several types", object({ a: { type: ["string", "null"], minLength: 2 } }), { a: "x" }, { a: null }],
  [
    "a name like __proto__",
    object(JSON.parse("{\"__proto__\":{\"type\":\"string\"}}")),
    JSON.parse("{\"__proto__\":1}"),
    {
      a: 1
    }
  ]
]

const doubled = (levels: number) => ({
  $ref: "#/$defs/d0",
  $defs: {
    [`d${levels}`]: text,
    ...Object.fromEntries(Array.from({ length: levels }, (_, level) => {
      const next = { $ref: `#/$defs/d${level + 1}` }
      return [`d${level}`, { allOf: [next, next] }]
    }))
  }
})

const many = "cannot be enforced: more than 1000 schemas apply in one place"
const unenforced: ReadonlyArray<readonly [string, unknown, string]> = [
  ["a keyword that is not supported", object({ a: { not: text } }), "cannot be enforced at properties.a.not"],
  ["a pattern", object({ a: { type: "string", pattern: "s3cr3t" } }), "cannot be enforced at properties.a.pattern"],
  ["another document", object({ a: { $ref: "http://s3cr3t/x" } }), "cannot be enforced at properties.a.$ref"],
  ["what is not defined", object({ a: { $ref: "#/$defs/s3cr3t" } }), "cannot be enforced at properties.a.$ref"],
  [
    "a type that there is not",
    object({ a: { type: "s3cr3t" } }),
    "cannot be enforced: properties.a.type has a value that JSON Schema does not have there"
  ],
  [
    "properties that are none",
    { anyOf: [{ type: "object", properties: { a: 1 } }, { type: "object", properties: [text] }] },
    "cannot be enforced: anyOf[1].properties has a value that JSON Schema does not have there"
  ],
  [
    "a length that is none, in a part of a list",
    object({ a: { type: "array", prefixItems: [text, { type: "string", minLength: "2" }] } }),
    "cannot be enforced: properties.a.prefixItems[1].minLength has a value that JSON Schema does not have there"
  ],
  ["one schema too many in one place", object({ a: { allOf: Array.from({ length: 1000 }, () => text) } }), many],
  ["an alias of itself", { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/a" } } }, many],
  [
    "an alias of itself further in",
    object({ a: { $ref: "#/$defs/a" } }, { $defs: { a: { anyOf: [text, { $ref: "#/$defs/a" }] } } }),
    many
  ],
  ["what doubles at each level", doubled(40), many]
]

describe("a JSON Schema of a posture's report", () => {
  it.effect.each(schemas)(
    "is shown as it is, and a report is held to all of it: %s",
    ([, schema, bad, good]) =>
      Effect.gen(function*() {
        const result = yield* DelegateRuntime.run({ posture: "p", task: "Go" })

        assert.deepStrictEqual(result.status === "success" ? result.result : result, good)
        const [first] = yield* Effect.flatMap(ScriptedModel.ScriptedModel, (model) => model.requests)
        const { $defs, $ref: _, ...shown } = first!.request.tools[0]!.inputSchema as Record<string, any>
        assert.deepStrictEqual({ ...shown, ...($defs === undefined ? {} : { $defs }) }, expected(schema))
      }).pipe(Effect.provide(Postures.runtime([posture("p", { report: schema })], {
        p: [Step.calls(Step.report(bad as never)), Step.calls(Step.report(good as never))]
      })))
  )

  it.effect.each(schemas)(
    "holds an answer that a model gives natively to all of it: %s",
    ([, schema, bad, good]) =>
      Effect.gen(function*() {
        const model = yield* ScriptedModel.make({
          p: [Step.text(JSON.stringify(bad)), Step.text(JSON.stringify(good))]
        })
        const result = yield* DelegateRuntime.run({ posture: "p", task: "Go" }).pipe(
          Effect.provide(Layer.provide(
            DelegateRuntime.layer(),
            Layer.mergeAll(
              Mandate.layerMemory,
              Postures.parts([posture("p", { report: schema })]),
              Layer.succeed(ModelRegistry.ModelRegistry, {
                get: () => Effect.succeed({ ...model.client, structuredAnswers: true })
              })
            )
          ))
        )

        assert.deepStrictEqual(result.status === "success" ? result.result : result, good)
        assert.strictEqual(yield* model.calls, 2)
      })
  )

  it.effect("may apply a thousand schemas in one place", () =>
    Effect.gen(function*() {
      const made = yield* Posture.make(
        posture("p", { report: { schema: object({ a: { allOf: Array.from({ length: 999 }, () => text) } }) } })
      )

      assert.strictEqual(made.name, "p")
    }))

  it.effect.each(unenforced)(
    "is refused where a report cannot be held to it: %s",
    ([, schema, problem]) =>
      Effect.gen(function*() {
        const { problems } = yield* Effect.flip(Posture.make(posture("p", { report: { schema: schema as never } })))

        assert.deepStrictEqual(problems, [{ posture: "p", field: "report.schema", message: `The schema ${problem}` }])
      })
  )
})

// Models are shown the object behind a reference at the root.
const expected = (schema: never) => {
  const { $ref, ...rest } = schema as Record<string, any>
  return $ref === undefined ? rest : { ...rest["$defs"].node, ...rest }
}
