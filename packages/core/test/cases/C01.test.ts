import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, ToolContext, TypedAgent } from "@mandate/core"
import { Step } from "@mandate/testing"
import { Effect, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { backings } from "../support/Backings.ts"
import * as Waiting from "../support/Waiting.ts"

const EraseRecord = Waiting.gated("erase_record", { id: Schema.Int })
const AskName = Tool.make("ask_name", { success: Schema.String })

const keeper = (ran: Array<unknown>) =>
  TypedAgent.text("keeper", { description: "Keeps records" }).withTools(Toolkit.make(EraseRecord, AskName), {
    erase_record: ({ id }) => Effect.as(Effect.sync(() => ran.push(id)), "erased"),
    ask_name: () =>
      Effect.tap(ToolContext.ask("Whose?", { answer: Schema.String }), (name) => Effect.sync(() => ran.push(name)))
  })

const pauses = [
  ["approval", Step.call("erase_record", { id: 7 }), {
    _tag: "Approval",
    tool: "erase_record",
    arguments: { id: 7 }
  }],
  ["question", Step.call("ask_name"), {
    _tag: "Question",
    tool: "ask_name",
    question: "Whose?",
    answerSchema: { type: "string" }
  }]
] as const

describe.each(backings)("C01 A child's pending approval reaches whoever called the parent, in $name", ({ place }) => {
  it.effect.each(pauses)(
    "C01 an %s suspends the parent, and nothing goes on",
    ([kind, call, request]) =>
      Effect.gen(function*() {
        const ran: Array<unknown> = []
        const home = yield* place
        const { model, next } = yield* Waiting.processes(home, {
          parent: [Step.calls(Step.textTask("keeper", "Erase it"))],
          keeper: [Step.calls(call)]
        })
        const parent = AgentBuilder.make("parent").withSubagents([keeper(ran)])

        const result = yield* next(
          Effect.flatMap(parent.build(), (agent) => agent.run("Go", { threadId: "t" }))
        )
        const [status, history] = yield* next(
          Effect.flatMap(parent.build(), (agent) => Effect.all([agent.status("t"), agent.history("t")]))
        )

        assert.deepStrictEqual(result.status as unknown, {
          _tag: "Suspended",
          pending: [{
            id: `0.0:child~0.0:${kind}0`,
            run: {
              threadId: "t#0/0.0",
              runId: "t#0/0.0#0",
              subagent: "keeper",
              depth: 1,
              call: { key: "0.0", toolCallId: "call-parent-0-0-0" }
            },
            agentPath: ["parent", "keeper"],
            request,
            askedAt: 0
          }]
        })
        assert.deepStrictEqual(JSON.parse(JSON.stringify(result.status)), result.status)
        assert.deepStrictEqual(status.status, result.status)
        assert.deepStrictEqual(history, [])
        assert.lengthOf(yield* model.requestsOf("parent"), 1)
        assert.lengthOf(yield* model.requestsOf("keeper"), 1)
        assert.deepStrictEqual(ran, [])
        const stored = yield* Effect.flatMap(home, (store) => store.load("t#0"))
        assert.strictEqual(stored?.row.state, "Suspended")
        assert.deepStrictEqual((stored?.records ?? []).filter(({ key }) => key.startsWith("t/")), [])
      })
  )

  it.effect.each(pauses)(
    "C01 an %s of a subagent that runs with no parent is listed directly",
    ([kind, call, request]) =>
      Effect.gen(function*() {
        const ran: Array<unknown> = []
        const { model, next } = yield* Waiting.processes(yield* place, { keeper: [Step.calls(call)] })

        const outcome = yield* next(
          Effect.flatMap(keeper(ran).bind(), (bound) => bound.run({ description: "Erase it" }, { threadId: "k" }))
        )
        const { status } = yield* next(Effect.flatMap(keeper(ran).bind(), (bound) => bound.status("k")))

        assert.strictEqual(outcome._tag, "Suspended")
        const pending = [{
          id: `0.0:${kind}0`,
          run: { threadId: "k", runId: "k#0", subagent: "keeper", depth: 0 },
          agentPath: ["keeper"],
          request,
          askedAt: 0
        }]
        assert.deepStrictEqual<unknown>(outcome._tag === "Suspended" ? outcome.pending : [], pending)
        assert.deepStrictEqual<unknown>(status, { _tag: "Suspended", pending })
        assert.lengthOf(yield* model.requests, 1)
        assert.deepStrictEqual(ran, [])
      })
  )
})
