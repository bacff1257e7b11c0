import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Answer, MemoryRunStore, TypedAgent } from "@mandate/core"
import { Step } from "@mandate/testing"
import { Effect, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Waiting from "../support/Waiting.ts"

const Lookup = Tool.make("lookup", { parameters: Schema.Struct({ q: Schema.String }), success: Schema.String })
const Rename = Waiting.gated("rename", { to: Schema.String })

describe("C02 Approving inside a child goes on with the child", () => {
  it.effect("C02 what the child did before is not done again, in a new process", () =>
    Effect.gen(function*() {
      const ran: Array<string> = []
      const child = TypedAgent.text("child", { description: "Renames" }).withTools(Toolkit.make(Lookup, Rename), {
        lookup: ({ q }) => Effect.as(Effect.sync(() => ran.push(`lookup ${q}`)), "found"),
        rename: ({ to }) => Effect.as(Effect.sync(() => ran.push(`rename ${to}`)), "renamed")
      })
      const parent = AgentBuilder.make("parent").withSubagents([child])
      const { model, next } = yield* Waiting.processes(MemoryRunStore.make(), {
        parent: [Step.calls(Step.textTask("child", "Rename it")), Step.text("done")],
        child: [
          Step.calls(Step.call("lookup", { q: "a" })),
          Step.calls(Step.call("rename", { to: "b" })),
          Step.text("renamed to b")
        ]
      })

      const first = yield* next(Effect.flatMap(parent.build(), (agent) => agent.run("Go", { threadId: "t" })))
      const pending = first.status._tag === "Suspended" ? first.status.pending : []
      const second = yield* next(
        Effect.flatMap(parent.build(), (agent) => agent.resume("t", pending.map(({ id }) => Answer.approve(id))))
      )

      assert.deepStrictEqual({ ...second.status }, { _tag: "Completed", answer: "done" })
      assert.deepStrictEqual(ran, ["lookup a", "rename b"])
      assert.lengthOf(yield* model.requestsOf("child"), 3)
      const reports = (yield* model.requestsOf("parent"))[1]?.request.messages.at(-1)
      assert.deepStrictEqual(
        reports?.role === "tool" ? reports.content.map(({ output }) => output.value) : [],
        [{ report: "renamed to b" }]
      )
    }))
})
