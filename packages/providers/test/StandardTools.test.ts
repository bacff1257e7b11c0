import { assert, describe, expectTypeOf, it } from "@effect/vitest"
import { Mandate } from "@mandate/core"
import { ScriptedModel, Step } from "@mandate/testing"
import { Effect, Schema } from "effect"
import * as v from "valibot"
import { z } from "zod"
import { StandardTools } from "../src/index.ts"
import * as Tools from "./support/Tools.ts"

const jsonSchema = { type: "object", properties: { city: { type: "string" } }, required: ["city"] }

describe("StandardTools", () => {
  it.effect("types and gives what the schema makes of the arguments", () =>
    Effect.gen(function*() {
      const { results, tools } = yield* Tools.run(
        StandardTools.from({
          search: {
            description: "Searches",
            input: z.object({ query: z.string().trim(), limit: z.number().default(10) }),
            execute: async (input) => {
              expectTypeOf(input).toEqualTypeOf<{ query: string; limit: number }>()
              return { ...input }
            }
          },
          weather: {
            input: v.object({ city: v.pipe(v.string(), v.toUpperCase()) }),
            jsonSchema,
            execute: (input, call) => {
              expectTypeOf(input).toEqualTypeOf<{ city: string }>()
              expectTypeOf(call).toEqualTypeOf<StandardTools.Call>()
              return input.city
            }
          },
          effect: {
            input: Schema.toStandardJSONSchemaV1(
              Schema.toStandardSchemaV1(Schema.Struct({ at: Schema.NumberFromString }))
            ),
            execute: ({ at }) => at + 1
          }
        }),
        Step.call("search", { query: " tides " }),
        Step.call("weather", { city: "Bergen" }),
        Step.call("effect", { at: "41" })
      )

      assert.deepStrictEqual(results, [[false, { query: "tides", limit: 10 }], [false, "BERGEN"], [false, 42]])
      assert.deepStrictEqual(tools[1]!.inputSchema, jsonSchema)
      assert.strictEqual(tools[0]!.description, "Searches")
    }))

  it.effect("refuses arguments with the paths and words of the library", () =>
    Effect.gen(function*() {
      const { results } = yield* Tools.run(
        StandardTools.from({
          zod: { input: z.object({ n: z.number().min(3, "must be three or more") }), execute: () => "" },
          valibot: { input: v.object({ at: v.array(v.string()) }), jsonSchema, execute: () => "" },
          later: { input: z.object({ a: z.string() }).refine(async () => false, "not known"), execute: () => "" }
        }),
        Step.call("zod", { n: 1 }),
        Step.call("valibot", { at: ["x", 1] }),
        Step.call("later", { a: "" })
      )

      assert.deepStrictEqual(results, [
        Tools.invalid("n: must be three or more"),
        Tools.invalid("at.1: Invalid type: Expected string but received 1"),
        Tools.invalid("the value: not known")
      ])
    }))

  it.effect("gives a call its ids and its signal", () =>
    Effect.gen(function*() {
      const calls: Array<StandardTools.Call> = []
      yield* Tools.run(
        StandardTools.from({
          look: { input: z.object({}), execute: (_, call) => calls.push(call) }
        }),
        Step.call("look", {}, { id: "call_7" }),
        Step.call("look", {}, { id: "call_8" })
      )

      assert.deepStrictEqual(calls.map(({ idempotencyKey, toolCallId }) => [toolCallId, idempotencyKey]), [
        ["call_7", "t#0/0.0"],
        ["call_8", "t#0/0.1"]
      ])
      assert.isFalse(calls[0]!.abortSignal.aborted)
    }))

  it.effect("waits for approval, always or by the checked input", () =>
    Effect.gen(function*() {
      const input = z.object({ cents: z.number() })
      const toolkit = StandardTools.from({
        pay: { input, needsApproval: ({ cents }) => cents > 100, execute: ({ cents }) => cents },
        send: { input, needsApproval: true, execute: ({ cents }) => cents }
      })
      const { status } = yield* Effect.flatMap(Tools.withToolkit(toolkit).build(), (agent) => agent.run("Go")).pipe(
        Effect.provide([
          Mandate.layerMemory,
          ScriptedModel.layer({
            clerk: [Step.calls(
              Step.call("pay", { cents: 1 }),
              Step.call("pay", { cents: 200 }),
              Step.call("send", { cents: 1 })
            )]
          })
        ])
      )

      assert.deepStrictEqual(status._tag === "Suspended" ? status.pending.map(({ id }): string => id) : [], [
        "0.1:approval0",
        "0.2:approval0"
      ])
    }))

  it.effect("names the tool whose library gives no JSON Schema", () =>
    Effect.gen(function*() {
      const problems = yield* Tools.problems(StandardTools.from({
        weather: { input: v.object({ city: v.string() }), execute: () => "" }
      }))

      assert.deepStrictEqual(problems, [
        "UnsupportedSchema: the schema of the parameters of the tool \"weather\" gives no JSON Schema: its library " +
        "(valibot) has none of its own, so pass one along"
      ])
    }))

  it.effect("takes names that objects have of their own", () =>
    Effect.gen(function*() {
      const tool = { input: z.object({}), execute: () => "here" }
      const { results } = yield* Tools.run(
        StandardTools.from({ constructor: tool, toString: tool, ["__proto__"]: tool }),
        Step.call("constructor", {}),
        Step.call("__proto__", {})
      )

      assert.deepStrictEqual(results, [[false, "here"], [false, "here"]])
    }))
})
