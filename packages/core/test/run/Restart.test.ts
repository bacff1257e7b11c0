import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, MemoryRunStore, TypedAgent } from "@mandate/core"
import { type Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Fiber, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { TestClock } from "effect/testing"
import * as Models from "../support/Models.ts"
import * as Trees from "../support/Trees.ts"

const Charge = Tool.make("charge", { parameters: Schema.Struct({ euros: Schema.Number }), success: Schema.String })
const charge = (euros: number) => Step.call("charge", { euros })

describe("a runtime that closes", () => {
  const scripts: Script.Scripts = {
    top: [Step.calls(charge(1), Step.textTask("helper", "help")), Step.text("done")],
    helper: [charge(2), Step.again(Step.hang(), Step.text("helped"))]
  }

  it.effect("leaves its runs running, with their finalizers run, and another one goes on at once", () => {
    const ran: Array<string> = []
    const toolkit = Toolkit.make(Charge)
    const handlers = {
      charge: ({ euros }: { readonly euros: number }) =>
        Effect.sync(() => {
          ran.push(`charge ${euros}`)
          return `charged ${euros}`
        })
    }
    const store = MemoryRunStore.make()
    const helper = TypedAgent.text("helper", { description: "Helps" }).withTools(toolkit, handlers)
    const top = AgentBuilder.make("top").withTools(toolkit, handlers).withSubagents([helper])
    return Effect.gen(function*() {
      const model = yield* ScriptedModel.make(scripts)
      const process = () => Trees.runtimeOf(Models.layerOf(model), store)
      yield* Effect.provide(
        Effect.gen(function*() {
          yield* Effect.flatMap(top.build(), (agent) => agent.start("Go", { threadId: "t" }))
          yield* model.awaitCalls(3)
        }),
        process()
      )
      yield* TestClock.adjust("1 hour")
      const [between, result, events] = yield* Effect.provide(
        Effect.gen(function*() {
          const agent = yield* top.build()
          const ends = yield* Trees.ends("t")
          return [ends, yield* agent.recover("t"), yield* Trees.durableEvents("t")] as const
        }),
        process()
      )

      assert.deepStrictEqual(between, { "t#0": "Running", "t#0/0.1#0": "Running" })
      assert.lengthOf(yield* model.interrupted, 1)
      assert.deepStrictEqual(result.status, { _tag: "Completed", answer: "done" })
      assert.sameMembers(ran, ["charge 1", "charge 2"])
      assert.strictEqual(yield* model.calls, 5)
      assert.lengthOf(Trees.tagged(events, "TaskStarted"), 1)
      assert.lengthOf(Trees.tagged(events, "RunStarted"), 2)
    }).pipe(Effect.scoped)
  })
})

describe("a process that dies", () => {
  it.effect("keeps its thread busy for one lease time, and then its run is there to be recovered", () =>
    Effect.gen(function*() {
      const model = yield* ScriptedModel.make({ top: [Step.again(Step.hang(), Step.text("recovered"))] })
      const store = MemoryRunStore.make()
      // It dies before it can give its lease back.
      const dying = Trees.around(store, (name, done) => name === "release" ? Effect.void : done)
      const top = AgentBuilder.make("top")
      yield* Effect.gen(function*() {
        yield* Effect.flatMap(top.build(), (agent) => agent.start("Go", { threadId: "t" }))
        yield* TestClock.adjust("7 seconds")
      }).pipe(Effect.provide(Trees.runtimeOf(Models.layerOf(model), dying)))

      // It was renewed at 5 seconds, for 15.
      yield* Effect.gen(function*() {
        const agent = yield* top.build()
        const busy = yield* Effect.flip(agent.run("Go on", { threadId: "t" }))
        const recovering = yield* Effect.forkChild(agent.recover("t"), { startImmediately: true })
        yield* TestClock.adjust("12999 millis")
        const waiting = recovering.pollUnsafe()
        const stillBusy = yield* Effect.flip(agent.forget("t"))
        yield* TestClock.adjust("1 millis")
        const result = yield* Fiber.join(recovering)

        assert.deepStrictEqual([busy.reason._tag, stillBusy.reason._tag], ["ThreadBusy", "ThreadBusy"])
        assert.match(busy.message, /^The thread "t" is busy: .*; wait for it, or cancel it$/)
        assert.isUndefined(waiting)
        assert.deepStrictEqual(result.status, { _tag: "Completed", answer: "recovered" })
      }).pipe(Effect.provide(Trees.runtimeOf(Models.layerOf(model), store)))
    }).pipe(Effect.scoped))
})
