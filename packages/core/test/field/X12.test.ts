import { assert, describe, it } from "@effect/vitest"
import { DelegateRuntime, ResultCache, TypedAgent } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Layer, Schema, SchemaGetter } from "effect"
import * as Postures from "../support/Postures.ts"
import * as Trees from "../support/Trees.ts"

type Report = Schema.Codec<unknown, unknown>

// Each pair decodes the same JSON, to two values.
const Percent = Schema.Finite.pipe(Schema.decodeTo(Schema.BigInt, {
  decode: SchemaGetter.transform((n: number) => BigInt(Math.round(n))),
  encode: SchemaGetter.transform((n: bigint) => Number(n))
}))
const pairs: ReadonlyArray<readonly [string, Report, Report, unknown]> = [
  ["a number that is a text by now", Schema.Finite, Schema.Union([Schema.Finite, Schema.String]), 5],
  ["a text that is a date by now", Schema.String, Schema.Date, "2026-01-02T00:00:00.000Z"],
  ["a text that is a number by now", Schema.String, Schema.FiniteFromString, "7"],
  ["a number that is a large one by now", Schema.Finite, Percent, 7],
  [
    "a key that is optional by now",
    Schema.Struct({ a: Schema.Finite }),
    Schema.Struct({ a: Schema.optionalKey(Schema.Finite) }),
    { a: 1 }
  ],
  ["a bound that is new", Schema.Finite, Schema.Finite.check(Schema.isLessThan(100)), 5],
  ["a description that is new", Schema.Finite, Schema.Finite.annotate({ description: "in cents" }), 5]
].map(([name, before, after, json]) => [name as string, of(before as Report), of(after as Report), json])

function of(value: Report): Report {
  return Schema.Struct({ value }) as Report
}

const { posture } = Postures

describe("X12 A cached result of a posture that names a registered schema", () => {
  const runtime = (schema: Report, json: unknown) =>
    Postures.runtime([posture("scout", { report: "answer" })], {
      scout: Script.optional(Script.each([Step.report({ value: json as never })]))
    }, { schemas: { answer: schema } })
  const call = DelegateRuntime.run({ posture: "scout", task: "Look" })

  it.effect.each(pairs)(
    "X12 is not decoded by another schema: %s",
    ([, before, after, json]) =>
      Effect.gen(function*() {
        const results = yield* Effect.forEach(
          [before, before, after, after],
          (schema) => Effect.provide(call, runtime(schema, json))
        )

        assert.deepStrictEqual(results.map(({ status }) => status), ["success", "cache_hit", "success", "cache_hit"])
      }).pipe(Effect.provide(ResultCache.layerMemory()))
  )

  it.effect("X12 is not found by a posture that may delegate to one whose schema changed", () => {
    const lead = (schema: Report) =>
      Postures.runtime([posture("lead", { allowedTools: ["delegate"] }), posture("scout", { report: "answer" })], {
        lead: Script.optional(Script.each([Step.text("done")]))
      }, { schemas: { answer: schema } })
    return Effect.gen(function*() {
      const results = yield* Effect.forEach(
        [of(Schema.String), of(Schema.String), of(Schema.Date)],
        (schema) => Effect.provide(DelegateRuntime.run({ posture: "lead", task: "Look" }), lead(schema))
      )

      assert.deepStrictEqual(results.map(({ status }) => status), ["success", "cache_hit", "success"])
    }).pipe(Effect.provide(ResultCache.layerMemory()))
  })
})

describe("X12 A cached result of a typed agent", () => {
  it.effect.each(pairs)(
    "X12 is not decoded by another schema: %s",
    ([, before, after, json]) =>
      Effect.gen(function*() {
        const run = (report: Report) =>
          Effect.flatMap(
            TypedAgent.make("scout", { description: "Looks", input: Schema.Struct({ at: Schema.String }), report })
              .withCache().bind(),
            (bound) => bound.run({ at: "x" })
          )
        yield* Effect.forEach([before, before, after, after], run)

        const calls = yield* Effect.flatMap(ScriptedModel.ScriptedModel, (model) => model.calls)
        assert.strictEqual(calls, 2)
      }).pipe(
        Effect.provide(
          Layer.merge(
            Trees.runtime({ scout: Script.optional(Script.each([Step.report({ value: json as never })])) }),
            ResultCache.layerMemory()
          )
        )
      )
  )
})
