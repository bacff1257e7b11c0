import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, ResultCache, RunStore, TypedAgent } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Fiber, Layer, Schema, SchemaGetter } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { TestClock } from "effect/testing"
import { backings } from "../support/Backings.ts"
import * as Trees from "../support/Trees.ts"

// A schema with a bug: it throws while it is told to.
const state = { throws: false }
const Broken = Schema.String.check(Schema.makeFilter(() => {
  if (state.throws) throw new Error("boom")
  return true
}))

const Interrupting = Schema.String.pipe(Schema.decodeTo(Schema.String, {
  decode: SchemaGetter.passthrough(),
  encode: SchemaGetter.transformEffect((text: string) => state.throws ? Effect.interrupt : Effect.succeed(text))
}))

const tools = Toolkit.make(
  Tool.make("takes", { parameters: Schema.Struct({ a: Broken }), success: Schema.String }),
  Tool.make("gives", { success: Broken }),
  Tool.make("fails", { failure: Broken, success: Schema.String }),
  Tool.make("interrupts", { success: Interrupting }),
  Tool.make("works", { success: Schema.String })
)
const child = TypedAgent.make("child", {
  description: "Works",
  input: Schema.Struct({ a: Broken }),
  report: Schema.String
})
const prompted = TypedAgent.make("prompted", {
  description: "Works",
  input: Schema.Struct({ a: Schema.String }),
  report: Schema.String
}).withInputText(({ a }) => {
  if (state.throws) throw new Error("boom")
  return a
})

const broken = [
  ["arguments of a tool", Step.call("takes", { a: "x" }), "takes"],
  ["result of a tool", Step.call("gives"), "gives"],
  ["failure of a tool", Step.call("fails"), "fails"],
  ["result of a tool, which interrupts itself,", Step.call("interrupts"), "interrupts"],
  ["input of a subagent", Step.task("child", { a: "x" }), "task_child"],
  ["input's text of a subagent", Step.task("prompted", { a: "x" }), "task_prompted"]
] as const

describe("a bug in the code for the", () => {
  it.effect.each(broken)("%s fails the run by its name, and its siblings end first", ([, call, tool]) => {
    state.throws = true
    let worked = 0
    return Effect.gen(function*() {
      const agent = yield* AgentBuilder.make("lead").withSubagents([child, prompted]).withTools(tools, {
        takes: () => Effect.succeed("took"),
        gives: () => Effect.succeed("gave"),
        fails: () => Effect.fail("failed"),
        interrupts: () => Effect.succeed("interrupted"),
        works: () => Effect.as(Effect.andThen(Effect.sleep("1 second"), Effect.sync(() => worked++)), "worked")
      }).build()
      const running = yield* Effect.forkChild(Effect.flip(agent.run("Go", { threadId: "t" })), {
        startImmediately: true
      })
      yield* TestClock.adjust("1 minute")
      const { reason } = yield* Fiber.join(running)

      assert.deepStrictEqual<unknown>(reason, { _tag: "Defect", threadId: "t", where: `the tool "${tool}"` })
      assert.strictEqual(worked, 1)
      state.throws = false
      const recovered = yield* agent.recover("t")
      assert.deepStrictEqual(recovered.status, { _tag: "Completed", answer: "done" })
      assert.strictEqual(worked, 1)
    }).pipe(
      Effect.ensuring(Effect.sync(() => state.throws = false)),
      Effect.provide(Trees.runtime({
        lead: [Step.calls(call, Step.call("works")), Step.text("done")],
        child: Script.optional([Step.calls(Step.report("done"))]),
        prompted: Script.optional([Step.calls(Step.report("done"))])
      }))
    )
  })
})

const breaks = {
  fails: Effect.fail(new RunStore.StoreError({ operation: "load" })),
  dies: Effect.die("boom")
}

describe.each(backings)("a report that cannot be read for the cache, in $name", ({ make, pass }) => {
  it.effect.each(["fails", "dies"] as const)(
    "gives the slot of its call back: the read %s",
    (how) =>
      Effect.gen(function*() {
        let isSettled = false
        const store = Trees.around(yield* make, (name, done) => {
          if (name === "settle") return Effect.tap(done, () => Effect.sync(() => isSettled = true))
          return Effect.suspend(() => {
            if (name !== "load" || !isSettled) return done
            isSettled = false
            return breaks[how]
          })
        })
        yield* Effect.gen(function*() {
          const agent = yield* AgentBuilder.make("lead").withSubagents([prompted.withCache()], {
            maxConcurrentChildren: 1
          }).build()
          const running = yield* Effect.forkChild(Effect.flip(agent.run("Go", { threadId: "t" })), {
            startImmediately: true
          })
          yield* pass("1 minute")
          const exit = running.pollUnsafe()
          const model = yield* ScriptedModel.ScriptedModel
          yield* Fiber.interrupt(running)

          const tag = how === "dies" ? "Defect" : "StoreFailed"
          assert.strictEqual(exit?._tag === "Success" && exit.value.reason._tag, tag)
          assert.lengthOf(yield* model.requestsOf("prompted"), 2)
        }).pipe(Effect.provide(Layer.merge(
          Trees.runtime({
            lead: Script.optional([Step.calls(Step.task("prompted", { a: "x" }), Step.task("prompted", { a: "y" }))]),
            prompted: Script.each([Step.calls(Step.report("done"))])
          }, store),
          ResultCache.layerMemory()
        )))
      })
  )
})
