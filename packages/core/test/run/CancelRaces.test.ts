import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, MemoryRunStore, TypedAgent } from "@mandate/core"
import { type Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Fiber } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { TestClock } from "effect/testing"
import * as Trees from "../support/Trees.ts"

const tools = Toolkit.make(Tool.make("work"))

// Work that only an interruption ends, a second after it came.
const stubborn = { work: () => Effect.ensuring(Effect.never, Effect.sleep("1 second")) }
const child = TypedAgent.text("child", { description: "Works" }).withTools(tools, stubborn)
const top = AgentBuilder.make("top").withSubagents([child])

const scripts: Script.Scripts = { top: [Step.textTask("child", "go")], child: [Step.call("work")] }

const settled = Effect.map(
  Trees.durableEvents("t"),
  (events) => Trees.tagged(events, "RunSettled").map(({ runId, status }) => [runId as string, status])
)

const started = Effect.gen(function*() {
  const agent = yield* top.build()
  const handle = yield* agent.start("Go", { threadId: "t" })
  yield* TestClock.adjust("1 millis")
  const root = agent.cancel("t")
  const one = agent.cancel("t", { child: "t#0/0.0" })
  return { handle, root, one }
})

describe("two cancels at once", () => {
  const pairs = [
    { name: "of a child and then of its tree", first: "one", second: "root" },
    { name: "of a tree and then of a child in it", first: "root", second: "one" },
    { name: "of one tree", first: "root", second: "root" }
  ] as const

  for (const { first, name, second } of pairs) {
    it.effect(`${name} both wait for the finalizers, and each run ends once`, () =>
      Effect.gen(function*() {
        const cancels = yield* started
        const awaited = yield* Effect.forkChild(cancels.handle.await, { startImmediately: true })
        const both = yield* Effect.forEach([first, second], (which) =>
          Effect.forkChild(cancels[which], { startImmediately: true }))
        yield* TestClock.adjust("999 millis")
        const early = both.map((cancel) =>
          cancel.pollUnsafe()
        )
        yield* TestClock.adjust("10 seconds")
        yield* Effect.forEach(both, Fiber.join)

        assert.deepStrictEqual(early, [undefined, undefined])
        assert.deepStrictEqual((yield* Fiber.join(awaited)).status, { _tag: "Cancelled" })
        assert.deepStrictEqual(yield* settled, [["t#0/0.0#0", "Cancelled"], ["t#0", "Cancelled"]])
      }).pipe(Effect.provide(Trees.runtime(scripts))))
  }
})

describe("a cancel", () => {
  // A store that takes a second to settle a run, and cannot be interrupted then.
  const slowToSettle = () =>
    Trees.around(
      MemoryRunStore.make(),
      (name, done) => name === "settle" ? Effect.uninterruptible(Effect.andThen(Effect.sleep("1 second"), done)) : done
    )

  it.effect("that meets a run as it settles changes nothing, and the run's caller gets how it ended", () =>
    Effect.gen(function*() {
      const agent = yield* AgentBuilder.make("top").build()
      const handle = yield* agent.start("Go", { threadId: "t" })
      yield* TestClock.adjust("500 millis")
      const cancelling = yield* Effect.forkChild(agent.cancel("t"), { startImmediately: true })
      const awaited = yield* Effect.forkChild(handle.await, { startImmediately: true })
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.join(cancelling)

      assert.deepStrictEqual(yield* settled, [["t#0", "Completed"]])
      assert.deepStrictEqual((yield* Fiber.join(awaited)).status, { _tag: "Completed", answer: "done" })
      assert.deepStrictEqual((yield* agent.status("t")).status, { _tag: "Completed", answer: "done" })
    }).pipe(Effect.provide(Trees.runtime({ top: [Step.text("done")] }, slowToSettle()))))

  it.effect("lets no run ask its model again while it waits for the finalizers of another", () => {
    const naps = { work: () => Effect.sleep("500 millis") }
    const grandchild = TypedAgent.text("grandchild", { description: "Works" }).withTools(tools, stubborn)
    const deep = TypedAgent.text("deep", { description: "Delegates" }).withSubagents([grandchild])
    const flat = TypedAgent.text("flat", { description: "Works" }).withTools(tools, naps)
    return Effect.gen(function*() {
      const agent = yield* AgentBuilder.make("top").withSubagents([deep, flat], { maxDepth: 2 }).build()
      yield* agent.start("Go", { threadId: "t" })
      yield* TestClock.adjust("1 millis")
      const cancelling = yield* Effect.forkChild(agent.cancel("t"), { startImmediately: true })
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.join(cancelling)

      const model = yield* ScriptedModel.ScriptedModel
      assert.strictEqual(yield* model.calls, 4)
      assert.deepStrictEqual(yield* Trees.ends("t"), {
        "t#0": "Cancelled",
        "t#0/0.0#0": "Cancelled",
        "t#0/0.0#0/0.0#0": "Cancelled",
        "t#0/0.1#0": "Cancelled"
      })
    }).pipe(Effect.provide(Trees.runtime({
      top: [Step.calls(Step.textTask("deep", "go"), Step.textTask("flat", "go"))],
      deep: [Step.textTask("grandchild", "go")],
      grandchild: [Step.call("work")],
      flat: [Step.call("work")]
    })))
  })

  it.effect("keeps its outcome when the run's deadline comes meanwhile", () =>
    Effect.gen(function*() {
      const agent = yield* AgentBuilder.make("top")
        .withTools(tools, { work: () => Effect.ensuring(Effect.never, Effect.sleep("4 seconds")) })
        .withBudget({ timeout: "2 seconds" })
        .build()
      const handle = yield* agent.start("Go", { threadId: "t" })
      yield* TestClock.adjust("1 second")
      const cancelling = yield* Effect.forkChild(agent.cancel("t"), { startImmediately: true })
      yield* TestClock.adjust("3 seconds")
      const early = cancelling.pollUnsafe()
      yield* TestClock.adjust("10 seconds")
      yield* Fiber.join(cancelling)

      assert.isUndefined(early)
      assert.deepStrictEqual(yield* settled, [["t#0", "Cancelled"]])
      assert.deepStrictEqual((yield* handle.await).status, { _tag: "Cancelled" })
      const model = yield* ScriptedModel.ScriptedModel
      assert.strictEqual(yield* model.calls, 1)
    }).pipe(Effect.provide(Trees.runtime({ top: [Step.call("work")] }))))
})
