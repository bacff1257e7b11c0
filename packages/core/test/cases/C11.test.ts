import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Answer, ModelRegistry, type ModelRequest, ToolContext, TypedAgent } from "@mandate/core"
import { ScriptedModel, Step } from "@mandate/testing"
import { Effect, Layer, Schema, SchemaGetter } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { type Backing, backings } from "../support/Backings.ts"
import * as Results from "../support/Results.ts"
import * as Waiting from "../support/Waiting.ts"

const answer = { status: "open", summary: "The gate is open." } as const

// The tools have a key of the report, with values that the report does not take.
const Read = Tool.make("read", { parameters: Schema.Struct({ status: Schema.Int }), success: Schema.String })
const Ask = Tool.make("ask", { parameters: Schema.Struct({ status: Schema.Int }), success: Schema.String })

/**
 * A lead and its typed clerk, who reads, asks a person and reports; `reports` counts what is decoded as a report. Each verb
 * runs in a process of its own.
 */
const setUp = Effect.fnUntraced(function*(
  { place }: Backing,
  native: boolean,
  ...firstTurns: ReadonlyArray<Step.Step>
) {
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
  const model = yield* ScriptedModel.make({
    lead: [Step.taskOf(clerk, { gate: "north" }), Step.text("done")],
    clerk: [
      ...firstTurns,
      Step.call("read", { status: 1 }),
      Step.call("ask", { status: 2 }),
      native ? Step.text(JSON.stringify(answer)) : Step.report(answer)
    ]
  })
  const registry = Layer.merge(
    ScriptedModel.layerOf(model),
    Layer.succeed(ModelRegistry.ModelRegistry, {
      get: () => Effect.succeed({ ...model.client, structuredAnswers: native })
    })
  )
  const { next } = Waiting.processesOf(yield* place, model, registry)
  return {
    counts,
    model,
    requests: Effect.map(model.requestsOf("clerk"), (all) => all.map(({ request }) => request)),
    run: next(Effect.flatMap(lead.build(), (agent) => agent.run("Go", { threadId: "t" }))),
    resume: (answer: Answer.Answer) => next(Effect.flatMap(lead.build(), (agent) => agent.resume("t", [answer])))
  }
})

const combinations = backings.flatMap((backing) => [false, true].map((native) => ({ backing, native })))

describe.each(combinations)(
  "C11 The schema of the answer beside the tools of a child, in $backing.name, native: $native",
  ({ backing, native }) => {
    it.effect("C11 the child reads, asks and then reports, and every turn has both tools and the demand", () =>
      Effect.gen(function*() {
        const { counts, model, requests, resume, run } = yield* setUp(backing, native)
        const first = yield* run
        const ids = first.status._tag === "Suspended" ? first.status.pending.map(({ id }) => String(id)) : []
        const before = { ...counts, requests: (yield* requests).length }
        const last = yield* resume(Answer.reply(ids[0]!, Schema.Boolean, true))

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
          assert.deepStrictEqual(demand, demandOf(sent[0]!))
        }
        assert.deepStrictEqual(Results.all(sent[2]!.messages).map(({ value }) => value), ["the gate is open", "true"])
        const seen = Results.last((yield* model.requestsOf("lead")).at(-1)?.request)
        assert.deepStrictEqual(seen, [Results.reported("task_clerk", answer)])
      }))

    it.effect("C11 the arguments of a tool are not taken for a report, even if they are one", () =>
      Effect.gen(function*() {
        const { counts, requests, resume, run } = yield* setUp(backing, native, Step.call("read", answer))
        yield* run

        const [refused, read] = Results.all((yield* requests).at(-1)!.messages)
        assert.strictEqual(refused && Results.reason(refused), "InvalidArguments")
        assert.include(JSON.stringify(refused), "status: Expected")
        assert.strictEqual(read?.value, "the gate is open")
        assert.deepStrictEqual(counts, { reports: 0, handled: [{ status: 1 }] })
        yield* resume(Answer.reply("0.0:child~2.0:question0", Schema.Boolean, false))
        assert.strictEqual(counts.reports, 1)
      }))
  }
)

const demandOf = (request: ModelRequest.ModelRequest) =>
  request.answer?.schema ?? request.tools.find(({ name }) => name === "submit_report")?.inputSchema
