import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, MemoryRunStore, type RunEvent, ToolContext, TypedAgent } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Fiber, Latch, Stream } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { TestClock } from "effect/testing"
import * as Trees from "../support/Trees.ts"

const helper = TypedAgent.text("helper", { description: "Helps" })
const top = AgentBuilder.make("top").withSubagents([helper])

const scripts: Script.Scripts = {
  top: [Step.delay(10, Step.textTask("helper", "help")), Step.delay(10, Step.text("all done"))],
  helper: [Step.delay(10, Step.text("helped"))]
}

const numbers = (events: ReadonlyArray<RunEvent.RunEvent>) =>
  events.flatMap((event) => "sequence" in event ? [event.sequence] : [])

describe("a stream", () => {
  it.effect("ends with what the run gave back", () =>
    Effect.gen(function*() {
      const agent = yield* top.build()
      const running = yield* Effect.forkChild(Stream.runCollect(agent.stream("Go", { threadId: "t" })), {
        startImmediately: true
      })
      yield* TestClock.adjust("1 minute")
      const events = Array.from(yield* Fiber.join(running))

      assert.deepStrictEqual<unknown>(events.at(-1), { _tag: "RunFinished", result: yield* agent.status("t") })
      assert.strictEqual(events.at(-2)?._tag, "RunSettled")
      assert.lengthOf(events.filter(({ _tag }) => _tag === "RunFinished"), 1)
    }).pipe(Effect.provide(Trees.runtime(scripts))))

  it.effect("fails as run does when the run fails, after its events", () =>
    Effect.gen(function*() {
      const agent = yield* AgentBuilder.make("top").build()
      const seen: Array<string> = []
      const error = yield* Effect.flip(
        Stream.runForEach(agent.stream("Go", { threadId: "t" }), ({ _tag }) => Effect.sync(() => seen.push(_tag)))
      )

      assert.strictEqual(error.reason._tag, "ModelFailed")
      assert.deepStrictEqual(seen, ["RunStarted", "ModelCallStarted", "ModelAttemptDiscarded", "RunFailed"])
    }).pipe(Effect.provide(Trees.runtime({ top: [Step.fail("authentication")] }))))

  it.effect("gives the text in pieces under the number of their attempt, and says which attempt is void", () =>
    Effect.gen(function*() {
      const agent = yield* AgentBuilder.make("top").build()
      const running = yield* Effect.forkChild(Stream.runCollect(agent.stream("Go", { threadId: "t" })), {
        startImmediately: true
      })
      yield* TestClock.adjust("1 minute")
      const events = Array.from(yield* Fiber.join(running))
      const text = (attempt: number) =>
        events.map((event) => event._tag === "TextDelta" && event.attempt === attempt ? event.delta : "").join("")

      assert.deepStrictEqual([text(0), text(1)], ["half a sen", "a whole sentence"])
      assert.isAbove(events.filter((event) => event._tag === "TextDelta" && event.attempt === 1).length, 1)
      const order = events.flatMap((event) =>
        event._tag === "ModelCallStarted" || event._tag === "ModelAttemptDiscarded"
          ? [`${event._tag} ${event.attempt}`]
          : []
      )
      assert.deepStrictEqual(order, ["ModelCallStarted 0", "ModelAttemptDiscarded 0", "ModelCallStarted 1"])
      const last = events.at(-1)
      assert.deepStrictEqual(last?._tag === "RunFinished" ? last.result.status : last, {
        _tag: "Completed",
        answer: "a whole sentence"
      })
    }).pipe(Effect.provide(Trees.runtime({
      top: [Step.streamError("half a sen", "overloaded"), Step.text("a whole sentence")]
    }))))
})

describe("the events of a handle", () => {
  it.effect("are replayed after the end, as often as they are asked for", () =>
    Effect.gen(function*() {
      const agent = yield* top.build()
      const handle = yield* agent.start("Go", { threadId: "t" })
      const watching = yield* Effect.forkChild(Stream.runCollect(handle.events), { startImmediately: true })
      yield* TestClock.adjust("1 minute")
      const live = Array.from(yield* Fiber.join(watching))
      const after = Array.from(yield* Stream.runCollect(handle.events))

      assert.deepStrictEqual(after, yield* Trees.durableEvents("t"))
      assert.deepStrictEqual(live.filter((event) => "sequence" in event), after)
      assert.isAbove(live.length, after.length)
      assert.deepStrictEqual(Array.from(yield* Stream.runCollect(handle.events)), after)
    }).pipe(Effect.provide(Trees.runtime(scripts))))

  it.effect.each([0, 5, 10, 15, 20, 25, 30])(
    "have no gap and no double for who comes after %s ms",
    (millis) =>
      Effect.gen(function*() {
        const agent = yield* top.build()
        const handle = yield* agent.start("Go", { threadId: "t" })
        yield* TestClock.adjust(millis)
        const watching = yield* Effect.forkChild(Stream.runCollect(handle.events), { startImmediately: true })
        yield* TestClock.adjust("1 minute")
        const seen = numbers(Array.from(yield* Fiber.join(watching)))

        assert.deepStrictEqual(seen, seen.map((_, index) => index + 1))
        assert.lengthOf(yield* Trees.durableEvents("t"), seen.length)
      }).pipe(Effect.provide(Trees.runtime(scripts)))
  )

  it.effect("have no gap and no double while a slow store reads what was before", () => {
    const store = MemoryRunStore.make()
    const slow = Trees.around(
      store,
      (name, done) => name === "events" ? Effect.andThen(Effect.sleep("12 millis"), done) : done
    )
    return Effect.gen(function*() {
      const agent = yield* top.build()
      const handle = yield* agent.start("Go", { threadId: "t" })
      const watching = yield* Effect.forkChild(Stream.runCollect(handle.events), { startImmediately: true })
      yield* TestClock.adjust("1 minute")
      const seen = numbers(Array.from(yield* Fiber.join(watching)))

      assert.deepStrictEqual(seen, seen.map((_, index) => index + 1))
      assert.lengthOf(yield* store.events("t", 0), seen.length)
    }).pipe(Effect.provide(Trees.runtime(scripts, slow)))
  })

  it.effect("are those of its own tree alone", () =>
    Effect.gen(function*() {
      const agent = yield* top.build()
      const handles = yield* Effect.forEach(["t", "u"], (threadId) => agent.start("Go", { threadId }))
      const watching = yield* Effect.forkChild(
        Effect.forEach(handles, ({ events }) => Stream.runCollect(events), { concurrency: "unbounded" }),
        { startImmediately: true }
      )
      yield* TestClock.adjust("1 minute")

      const roots = (yield* Fiber.join(watching)).map((events) => [
        ...new Set(Array.from(events).map(({ rootThreadId }) => rootThreadId as string))
      ])
      assert.deepStrictEqual(roots, [["t"], ["u"]])
    }).pipe(Effect.provide(Trees.runtime({
      top: Script.each(scripts["top"] as Script.Steps),
      helper: Script.each(scripts["helper"] as Script.Steps)
    }))))
})

describe("a slow reader", () => {
  const emitted = 10_000

  it.effect("is not waited for, misses live events and is told how many, and misses no durable one", () => {
    const gate = Latch.makeUnsafe()
    const noisy = AgentBuilder.make("top").withTools(Toolkit.make(Tool.make("shout")), {
      shout: () => Effect.asVoid(Effect.forEach(Array.from({ length: emitted }, (_, n) => n), ToolContext.emit))
    })
    return Effect.gen(function*() {
      const agent = yield* noisy.build()
      const seen: Array<RunEvent.RunEvent | { readonly _tag: "RunFinished" }> = []
      const reading = yield* Effect.forkChild(
        Stream.runForEach(
          agent.stream("Go", { threadId: "t" }),
          (event) => Effect.andThen(gate.await, Effect.sync(() => seen.push(event)))
        ),
        { startImmediately: true }
      )
      const quick = yield* Effect.forkChild(
        Effect.flatMap(ScriptedModel.ScriptedModel, (model) => model.awaitCalls(4)),
        { startImmediately: true }
      )
      yield* Fiber.join(quick)
      yield* TestClock.adjust("1 second")
      const { status } = yield* agent.status("t")
      const heldBack = seen.length
      yield* gate.open
      yield* Fiber.join(reading)

      assert.strictEqual(status._tag, "Completed")
      assert.strictEqual(heldBack, 0)
      const events = seen.filter((event): event is RunEvent.RunEvent => event._tag !== "RunFinished")
      assert.strictEqual(seen.at(-1)?._tag, "RunFinished")
      assert.deepStrictEqual(events.filter((event) => "sequence" in event), yield* Trees.durableEvents("t"))
      const progress = Trees.tagged(events, "ToolProgress")
      const missed = Trees.tagged(events, "EventsMissed").reduce((sum, { missed }) => sum + missed, 0)
      assert.isAbove(missed, 0)
      assert.isBelow(progress.length, emitted * 3)
      const live = events.filter((event) => !("sequence" in event) && event._tag !== "EventsMissed")
      // Each step: its model call; each of the three shouts: a start, its progress, an end; the text of the last step.
      const pieces = 3 * 1 + "all done".split(" ").length
      assert.strictEqual(live.length + missed, 4 + 3 * (emitted + 2) + pieces)
    }).pipe(Effect.provide(Trees.runtime({
      top: [Step.call("shout"), Step.call("shout"), Step.call("shout"), Step.text("all done")]
    })))
  })

  it.effect("of one run does not cost another reader an event", () => {
    const gate = Latch.makeUnsafe()
    const noisy = AgentBuilder.make("top").withTools(Toolkit.make(Tool.make("shout")), {
      shout: () =>
        Effect.asVoid(
          Effect.forEach(
            Array.from({ length: emitted }, (_, n) => n),
            (n) => n % 100 === 0 ? Effect.andThen(Effect.sleep(1), ToolContext.emit(n)) : ToolContext.emit(n)
          )
        )
    })
    return Effect.gen(function*() {
      const agent = yield* noisy.build()
      const handle = yield* agent.start("Go", { threadId: "t" })
      const slow = yield* Effect.forkChild(
        Stream.runForEach(handle.events, () => gate.await),
        { startImmediately: true }
      )
      const quick = yield* Effect.forkChild(Stream.runCollect(handle.events), { startImmediately: true })
      yield* TestClock.adjust("1 minute")
      const events = Array.from(yield* Fiber.join(quick))
      yield* Fiber.interrupt(slow)

      const values = Trees.tagged(events, "ToolProgress").map(({ value }) => value)
      assert.deepStrictEqual(values, Array.from({ length: emitted }, (_, n) => n))
      assert.lengthOf(Trees.tagged(events, "EventsMissed"), 0)
    }).pipe(Effect.provide(Trees.runtime({ top: [Step.call("shout"), Step.text("done")] })))
  })
})
