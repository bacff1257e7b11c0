import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Answer, Mandate, ToolContext, TypedAgent } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { backings } from "../support/Backings.ts"
import * as Models from "../support/Models.ts"
import * as Results from "../support/Results.ts"
import * as Waiting from "../support/Waiting.ts"

const N = Schema.Number
const texts = ["NaN", "Infinity", "-Infinity"] as const

/** Of each: a schema with a number in it, and the JSON with a text in the place of the number. */
const variants: ReadonlyArray<readonly [what: string, schema: Schema.Codec<any, any>, json: (text: string) => any]> = [
  ["a property", Schema.Struct({ n: N }), (n) => ({ n })],
  ["an optional property", Schema.Struct({ n: Schema.optionalKey(N) }), (n) => ({ n })],
  ["a number with a check", Schema.Struct({ n: N.check(Schema.isLessThan(5)) }), (n) => ({ n })],
  ["a member of a union", Schema.Struct({ n: Schema.Union([Schema.Null, N]) }), (n) => ({ n })],
  ["an element of an array", Schema.Struct({ all: Schema.Array(N) }), (n) => ({ all: [1, n] })],
  ["an element of a tuple", Schema.Struct({ two: Schema.Tuple([N, N]) }), (n) => ({ two: [1, n] })],
  ["a value of a record", Schema.Record(Schema.String, N), (n) => ({ k: n })],
  ["a value of a map", Schema.Struct({ m: Schema.ReadonlyMap(Schema.String, N) }), (n) => ({ m: [["k", n]] })],
  ["a value of a set", Schema.Struct({ s: Schema.ReadonlySet(N) }), (n) => ({ s: [n] })],
  ["a property of a class", class Own extends Schema.Class<Own>("Own")({ n: N }) {}, (n) => ({ n })],
  [
    "a property behind a suspended schema",
    Schema.Struct({ a: Schema.suspend(() => Schema.Struct({ n: N })) }),
    (n) => ({
      a: { n }
    })
  ]
]

describe("N12 a text for a number", () => {
  for (const [what, schema, json] of variants) {
    it.effect(`N12 ${what} is refused in arguments, tasks and reports`, () =>
      Effect.gen(function*() {
        const seen: Array<unknown> = []
        const tools = Toolkit.make(Tool.make("look", { parameters: schema, success: Schema.String }))
        const child = TypedAgent.make("child", { description: "Works", input: schema, report: Schema.String })
        const worker = AgentBuilder.make("worker").withSubagents([child]).withTools(tools, {
          look: (params: unknown) => Effect.as(Effect.sync(() => seen.push(params)), "seen")
        } as never) as AgentBuilder.AgentBuilder<string>
        const reporter = yield* AgentBuilder.make("reporter").withOutput(schema).withReasks(0).build()
        yield* (yield* worker.build()).run("Go")
        const model = yield* ScriptedModel.ScriptedModel
        const results = Results.last((yield* model.requestsOf("worker")).at(-1)?.request)
        const reports = yield* Effect.forEach(texts, () => reporter.run("Go"))

        assert.deepStrictEqual(seen, [])
        assert.deepStrictEqual(
          results.map(Results.reason),
          texts.flatMap(() => ["InvalidArguments", "InvalidInput"])
        )
        assert.deepStrictEqual(reports.map(({ status }) => status._tag), texts.map(() => "InvalidReport"))
      }).pipe(Effect.provide([
        Mandate.layerMemory,
        Models.layer({
          worker: [
            Step.calls(
              ...texts.flatMap((text) => [Step.call("look", json(text)), Step.call("task_child", json(text))])
            ),
            Step.text("done")
          ],
          reporter: Script.runs(...texts.map((text) => [Step.report(json(text))]))
        })
      ])))
  }

  it.effect("N12 where a union takes texts beside numbers, NaN is the text", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const look = Tool.make("look", { parameters: Schema.Struct({ a: Schema.Union([N, Schema.String]) }) })
      const agent = yield* AgentBuilder.make("a").withTools(Toolkit.make(look), {
        look: ({ a }) => Effect.asVoid(Effect.sync(() => seen.push(a)))
      }).build()
      yield* agent.run("Go")

      assert.deepStrictEqual(seen, ["NaN"])
    }).pipe(Effect.provide([
      Mandate.layerMemory,
      Models.layer({ a: [Step.call("look", { a: "NaN" }), Step.text("done")] })
    ])))
})

describe.each(backings)("N12 numbers in $name", ({ place }) => {
  it.effect("N12 a person cannot answer a question for a number with NaN, nor edit arguments to it", () =>
    Effect.gen(function*() {
      const pay = Tool.make("pay", {
        parameters: Schema.Struct({ n: N }),
        success: N,
        needsApproval: true
      })
      const agent = AgentBuilder.make("a").withTools(Toolkit.make(pay), {
        pay: () => ToolContext.ask("How much?", { answer: N })
      })
      const model = yield* ScriptedModel.make({ a: [Step.call("pay", { n: 1 }), Step.text("done")] })
      const { next } = Waiting.processesOf(yield* place, model)
      const built = agent.build()
      const first = yield* next(Effect.flatMap(built, (agent) => agent.run("Go", { threadId: "t" })))
      const idOf = ({ status }: typeof first) => status._tag === "Suspended" ? status.pending[0]!.id : "none"
      const edit = yield* next(
        Effect.flatMap(built, (agent) => Effect.flip(agent.resume("t", [Answer.edit(idOf(first), { n: "NaN" })])))
      )
      const asked = yield* next(
        Effect.flatMap(built, (agent) => agent.resume("t", [Answer.approve(idOf(first))]))
      )
      const reply = yield* next(
        Effect.flatMap(
          built,
          (agent) => Effect.flip(agent.resume("t", [Answer.replyUnknown(idOf(asked), "Infinity")]))
        )
      )
      const last = yield* next(Effect.flatMap(built, (agent) => agent.resume("t", [Answer.reply(idOf(asked), N, 5)])))

      assert.include(edit.message, "n: Expected number")
      assert.include(reply.message, "Expected number")
      assert.deepStrictEqual({ ...last.status }, { _tag: "Completed", answer: "done" })
    }))

  it.effect("N12 what code gives back as NaN is stored, and read again", () =>
    Effect.gen(function*() {
      const look = Tool.make("look", { success: Schema.Struct({ n: N }) })
      const wait = Tool.make("wait", { needsApproval: true })
      const seen: Array<number> = []
      const agent = AgentBuilder.make("a").withTools(Toolkit.make(look, wait), {
        look: () => Effect.map(ToolContext.once("n", N, Effect.succeed(Number.NaN)), (n) => ({ n })),
        wait: () => Effect.asVoid(Effect.map(ToolContext.once("n", N, Effect.succeed(Number.NaN)), (n) => seen.push(n)))
      })
      const model = yield* ScriptedModel.make({
        a: [Step.calls(Step.call("look"), Step.call("wait")), Step.text("done")]
      })
      const { next } = Waiting.processesOf(yield* place, model)
      const first = yield* next(Effect.flatMap(agent.build(), (agent) => agent.run("Go", { threadId: "t" })))
      const id = first.status._tag === "Suspended" ? first.status.pending[0]!.id : "none"
      const last = yield* next(Effect.flatMap(agent.build(), (agent) => agent.resume("t", [Answer.approve(id)])))

      assert.deepStrictEqual({ ...last.status }, { _tag: "Completed", answer: "done" })
      assert.deepStrictEqual(seen, [Number.NaN])
    }))
})
