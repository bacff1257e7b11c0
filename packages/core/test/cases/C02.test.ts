import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Answer, RunStore, TypedAgent } from "@mandate/core"
import { Step } from "@mandate/testing"
import { Effect, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { backings } from "../support/Backings.ts"
import * as Results from "../support/Results.ts"
import * as Trees from "../support/Trees.ts"
import * as Waiting from "../support/Waiting.ts"

const Lookup = Tool.make("lookup", { parameters: Schema.Struct({ q: Schema.String }), success: Schema.String })
const Rename = Waiting.gated("rename", { to: Schema.String })

describe.each(backings)("C02 Approving inside a child goes on with the child, in $name", ({ place }) => {
  it.effect("C02 what the child did before is not done again, in a new process", () =>
    Effect.gen(function*() {
      const ran: Array<string> = []
      const child = TypedAgent.text("child", { description: "Renames" }).withTools(Toolkit.make(Lookup, Rename), {
        lookup: ({ q }) => Effect.as(Effect.sync(() => ran.push(`lookup ${q}`)), "found"),
        rename: ({ to }) => Effect.as(Effect.sync(() => ran.push(`rename ${to}`)), "renamed")
      })
      const parent = AgentBuilder.make("parent").withSubagents([child])
      const home = yield* place
      const { model, next } = yield* Waiting.processes(home, {
        parent: [Step.calls(Step.textTask("child", "Rename it")), Step.text("done")],
        child: [
          Step.calls(Step.call("lookup", { q: "a" })),
          Step.calls(Step.call("rename", { to: "b" })),
          Step.text("renamed to b")
        ]
      })

      const first = yield* next(Effect.flatMap(parent.build(), (agent) => agent.run("Go", { threadId: "t" })))
      const ranBefore = [...ran]
      const { status } = yield* next(Effect.flatMap(parent.build(), (agent) => agent.status("t")))
      const pending = status._tag === "Suspended" ? status.pending : []
      const second = yield* next(
        Effect.flatMap(parent.build(), (agent) => agent.resume("t", pending.map(({ id }) => Answer.approve(id))))
      )

      assert.strictEqual(first.status._tag, "Suspended")
      assert.deepStrictEqual(ranBefore, ["lookup a"])
      assert.deepStrictEqual({ ...second.status }, { _tag: "Completed", answer: "done" })
      assert.deepStrictEqual(ran, ["lookup a", "rename b"])
      const asked = yield* model.requestsOf("child")
      assert.deepStrictEqual(asked.map(({ call }) => call.step), [0, 1, 2])
      assert.deepStrictEqual(Results.all(asked[2]!.request.messages).map(({ value }) => value), ["found", "renamed"])
      const [, last] = yield* model.requestsOf("parent")
      assert.deepStrictEqual(Results.all(last!.request.messages), [Results.reported("task", "renamed to b")])
      assert.lengthOf(yield* model.requestsOf("parent"), 2)
      const events = yield* Effect.provideService(Trees.durableEvents("t"), RunStore.RunStore, yield* home)
      assert.lengthOf(Trees.tagged(events, "TaskStarted"), 1)
      assert.lengthOf(Trees.tagged(events, "TaskSettled"), 1)
    }))
})
