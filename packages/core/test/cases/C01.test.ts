import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, MemoryRunStore, ToolContext, TypedAgent } from "@mandate/core"
import { Step } from "@mandate/testing"
import { Effect, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Waiting from "../support/Waiting.ts"

const EraseRecord = Waiting.gated("erase_record", { id: Schema.Int })
const AskName = Tool.make("ask_name", { success: Schema.String })

const keeper = (ran: Array<number>) =>
  TypedAgent.text("keeper", { description: "Keeps records" }).withTools(Toolkit.make(EraseRecord, AskName), {
    erase_record: ({ id }) => Effect.as(Effect.sync(() => ran.push(id)), "erased"),
    ask_name: () => ToolContext.ask("Whose?", { answer: Schema.String })
  })

describe("C01 A child's pending approval reaches whoever called the parent", () => {
  it.effect.each(
    [
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
  )("C01 an %s suspends the parent, and nothing goes on", ([kind, call, request]) =>
    Effect.gen(function*() {
      const ran: Array<number> = []
      const store = MemoryRunStore.make()
      const { model, next } = yield* Waiting.processes(store, {
        parent: [Step.calls(Step.textTask("keeper", "Erase it"))],
        keeper: [Step.calls(call)]
      })
      const parent = AgentBuilder.make("parent").withSubagents([keeper(ran)])

      const result = yield* next(
        Effect.flatMap(parent.build(), (agent) => agent.run("Go", { threadId: "t" }))
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
      assert.lengthOf(yield* model.requestsOf("parent"), 1)
      assert.deepStrictEqual(ran, [])
      assert.isUndefined((yield* store.load("t#0"))?.records.find(({ key }) => key.startsWith("t/")))
      const status = yield* next(Effect.flatMap(parent.build(), (agent) => agent.status("t")))
      assert.deepStrictEqual(status.status, result.status)
    }))

  it.effect("C01 a subagent that runs with no parent lists its own", () =>
    Effect.gen(function*() {
      const ran: Array<number> = []
      const { next } = yield* Waiting.processes(MemoryRunStore.make(), {
        keeper: [Step.calls(Step.call("erase_record", { id: 7 }))]
      })

      const outcome = yield* next(
        Effect.flatMap(keeper(ran).bind(), (bound) => bound.run({ description: "Erase it" }, { threadId: "k" }))
      )

      assert.strictEqual(outcome._tag, "Suspended")
      if (outcome._tag !== "Suspended") return
      assert.deepStrictEqual(outcome.pending.map(({ id }) => String(id)), ["0.0:approval0"])
      assert.deepStrictEqual(ran, [])
    }))
})
