import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Answer, Sweep, ToolContext, TypedAgent } from "@mandate/core"
import { ScriptedModel, Step } from "@mandate/testing"
import { Effect, Schema, SchemaGetter } from "effect"
import * as Toolkit from "effect/ai/Toolkit"
import { TestClock } from "effect/testing"
import { backings } from "../support/Backings.ts"
import * as Results from "../support/Results.ts"
import * as Trees from "../support/Trees.ts"
import * as Waiting from "../support/Waiting.ts"

const User = Schema.Struct({ userId: Schema.String, plan: Schema.String })
const Named = Schema.Struct({ userId: Schema.String })
const context = { userId: "u-1", plan: "free" }
const Pay = Waiting.gated("pay", { amount: Schema.Int })

describe.each(backings)("N16 the context of a child, in $name", ({ pass, place }) => {
  it.effect("N16 is read again when the child goes on in another process, without the fields it does not name", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const scribe = TypedAgent.text("scribe", { description: "Pays" })
        .withContext(Named)
        .withTools(Toolkit.make(Pay), {
          pay: () =>
            Effect.map(ToolContext.context(Schema.Unknown), (whole) => {
              seen.push(whole)
              return "paid"
            })
        })
      const clerk = AgentBuilder.make("clerk").withContext(User).withSubagents([scribe])
      const model = yield* ScriptedModel.make({
        clerk: [Step.textTask("scribe", "Pay"), Step.text("Done")],
        scribe: [Step.call("pay", { amount: 1 }), Step.text("Paid")]
      })
      const { next } = Waiting.processesOf(yield* place, model)
      yield* next(Effect.flatMap(clerk.build(), (agent) => agent.run("Go", { threadId: "t", context })))
      const answers = [Answer.approve("0.0:child~0.0:approval0")]
      const { status } = yield* next(Effect.flatMap(clerk.build(), (agent) => agent.resume("t", answers)))

      assert.deepStrictEqual({ ...status }, { _tag: "Completed", answer: "Done" })
      assert.deepStrictEqual(seen, [{ userId: "u-1" }])
    }).pipe(Effect.scoped))

  it.effect("N16 a sweep goes on with a run by the context that the run keeps", () =>
    Effect.gen(function*() {
      const seen: Array<unknown> = []
      const clerk = AgentBuilder.make("clerk").withContext(User).withInstructions(({ plan }) => {
        seen.push(plan)
        return `Plan: ${plan}`
      })
      const model = yield* ScriptedModel.make({
        clerk: [Step.again(Step.hang(), Step.text("Done"))]
      })
      const { die, next } = Waiting.processesOf(yield* place, model)
      yield* die(Effect.gen(function*() {
        const agent = yield* clerk.build()
        yield* agent.start("Go", { threadId: "t", context })
        yield* pass("1 second")
      }))
      yield* pass("1 minute")
      const status = yield* next(Effect.gen(function*() {
        const agent = yield* clerk.build()
        yield* Sweep.run()
        yield* pass("1 second")
        return yield* agent.status("t")
      }))

      assert.strictEqual(status.status._tag, "Completed")
      assert.deepStrictEqual(seen, ["free", "free"])
    }).pipe(Effect.scoped))
})

describe("N16 a context that a child cannot read any more", () => {
  it.effect("N16 makes the task an InvalidContext that the parent's model reads, and starts nothing", () =>
    Effect.gen(function*() {
      let isReadable = true
      const Changing = Schema.String.pipe(Schema.decodeTo(Schema.String, {
        decode: SchemaGetter.transform((text: string) => {
          if (!isReadable) throw new Error("the directory is gone")
          return text
        }),
        encode: SchemaGetter.passthrough()
      }))
      const scribe = TypedAgent.text("scribe", { description: "Writes" })
        .withContext(Schema.Struct({ userId: Changing }))
      const agent = yield* AgentBuilder.make("clerk").withContext(User).withSubagents([scribe]).build()
      const handle = yield* agent.start("Go", { context })
      isReadable = false
      yield* TestClock.adjust("1 second")
      const { status } = yield* handle.await
      const model = yield* ScriptedModel.ScriptedModel
      const refused = Results.last((yield* model.requests)[1]?.request)

      assert.deepStrictEqual({ ...status }, { _tag: "Completed", answer: "Without" })
      assert.deepStrictEqual(refused.map(Results.reason), ["InvalidContext"])
    }).pipe(Effect.provide(Trees.runtime({
      clerk: [Step.delay("1 second", Step.textTask("scribe", "Write")), Step.text("Without")]
    }))))
})
