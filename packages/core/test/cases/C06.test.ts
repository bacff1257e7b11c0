import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Answer, MemoryRunStore, ToolContext, TypedAgent } from "@mandate/core"
import { Step } from "@mandate/testing"
import { Effect, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Waiting from "../support/Waiting.ts"

const Pay = Waiting.gated("pay", { amount: Schema.Int })
const Ask = Tool.make("ask", { success: Schema.String })

/** A parent, a child and a grandchild that waits. */
const setUp = Effect.fnUntraced(function*(call: ReturnType<typeof Step.call>) {
  const paid: Array<number> = []
  const grandchild = TypedAgent.text("grandchild", { description: "Pays" }).withTools(Toolkit.make(Pay, Ask), {
    pay: ({ amount }) => Effect.as(Effect.sync(() => paid.push(amount)), `paid ${amount}`),
    ask: () => ToolContext.ask("How much?", { answer: Schema.String })
  })
  const child = TypedAgent.text("child", { description: "Delegates" }).withSubagents([grandchild])
  const parent = AgentBuilder.make("parent").withSubagents([child], { maxDepth: 2 })
  const { model, next } = yield* Waiting.processes(MemoryRunStore.make(), {
    parent: [Step.calls(Step.textTask("child", "Pay")), Step.text("all done")],
    child: [Step.calls(Step.textTask("grandchild", "Pay")), Step.text("child done")],
    grandchild: [Step.calls(call), Step.text("grandchild done")]
  })
  const first = yield* next(Effect.flatMap(parent.build(), (agent) => agent.run("Go", { threadId: "t" })))
  const ids = first.status._tag === "Suspended" ? first.status.pending.map(({ id }) => String(id)) : []
  const answer = (given: Answer.Answer) => next(Effect.flatMap(parent.build(), (agent) => agent.resume("t", [given])))
  return { paid, model, ids, answer }
})

const approval = "0.0:child~0.0:child~0.0:approval0"

describe("C06 Approvals two levels down", () => {
  it.effect.each(
    [
      ["approve", Answer.approve(approval), [10], "paid 10", "{\"amount\":10}"],
      ["edit", Answer.edit(approval, { amount: 3 }), [3], "paid 3", "{\"amount\":3}"],
      ["reject", Answer.reject(approval, "too much"), [], "too much", "{\"amount\":10}"]
    ] as const
  )("C06 %s is applied once, and every level goes on", ([, given, payments, seen, shown]) =>
    Effect.gen(function*() {
      const { answer, ids, model, paid } = yield* setUp(Step.call("pay", { amount: 10 }))
      assert.deepStrictEqual(ids, [approval])

      const result = yield* answer(given)

      assert.deepStrictEqual({ ...result.status }, { _tag: "Completed", answer: "all done" })
      assert.deepStrictEqual(paid, [...payments])
      const last = (yield* model.requestsOf("grandchild")).at(-1)?.request.messages ?? []
      assert.include(JSON.stringify(last.at(-1)), seen)
      const call = last.flatMap((message) => message.role === "assistant" ? message.content : [])[0]
      assert.strictEqual(call?.type === "tool-call" ? call.arguments : "", shown)
      assert.lengthOf(yield* model.requests, 6)
    }))

  it.effect("C06 a question is answered by a reply", () =>
    Effect.gen(function*() {
      const { answer, ids, model } = yield* setUp(Step.call("ask"))

      const result = yield* answer(Answer.reply(ids[0]!, Schema.String, "twelve"))

      assert.deepStrictEqual(ids, ["0.0:child~0.0:child~0.0:question0"])
      assert.deepStrictEqual({ ...result.status }, { _tag: "Completed", answer: "all done" })
      assert.include(JSON.stringify((yield* model.requestsOf("grandchild")).at(-1)?.request.messages.at(-1)), "twelve")
    }))
})
