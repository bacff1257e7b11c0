import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, type RunResult, TypedAgent } from "@mandate/core"
import { Script, Step } from "@mandate/testing"
import { Effect, Fiber } from "effect"
import { backings } from "../support/Backings.ts"
import * as Waiting from "../support/Waiting.ts"

const child = TypedAgent.text("child", { description: "Works" })
const top = AgentBuilder.make("top").withSubagents([child])
const task = Step.textTask("child", "go")

// Every response of a script uses 15 tokens unless it says otherwise.
const perResponse = 15

const limitOf = ({ status }: RunResult.RunResult<unknown>) =>
  status._tag === "BudgetExceeded" ? status.limit : status._tag

describe.each(backings)("failed attempts and the budget of a whole tree, in $name", ({ make, pass }) => {
  it.effect("are not repeated once it is used up", () =>
    Effect.gen(function*() {
      const { model, next } = yield* Waiting.processes(yield* make, {
        top: [Step.calls(task, task)],
        child: Script.optional(Script.runs(
          [Step.again(Step.fail("network", { usage: { input: 1, output: 1 } }), Step.text("late"))],
          [Step.text("child done")]
        ))
      })
      const running = yield* Effect.forkChild(
        next(Effect.flatMap(
          top.build(),
          (agent) => agent.run("Go", { threadId: "t", treeBudget: { maxTokens: 2 * perResponse - 1 } })
        )),
        { startImmediately: true }
      )
      yield* pass("1 minute")
      const result = yield* Fiber.join(running)

      assert.strictEqual(limitOf(result), "treeTokens")
      assert.lengthOf(yield* model.requestsOf("child"), 2)
      assert.strictEqual(result.usage.tree.inputTokens + result.usage.tree.outputTokens, 2 * perResponse + 2)
    }))

  it.effect("count as they come, also for the next attempt", () =>
    Effect.gen(function*() {
      const { model, next } = yield* Waiting.processes(yield* make, {
        top: Script.optional([Step.again(Step.fail("network", { usage: { input: 7, output: 4 } }), Step.text("late"))])
      })
      const running = yield* Effect.forkChild(
        next(Effect.flatMap(
          top.build(),
          (agent) => agent.run("Go", { threadId: "t", treeBudget: { maxTokens: 10 } })
        )),
        { startImmediately: true }
      )
      yield* pass("1 minute")
      const result = yield* Fiber.join(running)

      assert.strictEqual(limitOf(result), "treeTokens")
      assert.lengthOf(yield* model.requestsOf("top"), 1)
      assert.strictEqual(result.usage.own.inputTokens + result.usage.own.outputTokens, 11)
    }))
})
