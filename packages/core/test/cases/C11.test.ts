import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Answer, Mandate, ModelRegistry, ToolContext, TypedAgent } from "@mandate/core"
import { ScriptedModel, Step, StrictProvider } from "@mandate/testing"
import { Effect, Layer, Schema, SchemaGetter } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Results from "../support/Results.ts"

const answer = { status: "open", summary: "The gate is open." } as const

// The tools have a key of the report, with values that the report does not take.
const Read = Tool.make("read", { parameters: Schema.Struct({ status: Schema.Int }), success: Schema.String })
const Ask = Tool.make("ask", { parameters: Schema.Struct({ status: Schema.Int }), success: Schema.String })

/** A lead and its typed clerk, who reads, asks a person and reports; `reports` counts what is decoded as a report. */
const setUp = (native: boolean, ...firstTurns: ReadonlyArray<Step.Step>) => {
  const counts = { reports: 0, handled: [] as Array<unknown> }
  const Summary = Schema.String.pipe(Schema.decodeTo(Schema.String, {
    decode: SchemaGetter.transform((summary: string) => {
      counts.reports++
      return summary
    }),
    encode: SchemaGetter.transform((summary: string) => summary)
  }))
  const clerk = TypedAgent.make("clerk", {
    description: "Looks after the gate",
    input: Schema.Struct({ gate: Schema.String }),
    report: Schema.Struct({ status: Schema.Literals(["open", "shut"]), summary: Summary })
  }).withTools(Toolkit.make(Read, Ask), {
    read: (params) => Effect.as(Effect.sync(() => counts.handled.push(params)), "the gate is open"),
    ask: ({ status }) =>
      Effect.map(ToolContext.ask(`Is ${status} right?`, { answer: Schema.Boolean }), (isRight) => `${isRight}`)
  })
  const lead = AgentBuilder.make("lead").withSubagents([clerk])
  const model = ScriptedModel.make({
    lead: [Step.taskOf(clerk, { gate: "north" }), Step.text("done")],
    clerk: [
      ...firstTurns,
      Step.call("read", { status: 1 }),
      Step.call("ask", { status: 2 }),
      native ? Step.text(JSON.stringify(answer)) : Step.report(answer)
    ]
  })
  const layers = Layer.unwrap(Effect.map(model, (scripted) =>
    Layer.mergeAll(
      Mandate.layerMemory,
      StrictProvider.layer(Layer.merge(
        ScriptedModel.layerOf(scripted),
        Layer.succeed(ModelRegistry.ModelRegistry, {
          get: () => Effect.succeed({ ...scripted.client, structuredAnswers: native })
        })
      ))
    )))
  return { counts, lead, layers }
}

const requests = Effect.flatMap(
  ScriptedModel.ScriptedModel,
  (model) => Effect.map(model.requestsOf("clerk"), (all) => all.map(({ request }) => request))
)

describe("C11 The schema of the answer beside the tools of a child", () => {
  for (const native of [false, true]) {
    const way = native ? "a native answer" : "submit_report"

    it.effect(`C11 with ${way} the child reads, asks and then reports, and every turn has both tools and the demand`, () => {
      const { counts, layers, lead } = setUp(native)
      return Effect.gen(function*() {
        const agent = yield* lead.build()
        const first = yield* agent.run("Go", { threadId: "t" })
        const ids = first.status._tag === "Suspended" ? first.status.pending.map(({ id }) => id) : []
        const before = { ...counts, requests: (yield* requests).length }
        const last = yield* agent.resume("t", ids.map((id) => Answer.reply(id, Schema.Boolean, true)))

        assert.deepStrictEqual(ids, ["0.0:child~1.0:question0"])
        assert.deepStrictEqual(before, { reports: 0, handled: [{ status: 1 }], requests: 2 })
        assert.deepStrictEqual({ ...last.status }, { _tag: "Completed", answer: "done" })
        assert.strictEqual(counts.reports, 1)
        assert.deepStrictEqual(counts.handled, [{ status: 1 }])

        const sent = yield* requests
        const tools = native ? ["read", "ask"] : ["read", "ask", "submit_report"]
        assert.lengthOf(sent, 3)
        for (const request of sent) {
          const shown = [request.toolChoice, request.tools.map(({ name }) => name)]
          const demand = demandOf(request)
          assert.deepStrictEqual(shown, ["auto", tools])
          assert.strictEqual(request.answer !== undefined, native)
          assert.hasAllKeys(demand?.["properties"], ["status", "summary"])
          assert.deepStrictEqual(demand, demandOf(sent[0]))
        }
        assert.deepStrictEqual(Results.all(sent[2]!.messages).map(({ value }) => value), ["the gate is open", "true"])
        const seen = Results.last((yield* (yield* ScriptedModel.ScriptedModel).requestsOf("lead")).at(-1)?.request)
        assert.deepStrictEqual(seen, [Results.reported("task_clerk", answer)])
        assert.lengthOf(yield* (yield* StrictProvider.StrictProvider).violations, 0)
      }).pipe(Effect.provide(layers), Effect.scoped)
    })

    it.effect(`C11 with ${way} the arguments of a tool are not taken for a report, even if they are one`, () => {
      const { counts, layers, lead } = setUp(native, Step.call("read", answer))
      return Effect.gen(function*() {
        const agent = yield* lead.build()
        yield* agent.run("Go", { threadId: "t" })

        const [refused, read] = Results.all((yield* requests).at(-1)!.messages)
        assert.strictEqual(refused && Results.reason(refused), "InvalidArguments")
        assert.include(JSON.stringify(refused), "status: Expected")
        assert.strictEqual(read?.value, "the gate is open")
        assert.deepStrictEqual(counts, { reports: 0, handled: [{ status: 1 }] })
        yield* agent.resume("t", [Answer.reply("0.0:child~2.0:question0", Schema.Boolean, false)])
        assert.strictEqual(counts.reports, 1)
      }).pipe(Effect.provide(layers), Effect.scoped)
    })
  }
})

const demandOf = (request: Effect.Success<typeof requests>[number] | undefined) =>
  request?.answer?.schema ?? request?.tools.find(({ name }) => name === "submit_report")?.inputSchema
