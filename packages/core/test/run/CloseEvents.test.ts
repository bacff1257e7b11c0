import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, ToolContext, TypedAgent } from "@mandate/core"
import { Step } from "@mandate/testing"
import { Effect } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Trees from "../support/Trees.ts"

const child = TypedAgent.text("child", { description: "Works" })
const top = AgentBuilder.make("top").withSubagents([child]).withChildFailure({ refused: "fail-run" })

describe("events of a run that is cancelled", () => {
  it.effect("end the tasks whose child had settled and whose result was never recorded", () =>
    Effect.gen(function*() {
      const agent = yield* top.build()
      yield* Effect.flip(agent.run("Go", { threadId: "t" }))
      yield* agent.cancel("t")
      const events = yield* Trees.durableEvents("t")

      const tasks = Trees.tagged(events, "TaskSettled")
      assert.deepStrictEqual(
        tasks.map(({ childRunId, failure, runId }) => [runId as string, childRunId as string, failure?._tag]),
        [["t#0", "t#0/0.0#0", "Blocked"]]
      )
      assert.deepStrictEqual(events.slice(-2).map(({ _tag }) => _tag), ["TaskSettled", "RunSettled"])
      assert.strictEqual(tasks[0]?.usage.modelCalls, 1)
    }).pipe(Effect.provide(Trees.runtime({
      top: [Step.textTask("child", "x")],
      child: [Step.contentFilter()]
    }))))
})

describe("events of a failed child that its parent goes on without", () => {
  const stopping = child.withTools(Toolkit.make(Tool.make("stop")), {
    stop: () => ToolContext.fatal("it cannot go on")
  })
  const lenient = AgentBuilder.make("top").withSubagents([stopping]).withChildFailure({ toolFatal: "tool-error" })

  it.effect.each([["ModelFailed", Step.fail("authentication")], ["ToolFatal", Step.call("stop")]] as const)(
    "say how it failed, as its row does: %s",
    ([tag, step]) =>
      Effect.gen(function*() {
        const { status } = yield* Effect.flatMap(lenient.build(), (agent) => agent.run("Go", { threadId: "t" }))
        const settled = Trees.tagged(yield* Trees.durableEvents("t"), "RunSettled")

        assert.strictEqual(status._tag, "Completed")
        assert.deepStrictEqual(settled.map((event) => [event.runId as string, event.status as string]), [
          ["t#0/0.0#0", tag],
          ["t#0", "Completed"]
        ])
        assert.deepStrictEqual(yield* Trees.ends("t"), { "t#0": "Completed", "t#0/0.0#0": tag })
      }).pipe(Effect.provide(Trees.runtime({
        top: [Step.textTask("child", "x"), Step.text("done")],
        child: [step]
      })))
  )
})
