import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder } from "@mandate/core"
import { Step } from "@mandate/testing"
import { Effect, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Results from "../support/Results.ts"
import * as Trees from "../support/Trees.ts"

const note = Toolkit.make(Tool.make("note", { success: Schema.String }))
const agent = AgentBuilder.make("top").withTools(note, { note: () => Effect.succeed("noted") })
  .withBudget({ maxTokens: 40 })
const failure = Step.fail("authentication", { usage: { input: 20, output: 10 } })

describe("tokens of failed attempts", () => {
  it.effect("end no response that was recorded before them", () =>
    Effect.gen(function*() {
      const top = yield* agent.build()
      yield* Effect.flip(top.run("Go", { threadId: "t" }))
      const result = yield* top.recover("t")
      const [run] = yield* top.history("t")

      assert.deepStrictEqual(result.status, { _tag: "Completed", answer: "done" })
      assert.deepStrictEqual(Results.all(run!.messages), [{ name: "note", isError: false, value: "noted" }])
      assert.deepInclude(result.usage.own, { inputTokens: 40, outputTokens: 20, modelCalls: 2, toolCalls: 1 })
    }).pipe(Effect.provide(Trees.runtime({
      top: [Step.call("note"), Step.again(failure, Step.text("done"))]
    }))))

  it.effect("are no estimate where only some were reported", () =>
    Effect.gen(function*() {
      const top = yield* agent.build()
      yield* Effect.flip(top.run("Go", { threadId: "t" }))
      const { usage } = yield* top.recover("t")

      assert.deepInclude(usage.own, { inputTokens: 30, outputTokens: 10, modelCalls: 2, estimated: false })
    }).pipe(Effect.provide(Trees.runtime({
      top: [Step.call("note"), Step.again(Step.fail("authentication", { usage: { input: 10 } }), Step.text("done"))]
    }))))

  it.effect("count for the next response", () =>
    Effect.gen(function*() {
      const top = yield* agent.build()
      yield* Effect.flip(top.run("Go", { threadId: "t" }))
      const result = yield* top.recover("t")

      assert.deepStrictEqual(result.status, { _tag: "BudgetExceeded", limit: "tokens" })
      assert.strictEqual(result.usage.own.toolCalls, 1)
    }).pipe(Effect.provide(Trees.runtime({
      top: [Step.call("note"), Step.again(failure, Step.calls(Step.call("note")))]
    }))))
})
