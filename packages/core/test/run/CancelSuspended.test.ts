import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Answer, MemoryRunStore, RunStore, TypedAgent } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Fiber, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { TestClock } from "effect/testing"
import { backings } from "../support/Backings.ts"
import * as Trees from "../support/Trees.ts"
import * as Waiting from "../support/Waiting.ts"

const tools = Toolkit.make(Waiting.gated("pay", {}), Tool.make("work", { success: Schema.String }))
const handlers = {
  pay: () => Effect.succeed("paid"),
  work: () => Effect.as(Effect.sleep("1 second"), "worked")
}
const grandchild = TypedAgent.text("grandchild", { description: "Pays" }).withTools(tools, handlers)
const child = TypedAgent.text("child", { description: "Pays" }).withTools(tools, handlers).withSubagents([grandchild])
const lead = TypedAgent.text("lead", { description: "Leads" }).withSubagents([child], { maxDepth: 2 })
const top = AgentBuilder.make("top").withTools(tools, handlers).withSubagents([child], { maxDepth: 2 })

const paying = Script.each([Step.call("pay"), Step.text("paid")])
const cancelled = { error: { reason: "Cancelled", message: "The subagent was cancelled" } }

const lastOutputs = (agentId: string) =>
  Effect.map(
    Effect.flatMap(ScriptedModel.ScriptedModel, (model) => model.requestsOf(agentId)),
    (requests) => Trees.outputs(requests.at(-1)!.request)
  )

describe("cancel of a child that waits for a person", () => {
  it.effect("is the answer: the root goes on", () =>
    Effect.gen(function*() {
      const agent = yield* top.build()
      yield* agent.run("Go", { threadId: "t" })
      yield* agent.cancel("t", { child: "t#0/0.0" })
      yield* TestClock.adjust("1 millis")

      assert.deepStrictEqual((yield* agent.status("t")).status, { _tag: "Completed", answer: "done" })
      assert.deepStrictEqual(yield* lastOutputs("top"), [cancelled])
      assert.deepStrictEqual(yield* Trees.ends("t"), { "t#0": "Completed", "t#0/0.0#0": "Cancelled" })
    }).pipe(Effect.provide(Trees.runtime({
      top: [Step.textTask("child", "x"), Step.text("done")],
      child: Script.optional(paying)
    }))))

  it.effect("is heard by the run that delegated to it, at any depth", () =>
    Effect.gen(function*() {
      const agent = yield* top.build()
      yield* agent.run("Go", { threadId: "t" })
      yield* agent.cancel("t", { child: "t#0/0.0#0/0.0" })
      yield* TestClock.adjust("1 millis")

      assert.deepStrictEqual((yield* agent.status("t")).status, { _tag: "Completed", answer: "done" })
      assert.deepStrictEqual(yield* lastOutputs("child"), [cancelled])
      assert.deepStrictEqual(yield* lastOutputs("top"), [{ report: "went on" }])
    }).pipe(Effect.provide(Trees.runtime({
      top: [Step.textTask("child", "x"), Step.text("done")],
      child: [Step.textTask("grandchild", "x"), Step.text("went on")],
      grandchild: Script.optional(paying)
    }))))

  it.effect("leaves what else is pending as it is", () =>
    Effect.gen(function*() {
      const agent = yield* top.build()
      yield* agent.run("Go", { threadId: "t" })
      yield* agent.cancel("t", { child: "t#0/0.0" })
      yield* TestClock.adjust("1 millis")
      const { status } = yield* agent.status("t")
      const heard = Trees.tagged(yield* Trees.durableEvents("t"), "TaskSettled")
      const result = yield* agent.resume("t", [Answer.approve("0.1:child~0.0:approval0")])

      assert.deepStrictEqual(heard.map(({ childRunId }) => String(childRunId)), ["t#0/0.0#0"])
      assert.deepStrictEqual(
        status._tag === "Suspended" && status.pending.map(({ id }) => String(id)),
        ["0.1:child~0.0:approval0"]
      )
      assert.deepStrictEqual(result.status, { _tag: "Completed", answer: "done" })
      assert.deepStrictEqual(yield* lastOutputs("top"), [cancelled, { report: "paid" }])
    }).pipe(Effect.provide(Trees.runtime({
      top: [Step.calls(Step.textTask("child", "x"), Step.textTask("child", "x")), Step.text("done")],
      child: Script.optional(paying)
    }))))

  it.effect.each([["t#0/0.0", [cancelled, "worked"]], ["t#0/0.0#0/0.0", [{ report: "went on" }, "worked"]]] as const)(
    "is the answer too while its siblings work: %s",
    ([cancel, outputs]) =>
      Effect.gen(function*() {
        const agent = yield* top.build()
        const running = yield* Effect.forkChild(agent.run("Go", { threadId: "t" }), { startImmediately: true })
        yield* TestClock.adjust("500 millis")
        yield* agent.cancel("t", { child: cancel })
        yield* TestClock.adjust("500 millis")
        const result = yield* Fiber.join(running)

        assert.deepStrictEqual(result.status, { _tag: "Completed", answer: "done" })
        assert.deepStrictEqual(yield* lastOutputs("top"), outputs)
      }).pipe(Effect.provide(Trees.runtime({
        top: [Step.calls(Step.textTask("child", "x"), Step.call("work")), Step.text("done")],
        child: Script.optional([Step.textTask("grandchild", "x"), Step.text("went on")]),
        grandchild: Script.optional(paying)
      })))
  )

  it.effect("is the answer as well once the run has gone on after another one", () =>
    Effect.gen(function*() {
      const agent = yield* top.build()
      const running = yield* Effect.forkChild(agent.run("Go", { threadId: "t" }), { startImmediately: true })
      yield* TestClock.adjust("500 millis")
      yield* agent.cancel("t", { child: "t#0/0.0#0/0.0" })
      yield* agent.cancel("t", { child: "t#0/0.1#0/0.0" })
      yield* TestClock.adjust("1 second")
      yield* agent.cancel("t", { child: "t#0/0.0#0/1.0" })
      yield* TestClock.adjust("500 millis")
      const result = yield* Fiber.join(running)

      assert.deepStrictEqual(result.status, { _tag: "Completed", answer: "done" })
      assert.deepStrictEqual(yield* lastOutputs("top"), [{ report: "again" }, { report: "worked" }, "worked"])
    }).pipe(Effect.provide(Trees.runtime({
      top: [
        Step.calls(Step.textTask("child", "again"), Step.textTask("child", "work"), Step.call("work")),
        Step.text("done")
      ],
      child: Script.byInput((input) => [
        Step.textTask("grandchild", "x"),
        input === "again" ? Step.textTask("grandchild", "x") : Step.call("work"),
        Step.text(input === "again" ? "again" : "worked")
      ]),
      grandchild: Script.optional(paying)
    }))))

  it.effect.each(
    [
      ["a child", "t#0/0.0#0/0.0", "t#0/0.0#0", "0.1:child~0.0:approval0"],
      ["a child of one", "t#0/0.0#0/0.0#0/0.0", "t#0/0.0#0/0.0#0", "0.0:child~0.1:child~0.0:approval0"]
    ] as const
  )("lets %s go on while the others wait", ([who, cancel, parent, waiting]) =>
    Effect.gen(function*() {
      const agent = yield* top.withSubagents([lead], { maxDepth: 3 }).build()
      const running = yield* Effect.forkChild(agent.run(who, { threadId: "t" }), { startImmediately: true })
      yield* TestClock.adjust("500 millis")
      yield* agent.cancel("t", { child: cancel })
      yield* TestClock.adjust("500 millis")
      const { status } = yield* Fiber.join(running)
      const ends = yield* Trees.ends("t")
      const result = yield* agent.resume("t", [Answer.approve(waiting)])

      assert.deepStrictEqual(status._tag === "Suspended" && status.pending.map(({ id }) => String(id)), [waiting])
      assert.strictEqual(ends[parent], "Completed")
      assert.deepStrictEqual(result.status, { _tag: "Completed", answer: "done" })
    }).pipe(Effect.provide(Trees.runtime({
      top: Script.byInput((input) => [
        input === "a child"
          ? Step.calls(Step.textTask("child", "x"), Step.textTask("child", "pay"), Step.call("work"))
          : Step.calls(Step.textTask("lead", "x"), Step.call("work")),
        Step.text("done")
      ]),
      lead: Script.optional([
        Step.calls(Step.textTask("child", "x"), Step.textTask("child", "pay")),
        Step.text("led")
      ]),
      child: Script.byInput((input) =>
        input === "pay"
          ? [Step.call("pay"), Step.text("paid")]
          : [Step.textTask("grandchild", "x"), Step.text("went on")]
      ),
      grandchild: Script.optional(paying)
    }))))

  it.effect("is heard after a recovery when an agent of another shape cancelled it", () => {
    const changed = top.withTools(Toolkit.make(Tool.make("new")), { new: () => Effect.void })
    return Effect.gen(function*() {
      const { next } = yield* Waiting.processes(MemoryRunStore.make(), {
        top: [Step.textTask("child", "x"), Step.text("done")],
        child: Script.optional(paying)
      })
      yield* next(Effect.flatMap(top.build(), (agent) => agent.run("Go", { threadId: "t" })))
      yield* next(Effect.flatMap(changed.build(), (agent) => agent.cancel("t", { child: "t#0/0.0" })))
      const [status, refused, result] = yield* next(
        Effect.flatMap(top.build(), (agent) =>
          Effect.all([
            agent.status("t"),
            Effect.flip(agent.run("Go", { threadId: "t" })),
            agent.recover("t")
          ]))
      )

      assert.deepStrictEqual(status.status, { _tag: "Suspended", pending: [] })
      assert.deepStrictEqual(refused.reason, { _tag: "IncompleteRun", threadId: "t" })
      assert.deepStrictEqual(result.status, { _tag: "Completed", answer: "done" })
    }).pipe(Effect.scoped)
  })
})

describe.each(backings)("cancel of a child by another process, in $name", ({ make }) => {
  it.effect.each(
    [
      ["a child's", "t#0/0.0", [cancelled, "worked"]],
      ["a grandchild's", "t#0/0.0#0/0.0", [{ report: "went on" }, "worked"]]
    ] as const
  )("just before the run suspends is heard, when it is %s", ([, waiting, heard]) =>
    Effect.gen(function*() {
      const inner = yield* make
      const model = yield* ScriptedModel.make({
        top: [Step.calls(Step.textTask("child", "x"), Step.call("work")), Step.text("done")],
        child: Script.optional(
          waiting === "t#0/0.0" ? [Step.call("pay")] : [Step.textTask("grandchild", "x"), Step.text("went on")]
        ),
        grandchild: Script.optional(paying)
      })
      const other = Waiting.processesOf(inner, model)
      const cancel = other.next(Effect.flatMap(top.build(), (agent) => agent.cancel("t", { child: waiting })))
      let cancels = 0
      const store = RunStore.RunStore.of({
        ...inner,
        suspend: (fence, to, events) =>
          Effect.andThen(
            fence.runId === "t#0" && ++cancels === 1 ? Effect.orDie(cancel) : Effect.void,
            inner.suspend(fence, to, events)
          )
      })
      const running = yield* Effect.forkChild(
        Waiting.processesOf(store, model).next(
          Effect.flatMap(top.build(), (agent) => agent.run("Go", { threadId: "t" }))
        ),
        { startImmediately: true }
      )
      yield* TestClock.adjust("1 second")
      const { status } = yield* Fiber.join(running)
      const asked = (yield* model.requestsOf("top")).at(-1)!.request

      assert.deepStrictEqual(status, { _tag: "Completed", answer: "done" })
      assert.deepStrictEqual(Trees.outputs(asked), heard)
    }))
})

describe("a suspended run whose child is gone from the store", () => {
  it.effect("goes on when it is recovered", () =>
    Effect.gen(function*() {
      const agent = yield* top.build()
      yield* agent.run("Go", { threadId: "t" })
      yield* Effect.flatMap(RunStore.RunStore, (store) => store.forget("t#0/0.0"))
      const { status } = yield* agent.recover("t")
      const result = yield* agent.resume("t", [Answer.approve("0.0:child~0.0:approval0")])

      assert.strictEqual(status._tag, "Suspended")
      assert.deepStrictEqual(result.status, { _tag: "Completed", answer: "done" })
    }).pipe(Effect.provide(Trees.runtime({
      top: [Step.textTask("child", "x"), Step.text("done")],
      child: [Step.again(Step.call("pay"), Step.call("pay")), Step.text("paid")]
    }))))
})
