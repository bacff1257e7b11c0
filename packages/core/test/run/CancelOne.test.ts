import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, MemoryRunStore, TypedAgent } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Fiber, Stream } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { TestClock } from "effect/testing"
import * as Models from "../support/Models.ts"
import * as Trees from "../support/Trees.ts"

const grandchild = TypedAgent.text("grandchild", { description: "Works" })
const child = TypedAgent.text("child", { description: "Delegates" }).withSubagents([grandchild])
const top = AgentBuilder.make("top").withSubagents([child], { maxDepth: 2, maxConcurrentChildren: 2 })

const error = { error: { reason: "Cancelled", message: "The subagent was cancelled" } }

// The first child hangs below, the second takes a second, the third waits for a slot.
const scripts: Script.Scripts = {
  top: [
    Step.calls(Step.textTask("child", "deep"), Step.textTask("child", "slow"), Step.textTask("child", "last")),
    Step.text("done")
  ],
  child: Script.byInput((input) => {
    if (input === "deep") return [Step.textTask("grandchild", "hang"), Step.text("went on")]
    return [input === "slow" ? Step.delay("1 second", Step.text("slow")) : Step.text("last")]
  }),
  grandchild: [Step.hang()]
}

const started = Effect.gen(function*() {
  const agent = yield* top.build()
  const handle = yield* agent.start("Go", { threadId: "t" })
  const model = yield* ScriptedModel.ScriptedModel
  yield* model.awaitCalls(4)
  return { agent, handle, model }
})

const lastOutputs = Effect.map(
  Effect.flatMap(ScriptedModel.ScriptedModel, (model) => model.requestsOf("top")),
  (requests) => Trees.outputs(requests.at(-1)!.request)
)

describe("cancel of one child", () => {
  it.effect("is that call's failure: its tree ends, its siblings and its parent go on, its slot is free", () =>
    Effect.gen(function*() {
      const { agent, handle, model } = yield* started
      yield* agent.cancel("t", { child: "t#0/0.0" })
      yield* TestClock.adjust("1 millis")
      const before = yield* Trees.ends("t")
      yield* TestClock.adjust("1 second")
      const result = yield* handle.await

      assert.deepStrictEqual(before, {
        "t#0": "Running",
        "t#0/0.0#0": "Cancelled",
        "t#0/0.0#0/0.0#0": "Cancelled",
        "t#0/0.1#0": "Running",
        "t#0/0.2#0": "Completed"
      })
      assert.lengthOf(yield* model.interrupted, 1)
      assert.deepStrictEqual(result.status, { _tag: "Completed", answer: "done" })
      assert.deepStrictEqual(yield* lastOutputs, [error, { report: "slow" }, { report: "last" }])
      yield* Trees.noViolations
    }).pipe(Effect.provide(Trees.runtime({
      ...scripts,
      child: Script.byInput((input) =>
        input === "deep"
          ? [Step.textTask("grandchild", "hang")]
          : [input === "slow" ? Step.delay("1 second", Step.text("slow")) : Step.text("last")]
      )
    }))))

  it.effect("reaches a run at any depth, and only its own caller hears of it", () =>
    Effect.gen(function*() {
      const { agent, handle, model } = yield* started
      yield* agent.cancel("t", { child: "t#0/0.0#0/0.0" })
      yield* TestClock.adjust("1 second")
      yield* handle.await

      const heard = (yield* model.requestsOf("child")).filter(({ call }) => call.step === 1)
      assert.deepStrictEqual(heard.map(({ request }) => Trees.outputs(request)), [[error]])
      assert.deepStrictEqual(yield* lastOutputs, [{ report: "went on" }, { report: "slow" }, { report: "last" }])
      assert.deepStrictEqual(yield* Trees.ends("t"), {
        "t#0": "Completed",
        "t#0/0.0#0": "Completed",
        "t#0/0.0#0/0.0#0": "Cancelled",
        "t#0/0.1#0": "Completed",
        "t#0/0.2#0": "Completed"
      })
    }).pipe(Effect.provide(Trees.runtime(scripts))))

  it.effect("changes nothing for a child that is settled, and knows no child that is not there", () =>
    Effect.gen(function*() {
      const { agent, handle } = yield* started
      yield* agent.cancel("t", { child: "t#0/0.0#0/0.0" })
      yield* TestClock.adjust("1 second")
      yield* handle.await
      const stored = yield* Trees.stored("t")
      yield* agent.cancel("t", { child: "t#0/0.1" })
      const reasons = yield* Effect.forEach(
        ["t#0/0.7", "t#1/0.0", "t", "u#0/0.0", "t#0/0.1#0", ""],
        (child) => Effect.map(Effect.flip(agent.cancel("t", { child })), ({ reason }) => reason)
      )

      assert.deepStrictEqual(reasons.map(({ _tag }) => _tag), Array.from({ length: 6 }, () => "UnknownThread" as const))
      assert.deepStrictEqual(yield* Trees.stored("t"), stored)
    }).pipe(Effect.provide(Trees.runtime(scripts))))
})

describe("cancel of a child of an earlier run of the thread", () => {
  it.effect("is refused as one of a child that the open run does not have", () =>
    Effect.gen(function*() {
      const agent = yield* top.build()
      yield* agent.run("Go", { threadId: "t" })
      yield* agent.start("Go", { threadId: "t" })
      const { reason } = yield* Effect.flip(agent.cancel("t", { child: "t#0/0.0" }))

      assert.deepStrictEqual<unknown>(reason, { _tag: "UnknownThread", threadId: "t#0/0.0" })
    }).pipe(Effect.provide(Trees.runtime({
      top: Script.runs([Step.textTask("child", "x"), Step.text("done")], [Step.hang()]),
      child: [Step.text("worked")]
    }))))
})

describe("what changes nothing", () => {
  const slow: Script.Scripts = { top: [Step.delay("1 second", Step.text("done"))] }
  const alone = AgentBuilder.make("top")

  it.effect("interrupting await, leaving events, and leaving a stream", () =>
    Effect.gen(function*() {
      const agent = yield* alone.build()
      const model = yield* ScriptedModel.ScriptedModel
      const handle = yield* agent.start("Go", { threadId: "t" })
      const awaiting = yield* Effect.forkChild(handle.await, { startImmediately: true })
      const watching = yield* Effect.forkChild(Stream.runDrain(handle.events), { startImmediately: true })
      const streaming = yield* Effect.forkChild(Stream.runDrain(agent.stream("Go", { threadId: "u" })), {
        startImmediately: true
      })
      const one = yield* Stream.runCollect(Stream.take(agent.stream("Go", { threadId: "v" }), 1))
      yield* TestClock.adjust("500 millis")
      yield* Fiber.interruptAll([awaiting, watching, streaming])
      const statuses = yield* Effect.forEach(["t", "u", "v"], (threadId) => agent.status(threadId))
      yield* TestClock.adjust("500 millis")
      const results = yield* Effect.forEach(["t", "u", "v"], (threadId) => agent.status(threadId))

      assert.lengthOf(one, 1)
      assert.deepStrictEqual(statuses.map(({ status }) => status._tag), ["Running", "Running", "Running"])
      assert.deepStrictEqual(results.map(({ status }) => status._tag), ["Completed", "Completed", "Completed"])
      assert.strictEqual((yield* handle.await).status._tag, "Completed")
      assert.lengthOf(yield* model.interrupted, 0)
    }).pipe(Effect.provide(Trees.runtime({ top: Script.each(slow["top"] as Script.Steps) }))))
})

describe("cancel from another process", () => {
  it.effect("settles the run, and whoever drives it writes nothing more", () => {
    const tools = Toolkit.make(Tool.make("work"))
    const store = MemoryRunStore.make()
    const ran: Array<string> = []
    const worker = AgentBuilder.make("top").withTools(tools, {
      work: () => Effect.andThen(Effect.sleep("10 seconds"), Effect.sync(() => ran.push("late")))
    })
    return Effect.gen(function*() {
      const model = yield* ScriptedModel.make({ top: [Step.call("work")] })
      const process = () => Trees.runtimeOf(Models.layerOf(model), store)
      yield* Effect.gen(function*() {
        const agent = yield* worker.build()
        yield* agent.start("Go", { threadId: "t" })
        yield* TestClock.adjust("1 second")
        yield* Effect.provide(Effect.flatMap(worker.build(), (other) => other.cancel("t")), process())
        const stored = yield* Trees.stored("t")
        yield* TestClock.adjust("1 minute")

        assert.deepStrictEqual(ran, ["late"])
        assert.deepStrictEqual(yield* Trees.ends("t"), { "t#0": "Cancelled" })
        assert.deepStrictEqual(yield* Trees.stored("t"), stored)
        assert.strictEqual(yield* model.calls, 1)
        assert.deepStrictEqual((yield* agent.status("t")).status, { _tag: "Cancelled" })
      }).pipe(Effect.provide(process()))
    }).pipe(Effect.scoped)
  })

  it.effect("is heard as an unknown thread by who waits for a run whose thread went with it", () => {
    const tools = Toolkit.make(Tool.make("work"))
    const store = MemoryRunStore.make()
    const worker = AgentBuilder.make("top").withTools(tools, { work: () => Effect.sleep("10 seconds") })
    return Effect.gen(function*() {
      const model = yield* ScriptedModel.make({ top: [Step.call("work")] })
      const process = () => Trees.runtimeOf(Models.layerOf(model), store)
      yield* Effect.gen(function*() {
        const started = yield* Effect.flatMap(worker.build(), (agent) => agent.start("Go"))
        yield* TestClock.adjust("1 second")
        yield* Effect.provide(Effect.flatMap(worker.build(), (other) => other.cancel(started.threadId)), process())
        yield* TestClock.adjust("1 minute")
        const { reason } = yield* Effect.flip(started.await)

        assert.deepStrictEqual(reason, { _tag: "UnknownThread", threadId: started.threadId })
      }).pipe(Effect.provide(process()))
    }).pipe(Effect.scoped)
  })
})
