import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, TypedAgent } from "@mandate/core"
import { Step } from "@mandate/testing"
import { Effect } from "effect"
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
