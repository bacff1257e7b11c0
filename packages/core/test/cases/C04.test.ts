import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Answer, RunStore, TypedAgent } from "@mandate/core"
import { Script, Step } from "@mandate/testing"
import { Effect, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { backings } from "../support/Backings.ts"
import * as Results from "../support/Results.ts"
import * as Trees from "../support/Trees.ts"
import * as Waiting from "../support/Waiting.ts"

const Charge = Tool.make("charge", { parameters: Schema.Struct({ amount: Schema.Int }), success: Schema.String })
const Check = Waiting.gated("check", {})

describe.each(backings)("C04 A sibling call that had finished, in $name", ({ place }) => {
  it.effect("C04 neither runs again nor loses its result when the others go on", () =>
    Effect.gen(function*() {
      const charged: Array<number> = []
      const clerk = TypedAgent.text("clerk", { description: "Checks" }).withTools(Toolkit.make(Check), {
        check: () => Effect.succeed("checked")
      })
      const parent = AgentBuilder.make("parent").withSubagents([clerk]).withTools(Toolkit.make(Charge), {
        charge: ({ amount }) => Effect.sync(() => `charged ${charged.push(amount)}`)
      })
      const home = yield* place
      const { model, next } = yield* Waiting.processes(home, {
        parent: [
          Step.calls(
            Step.call("charge", { amount: 5 }),
            Step.textTask("clerk", "wait"),
            Step.textTask("clerk", "report")
          ),
          Step.text("all done")
        ],
        clerk: Script.byInput((input) =>
          input === "wait" ? [Step.calls(Step.call("check")), Step.text("waited")] : [Step.text("done")]
        )
      })

      yield* next(Effect.flatMap(parent.build(), (agent) => agent.run("Go", { threadId: "t" })))
      const result = yield* next(
        Effect.flatMap(parent.build(), (agent) => agent.resume("t", [Answer.approve("0.1:child~0.0:approval0")]))
      )

      assert.deepStrictEqual({ ...result.status }, { _tag: "Completed", answer: "all done" })
      assert.deepStrictEqual(charged, [5])
      assert.lengthOf((yield* model.requestsOf("clerk")).filter(({ call }) => call.call?.key === "0.2"), 1)
      const [, last, more] = yield* model.requestsOf("parent")
      assert.isUndefined(more)
      assert.deepStrictEqual(Results.last(last?.request), [
        { name: "charge", isError: false, value: "charged 1" },
        Results.reported("task", "waited"),
        Results.reported("task", "done")
      ])
      assert.deepStrictEqual(
        Results.parts(last!.request.messages).map(({ id }) => id),
        Results.callIds(last!.request.messages)
      )
      const events = yield* Effect.provideService(Trees.durableEvents("t"), RunStore.RunStore, yield* home)
      const started = Trees.tagged(events, "RunStarted").map(({ runId }) => String(runId))
      assert.sameMembers(started, ["t#0", "t#0/0.1#0", "t#0/0.2#0"])
    }))
})
