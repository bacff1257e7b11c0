import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Answer, Mandate, TypedAgent } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Arbitrary, Effect, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as ExactNumbers from "../../src/values/ExactNumbers.ts"
import * as Models from "../support/Models.ts"
import * as Results from "../support/Results.ts"

const inexact = "an integer beyond 2^53 cannot be read exactly; write it as text"

const refused = [
  ["the first integer that is rounded", "9007199254740993", inexact],
  ["a negative one", "-9007199254740993", inexact],
  ["2^53 itself, which stands for its neighbour too", "9007199254740992", inexact],
  ["an integer with a fraction of zeros", "9007199254740993.0", inexact],
  ["an integer with an exponent", "9.007199254740993e15", inexact],
  ["an integer with an exponent of zero", "9007199254740993E0", inexact],
  ["an integer of 20 digits", "12345678901234567890", inexact],
  ["an integer of 31 digits that ends in zeros", `1${"0".repeat(30)}`, inexact],
  ["a number that is infinite as a double", "1e400", "a number this large cannot be read; write it as text"],
  ["a negative one that is infinite", "-1e400", "a number this large cannot be read; write it as text"],
  ["a number that is zero as a double", "1e-400", "a number this close to zero cannot be read; write it as text"]
] as const

const exact = [
  "0",
  "-0",
  "0e5",
  "0.0",
  "9007199254740991",
  "-9007199254740991",
  "6.02214076e23",
  "1e21",
  "1E+21",
  "3.141592653589793238462643",
  "0.1",
  "123456789012345.678901"
]

const Look = Tool.make("look", { parameters: Schema.Struct({ id: Schema.Number }), success: Schema.String })
const dynamic = (name: string) =>
  Tool.dynamic(name, {
    parameters: { type: "object", properties: { id: { type: "integer" } } },
    success: Schema.String
  })

/** The tool's error, what it was called with, the status of the report, and the error of a task. */
const tried = Effect.fnUntraced(function*(json: string) {
  const seen: Array<unknown> = []
  const see = (params: unknown) => Effect.as(Effect.sync(() => seen.push(params)), "seen")
  const child = TypedAgent.make("child", {
    description: "Works",
    input: Schema.Struct({ id: Schema.Number }),
    report: Schema.String
  })
  const worker = AgentBuilder.make("worker").withSubagents([child])
    .withTools(Toolkit.make(Look, dynamic("raw")), { look: see, raw: see })
  const reporter = AgentBuilder.make("reporter").withOutput(Schema.Struct({ id: Schema.Number })).withReasks(0)
  return yield* Effect.gen(function*() {
    yield* (yield* worker.build()).run("Go")
    const model = yield* ScriptedModel.ScriptedModel
    const results = Results.last((yield* model.requestsOf("worker")).at(-1)?.request)
    const { status } = yield* (yield* reporter.build()).run("Go")
    const text = yield* (yield* reporter.build()).run("Go")
    return { seen, results, status, text: text.status }
  }).pipe(Effect.provide([
    Mandate.layerMemory,
    Models.layer({
      worker: [
        Step.calls(Step.rawCall("look", json), Step.rawCall("raw", json), Step.rawCall("task_child", json)),
        Step.text("done")
      ],
      child: Script.optional(Script.each([Step.report({ value: "ok" })])),
      reporter: Script.runs([Step.calls(Step.rawCall("submit_report", json))], [Step.text(json)])
    })
  ]))
})

describe("F15 a number that JSON parsers change", () => {
  for (const [what, literal, problem] of refused) {
    it.effect(`F15 ${what} is refused in arguments, tasks and reports`, () =>
      Effect.gen(function*() {
        const { results, seen, status, text } = yield* tried(`{"id": ${literal}, "text": "0"}`)

        assert.deepStrictEqual(seen, [])
        assert.deepStrictEqual(results.map(Results.reason), ["InvalidArguments", "InvalidArguments", "InvalidInput"])
        for (const result of results) assert.include(JSON.stringify(result), `id: ${problem}`)
        for (const one of [status, text]) {
          assert.strictEqual(one._tag, "InvalidReport")
          assert.include(JSON.stringify(one), problem)
        }
      }))
  }

  for (const literal of exact) {
    it.effect(`F15 ${literal} is read as JSON has it`, () =>
      Effect.gen(function*() {
        const { seen, status } = yield* tried(`{"id": ${literal}, "text": "9007199254740993 and 1e400"}`)
        const id = Number(literal)

        assert.lengthOf(seen, 2)
        for (const one of seen) assert.strictEqual((one as { readonly id: number }).id, id)
        assert.strictEqual(status._tag === "Completed" && status.answer.id, id + 0)
      }))
  }

  it.effect("F15 arguments that a person edits, and the input of an agent for JSON, are held to the same", () =>
    Effect.gen(function*() {
      const pay = Tool.make("pay", { parameters: Schema.Struct({ id: Schema.Number }), needsApproval: true })
      const agent = yield* AgentBuilder.make("a").withTools(Toolkit.make(pay), { pay: () => Effect.void }).build()
      const { status } = yield* agent.run("Go", { threadId: "t" })
      const [pending] = status._tag === "Suspended" ? status.pending : []
      const edited = yield* Effect.flip(agent.resume("t", [Answer.edit(pending!.id, { id: 2 ** 53 })]))
      const bound = yield* TypedAgent.make("b", {
        description: "Works",
        input: Schema.Struct({ id: Schema.Number }),
        report: Schema.String
      }).bind()
      const given = yield* Effect.flip(bound.json.run({ id: 2 ** 60 }))

      assert.include(edited.message, inexact)
      assert.include(given.message, `id: ${inexact}`)
    }).pipe(Effect.provide([
      Mandate.layerMemory,
      Models.layer({ a: [Step.call("pay", { id: 1 })] })
    ])))

  it.prop(
    "F15 an integer is read if and only if a double holds it and no other",
    { digits: Arbitrary.schema(Schema.BigInt), nested: Schema.Boolean, text: Schema.String },
    ({ digits, nested, text }) => {
      for (const integer of [digits, digits * 2n ** 40n + 1n, digits ** 5n]) {
        const item = `{${JSON.stringify(text)}:[${JSON.stringify(text)}, ${integer}]}`
        const json = nested ? `[${item}]` : item
        const problem = ExactNumbers.inText(json, JSON.parse(json))

        assert.strictEqual(problem === undefined, Number.isSafeInteger(Number(integer)))
      }
    }
  )
})
