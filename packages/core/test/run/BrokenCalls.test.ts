import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, ResultCache, RunStore, TypedAgent } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Fiber, Layer, Schema, SchemaGetter } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { TestClock } from "effect/testing"
import { backings } from "../support/Backings.ts"
import * as Trees from "../support/Trees.ts"

// Schemas with a bug: they throw, or interrupt what uses them, while they are told to.
const state = { isBroken: false }
const Throwing = Schema.String.check(Schema.makeFilter(() => {
  if (state.isBroken) throw new Error("boom")
  return true
}))

const interrupting = SchemaGetter.transformEffect((text: string) =>
  state.isBroken ? Effect.interrupt : Effect.succeed(text)
)
const Interrupting = Schema.String.pipe(Schema.decodeTo(Schema.String, { decode: interrupting, encode: interrupting }))

const tools = Toolkit.make(
  Tool.make("takes", { parameters: Schema.Struct({ a: Throwing }), success: Schema.String }),
  Tool.make("gives", { success: Throwing }),
  Tool.make("fails", { failure: Throwing, success: Schema.String }),
  Tool.make("givesNone", { success: Interrupting }),
  Tool.make("failsNone", { failure: Interrupting, success: Schema.String }),
  Tool.make("works", { success: Schema.String })
)
const typed = (id: string, a: Schema.Codec<string>) =>
  TypedAgent.make(id, { description: "Works", input: Schema.Struct({ a }), report: Schema.String })
const child = typed("child", Throwing)
const interrupted = typed("interrupted", Interrupting)
const prompted = TypedAgent.make("prompted", {
  description: "Works",
  input: Schema.Struct({ a: Schema.String }),
  report: Schema.String
}).withInputText(({ a }) => {
  if (state.isBroken) throw new Error("boom")
  return a
})

/** What fails its own call, and the reason that the model reads. */
const failing = [
  ["arguments of a tool", Step.call("takes", { a: "x" }), "ToolFailed"],
  ["result of a tool", Step.call("gives"), "ToolFailed"],
  ["failure of a tool", Step.call("fails"), "ToolFailed"],
  ["input of a subagent", Step.task("child", { a: "x" }), "InvalidInput"],
  ["input's text of a subagent", Step.task("prompted", { a: "x" }), "InvalidInput"]
] as const

/** What fails the run, and the tool that the failure names. */
const defects = [
  ["result of a tool", Step.call("givesNone"), "givesNone"],
  ["failure of a tool", Step.call("failsNone"), "failsNone"],
  ["input of a subagent", Step.task("interrupted", { a: "x" }), "task_interrupted"]
] as const

const report = Script.optional([Step.calls(Step.report("done"))])

/** An agent that makes a broken call beside one that works for a second. */
const lead = Effect.fnUntraced(function*(work: () => void) {
  return yield* AgentBuilder.make("lead").withSubagents([child, interrupted, prompted]).withTools(tools, {
    takes: () => Effect.succeed("took"),
    gives: () => Effect.succeed("gave"),
    fails: () => Effect.fail("failed"),
    givesNone: () => Effect.succeed("gave"),
    failsNone: () => Effect.fail("failed"),
    works: () => Effect.as(Effect.andThen(Effect.sleep("1 second"), Effect.sync(work)), "worked")
  }).build()
})

const runtime = (call: (typeof failing | typeof defects)[number][1], end: Step.Step) =>
  Trees.runtime({
    lead: [Step.calls(call, Step.call("works")), end],
    child: report,
    interrupted: report,
    prompted: report
  })

const broken = <A, E, R>(body: Effect.Effect<A, E, R>) =>
  Effect.ensuring(
    Effect.andThen(Effect.sync(() => state.isBroken = true), body),
    Effect.sync(() => state.isBroken = false)
  )

describe("code that throws for the", () => {
  it.effect.each(failing)("%s fails its own call, and its siblings and its run go on", ([, call, reason]) => {
    let worked = 0
    let read: ReadonlyArray<unknown> = []
    let isLeaked = false
    const end: Step.Step = (request) => {
      read = Trees.reasons(request)
      isLeaked = JSON.stringify(request).includes("boom")
      return Step.text("done")
    }
    return Effect.gen(function*() {
      const agent = yield* lead(() => worked++)
      const running = yield* Effect.forkChild(agent.run("Go", { threadId: "t" }), { startImmediately: true })
      yield* TestClock.adjust("1 minute")

      assert.deepStrictEqual((yield* Fiber.join(running)).status, { _tag: "Completed", answer: "done" })
      assert.deepStrictEqual(read, [reason, undefined])
      assert.isFalse(isLeaked)
      assert.strictEqual(worked, 1)
    }).pipe(broken, Effect.provide(runtime(call, end)))
  })
})

describe("code that interrupts itself for the", () => {
  it.effect.each(defects)("%s fails the run by its name, and its siblings end first", ([, call, tool]) => {
    let worked = 0
    return Effect.gen(function*() {
      const agent = yield* lead(() => worked++)
      const running = yield* Effect.forkChild(Effect.flip(agent.run("Go", { threadId: "t" })), {
        startImmediately: true
      })
      yield* TestClock.adjust("1 minute")
      const { reason } = yield* Fiber.join(running)

      assert.deepStrictEqual<unknown>(reason, { _tag: "Defect", threadId: "t", where: `the tool "${tool}"` })
      assert.strictEqual(worked, 1)
      state.isBroken = false
      const recovered = yield* agent.recover("t")
      assert.deepStrictEqual(recovered.status, { _tag: "Completed", answer: "done" })
      assert.strictEqual(worked, 1)
    }).pipe(broken, Effect.provide(runtime(call, Step.text("done"))))
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
