import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, TypedAgent } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Clock, Effect, Fiber, Latch, Logger } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { TestClock } from "effect/testing"
import * as Trees from "../support/Trees.ts"

const Work = Tool.make("work")
const tools = Toolkit.make(Work)

type Works = (level: string) => Effect.Effect<void>

// Three levels, each in its tool `work`, and a latch that opens when all three are.
const family = (works: Works) => {
  const started = Latch.makeUnsafe()
  let waiting = 3
  const work = (level: string) => ({
    work: () =>
      Effect.suspend(() => {
        if (--waiting === 0) started.openUnsafe()
        return works(level)
      })
  })
  const grandchild = TypedAgent.text("grandchild", { description: "Works" }).withTools(tools, work("grandchild"))
  const child = TypedAgent.text("child", { description: "Delegates" })
    .withTools(tools, work("child"))
    .withSubagents([grandchild])
  const top = AgentBuilder.make("top").withTools(tools, work("top")).withSubagents([child], { maxDepth: 2 })
  return { top, started }
}

const scripts: Script.Scripts = {
  top: Script.runs([Step.calls(Step.textTask("child", "go"), Step.call("work"))], [Step.text("next")]),
  child: [Step.calls(Step.textTask("grandchild", "go"), Step.call("work"))],
  grandchild: [Step.call("work")]
}

const cancelled = { "t#0": "Cancelled", "t#0/0.0#0": "Cancelled", "t#0/0.0#0/0.0#0": "Cancelled" }

// Until time was moved once, the test clock lets an interruption into the sleep of a finalizer.
const begin = Effect.fnUntraced(function*({ started, top }: ReturnType<typeof family>) {
  const agent = yield* top.build()
  const handle = yield* agent.start("Go", { threadId: "t" })
  yield* started.await
  yield* TestClock.adjust("1 millis")
  return { agent, handle }
})

describe("cancel", () => {
  it.effect("interrupts leaves first, and waits for the finalizers of a level before it goes on to the next", () => {
    const log: Array<string> = []
    const note = (what: string) => Effect.map(Clock.currentTimeMillis, (now) => log.push(`${what} at ${now}`))
    const works: Works = (level) =>
      Effect.onInterrupt(
        Effect.never,
        () => Effect.all([note(`${level} interrupted`), Effect.sleep("1 second"), note(`${level} done`)])
      )
    return Effect.gen(function*() {
      const { agent, handle } = yield* begin(family(works))
      const cancelling = yield* Effect.forkChild(agent.cancel("t"), { startImmediately: true })
      yield* TestClock.adjust("2999 millis")
      assert.isUndefined(cancelling.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      yield* Fiber.join(cancelling)

      assert.deepStrictEqual(log, [
        "grandchild interrupted at 1",
        "grandchild done at 1001",
        "child interrupted at 1001",
        "child done at 2001",
        "top interrupted at 2001",
        "top done at 3001"
      ])
      assert.deepStrictEqual((yield* handle.await).status, { _tag: "Cancelled" })
      assert.deepStrictEqual(yield* Trees.ends("t"), cancelled)
      yield* agent.run("Go on", { threadId: "t" })
      yield* Trees.noViolations
    }).pipe(Effect.provide(Trees.runtime(scripts)))
  })

  it.effect("leaves the complete messages on the thread, calls without a result saying so", () =>
    Effect.gen(function*() {
      const { agent } = yield* begin(family((level) => level === "top" ? Effect.void : Effect.never))
      yield* agent.cancel("t")

      const [run] = yield* agent.history("t")
      assert.deepStrictEqual(run!.messages.map(({ role }) => role), ["user", "assistant", "tool"])
      const results = run!.messages.flatMap((message) => message.role === "tool" ? message.content : [])
      assert.deepStrictEqual(results.map(({ isError, output }) => [isError, output.value]), [
        [true, "not run: the run was cancelled"],
        [false, null]
      ])
      yield* agent.run("Go on", { threadId: "t" })
      yield* Trees.noViolations
    }).pipe(Effect.provide(Trees.runtime(scripts))))

  it.effect("waits five seconds in all for what cannot be interrupted, and what outlives it writes nothing", () => {
    const late: Array<string> = []
    const logs: Array<unknown> = []
    const works: Works = (level) =>
      Effect.uninterruptible(Effect.andThen(
        Effect.sleep("60 seconds"),
        Effect.suspend(() => {
          late.push(level)
          return level === "child" ? Effect.die(new Error("too late")) : Effect.void
        })
      ))
    return Effect.gen(function*() {
      const { agent, handle } = yield* begin(family(works))
      const cancelling = yield* Effect.forkChild(agent.cancel("t"), { startImmediately: true })
      yield* TestClock.adjust("4999 millis")
      assert.isUndefined(cancelling.pollUnsafe())
      assert.deepStrictEqual(Object.values(yield* Trees.ends("t")), ["Running", "Running", "Running"])
      yield* TestClock.adjust("1 millis")
      yield* Fiber.join(cancelling)

      assert.deepStrictEqual(yield* Trees.ends("t"), cancelled)
      assert.deepStrictEqual((yield* handle.await).status, { _tag: "Cancelled" })
      assert.strictEqual((yield* agent.run("Go on", { threadId: "t" })).status._tag, "Completed")
      const stored = yield* Trees.stored("t")
      const events = yield* Trees.durableEvents("t")
      const model = yield* ScriptedModel.ScriptedModel
      const calls = yield* model.calls
      const logged = logs.length
      yield* TestClock.adjust("10 minutes")

      assert.sameMembers(late, ["grandchild", "child", "top"])
      assert.deepStrictEqual(yield* Trees.stored("t"), stored)
      assert.deepStrictEqual(yield* Trees.durableEvents("t"), events)
      assert.strictEqual(yield* model.calls, calls)
      assert.lengthOf(logs.slice(logged), 1, "the late failure is logged once")
      yield* Trees.noViolations
    }).pipe(
      Effect.provide(Trees.runtime(scripts)),
      Effect.provide(Logger.layer([Logger.make(({ message }) => logs.push(message))]))
    )
  })

  it.effect("that comes twice at once waits twice, and the run has one end", () => {
    const works: Works = (level) =>
      level === "top" ? Effect.ensuring(Effect.never, Effect.sleep("1 second")) : Effect.never
    return Effect.gen(function*() {
      const { agent, handle } = yield* begin(family(works))
      const first = yield* Effect.forkChild(agent.cancel("t"), { startImmediately: true })
      const second = yield* Effect.forkChild(handle.cancel, { startImmediately: true })
      const awaited = yield* Effect.forkChild(handle.await, { startImmediately: true })
      yield* TestClock.adjust("999 millis")
      assert.deepStrictEqual([first.pollUnsafe(), second.pollUnsafe()], [undefined, undefined])
      yield* TestClock.adjust("1 millis")
      yield* Fiber.join(first)
      yield* Fiber.join(second)

      assert.deepStrictEqual((yield* Fiber.join(awaited)).status, { _tag: "Cancelled" })
      assert.lengthOf(Trees.tagged(yield* Trees.durableEvents("t"), "RunSettled"), 3)
    }).pipe(
      Effect.provide(Trees.runtime({ ...scripts, top: [Step.calls(Step.textTask("child", "go"), Step.call("work"))] }))
    )
  })

  it.effect("settles every open run of a failed tree as cancelled", () =>
    Effect.gen(function*() {
      const child = TypedAgent.text("child", { description: "Fails" })
      const agent = yield* AgentBuilder.make("top")
        .withSubagents([child])
        .withChildFailure({ modelFailed: "fail-run" })
        .build()
      yield* Effect.flip(agent.run("Go", { threadId: "t" }))
      yield* agent.cancel("t")

      assert.deepStrictEqual(yield* Trees.ends("t"), { "t#0": "Cancelled", "t#0/0.0#0": "Cancelled" })
    }).pipe(Effect.provide(Trees.runtime({
      top: [Step.textTask("child", "go")],
      child: [Step.fail("authentication")]
    }))))
})

describe("interrupting", () => {
  const works: Works = () => Effect.ensuring(Effect.never, Effect.sleep("1 second"))

  it.effect("run cancels the tree and waits for it", () =>
    Effect.gen(function*() {
      const { started, top } = family(works)
      const agent = yield* top.build()
      const running = yield* Effect.forkChild(agent.run("Go", { threadId: "t" }), { startImmediately: true })
      yield* started.await
      yield* TestClock.adjust("1 millis")
      const interrupting = yield* Effect.forkChild(Fiber.interrupt(running), { startImmediately: true })
      yield* TestClock.adjust("2999 millis")
      assert.isUndefined(interrupting.pollUnsafe())
      yield* TestClock.adjust("1 millis")
      yield* Fiber.join(interrupting)

      assert.deepStrictEqual(yield* Trees.ends("t"), cancelled)
      assert.strictEqual((yield* agent.run("Go on", { threadId: "t" })).status._tag, "Completed")
    }).pipe(Effect.provide(Trees.runtime(scripts))))

  it.effect("recover cancels the tree too", () =>
    Effect.gen(function*() {
      const agent = yield* AgentBuilder.make("top").build()
      const model = yield* ScriptedModel.ScriptedModel
      yield* Effect.flip(agent.run("Go", { threadId: "t" }))
      const recovering = yield* Effect.forkChild(agent.recover("t"), { startImmediately: true })
      yield* model.awaitCalls(2)
      yield* Fiber.interrupt(recovering)

      assert.lengthOf(yield* model.interrupted, 1)
      assert.deepStrictEqual(yield* Trees.ends("t"), { "t#0": "Cancelled" })
    }).pipe(Effect.provide(Trees.runtime({ top: [Step.again(Step.fail("authentication"), Step.hang())] }))))
})
