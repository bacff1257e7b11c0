import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Answer, DelegateRuntime, type RunEvent, RunStore, Threads, TypedAgent } from "@mandate/core"
import { Script, Step } from "@mandate/testing"
import { Effect, Fiber, Schema, Stream } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { TestClock } from "effect/testing"
import { backings } from "../support/Backings.ts"
import * as Postures from "../support/Postures.ts"
import * as Trees from "../support/Trees.ts"
import * as Waiting from "../support/Waiting.ts"

const clerk = TypedAgent.text("clerk", { description: "Pays" })
  .withTools(Toolkit.make(Waiting.gated("pay", {})), { pay: () => Effect.succeed("paid") })
const lead = AgentBuilder.make("lead").withSubagents([clerk])
const scripts: Script.Scripts = {
  lead: [Step.textTask("clerk", "Pay"), Step.text("done")],
  clerk: [Step.call("pay"), Step.text("paid")]
}
const approval = Answer.approve("0.0:child~0.0:approval0")

const sequences = (events: ReadonlyArray<RunEvent.RunEvent>) =>
  events.flatMap((event) => "sequence" in event ? [event.sequence] : [])
const counted = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)

/** All that a stream of events gives until the run of the thread settles. */
const untilSettled = <E, R>(events: Stream.Stream<RunEvent.RunEvent, E, R>) =>
  Stream.runCollect(
    Stream.takeUntil(events, (event) => event._tag === "RunSettled" && event.runId === "t#0")
  )

describe.each(backings)("events of a thread, in $name", ({ make, pass }) => {
  it.effect("are what the store has, then what happens, without gap or double, after a restart too", () =>
    Effect.gen(function*() {
      const { next } = yield* Waiting.processes(yield* make, scripts)
      yield* next(Effect.flatMap(lead.build(), (agent) => agent.run("Go", { threadId: "t" })))
      const [all, later] = yield* next(Effect.gen(function*() {
        const agent = yield* lead.build()
        const all = yield* Effect.forkChild(untilSettled(Threads.events("t")), { startImmediately: true })
        const later = yield* Effect.forkChild(untilSettled(Threads.events("t", { after: 3 })), {
          startImmediately: true
        })
        yield* TestClock.adjust(1)
        yield* agent.resume("t", [approval])
        return [yield* Fiber.join(all), yield* Fiber.join(later)] as const
      }))
      const after = yield* next(untilSettled(Threads.events("t")))

      const last = sequences(all).at(-1)!
      assert.deepStrictEqual(sequences(all), counted(1, last))
      assert.deepStrictEqual(sequences(later), counted(4, last))
      assert.deepStrictEqual(sequences(after), counted(1, last))
      assert.include(all.map(({ _tag }) => _tag), "ToolStarted")
      assert.notInclude(after.map(({ _tag }) => _tag), "ToolStarted")
    }))

  it.effect("begin after the number that was asked for, also where that is yet to come", () =>
    Effect.gen(function*() {
      const { next } = yield* Waiting.processes(yield* make, scripts)
      const later = yield* next(Effect.gen(function*() {
        const agent = yield* lead.build()
        const later = yield* Effect.forkChild(untilSettled(Threads.events("t", { after: 4 })), {
          startImmediately: true
        })
        yield* TestClock.adjust(1)
        yield* agent.run("Go", { threadId: "t" })
        yield* agent.resume("t", [approval])
        return yield* Fiber.join(later)
      }))

      const numbers = sequences(later)
      assert.deepStrictEqual(numbers, counted(5, numbers.at(-1)!))
    }))

  it.effect("have no gap and no double for who begins to read while one is written", () =>
    Effect.gen(function*() {
      const most = 6
      for (let write = 1; write <= most; write++) {
        let writes = 0
        let begin: Effect.Effect<unknown> = Effect.void
        const inner = yield* make
        const store = Trees.around(inner, (name, done) => {
          // Reading takes its time, and the run goes on meanwhile.
          if (name === "events") return Effect.tap(done, () => Effect.sleep(1))
          // Committed, and not published yet.
          return ["open", "create", "append", "settle"].includes(name)
            ? Effect.tap(done, () => Effect.suspend(() => ++writes === write ? begin : Effect.void))
            : done
        })
        const alone = AgentBuilder.make("lead").withSubagents([TypedAgent.text("clerk", { description: "Pays" })])
        const seen: Array<RunEvent.RunEvent> = []
        yield* Effect.gen(function*() {
          const agent = yield* alone.build()
          const context = yield* Effect.context<Effect.Services<ReturnType<typeof Threads.runs>>>()
          begin = Effect.forkDetach(
            Effect.provideContext(
              Stream.runForEach(Threads.events("t"), (event) => Effect.sync(() => seen.push(event))),
              context
            ),
            { startImmediately: true }
          )
          yield* agent.run("Go", { threadId: "t" })
          yield* TestClock.adjust(1)
          const stored = yield* inner.events("t", 0)
          assert.deepStrictEqual(sequences(seen), stored.map(({ sequence }) => sequence))
          assert.strictEqual(writes, most)
        }).pipe(Effect.provide(Trees.runtime({ ...scripts, clerk: [Step.text("paid")] }, store)))
      }
    }))

  it.effect("say of each run that it waits or fails, and that it goes on", () =>
    Effect.gen(function*() {
      const mate = TypedAgent.text("mate", { description: "Delegates" }).withSubagents([clerk])
        .withChildFailure({ modelFailed: "fail-run" })
      const head = AgentBuilder.make("head").withSubagents([mate], { maxDepth: 2 })
        .withChildFailure({ modelFailed: "fail-run" })
      const store = yield* make
      const { next } = yield* Waiting.processes(store, {
        head: [Step.textTask("mate", "x"), Step.textTask("mate", "x"), Step.text("done")],
        mate: Script.each([Step.textTask("clerk", "x"), Step.text("done")]),
        clerk: Script.runs(
          [Step.call("pay"), Step.again(Step.fail("authentication"), Step.text("paid"))],
          [Step.call("pay")]
        )
      })
      const going = (tag: string) => ["RunStarted", "RunSuspended", "RunResumed", tag]
      yield* next(Effect.gen(function*() {
        const agent = yield* head.build()
        yield* agent.run("Go", { threadId: "t" })
        yield* Effect.flip(agent.resume("t", [Answer.approve("0.0:child~0.0:child~0.0:approval0")]))
        yield* agent.recover("t")
        yield* agent.cancel("t", { child: "t#0/1.0#0/0.0" })
        yield* pass("1 second")
      }))
      const events = yield* Effect.provideService(Trees.durableEvents("t"), RunStore.RunStore, store)
      const life = (runId: string) =>
        events.flatMap((event) =>
          "runId" in event && event.runId === runId && event._tag.startsWith("Run") ? [event._tag as string] : []
        )

      assert.deepStrictEqual(sequences(events), counted(1, events.length))
      for (const runId of ["t#0/0.0#0", "t#0/0.0#0/0.0#0"]) {
        assert.deepStrictEqual(life(runId), [...going("RunFailed"), "RunRecovered", "RunSettled"])
      }
      assert.deepStrictEqual(life("t#0/1.0#0"), going("RunSettled"))
      assert.deepStrictEqual(life("t#0/1.0#0/0.0#0"), ["RunStarted", "RunSuspended", "RunSettled"])
    }))

  it.effect("are those of the root; a child's thread and a number that is none are refused", () =>
    Effect.gen(function*() {
      const { next } = yield* Waiting.processes(yield* make, {})
      const refused = yield* Effect.forEach(
        [
          Threads.events("t#0/0.0"),
          ...[-1, Number.NaN, 2 ** 53].map((after) => Threads.events("t", { after }))
        ],
        (events) => next(Effect.flip(Stream.runDrain(events)))
      )

      assert.deepStrictEqual(refused.map(({ message }) => message), [
        "The thread \"t#0/0.0\" belongs to a child; use the thread of its root",
        "The options are not valid: after must be a whole number from 0 on, not -1",
        "The options are not valid: after must be a whole number from 0 on, not NaN",
        "The options are not valid: after must be a whole number from 0 on, not 9007199254740992"
      ])
    }))
})

describe("an event that no store has", () => {
  const deep = Toolkit.make(Tool.make("deep", { success: Schema.String }))
  const diver = TypedAgent.text("diver", { description: "Dives" }).withTools(deep, {
    deep: () => Effect.as(Effect.exit(DelegateRuntime.run({ posture: "scout", task: "Look" })), "refused")
  })
  const agent = AgentBuilder.make("lead").withSubagents([diver])

  it.effect("is given to all who watch its thread", () =>
    Effect.gen(function*() {
      const built = yield* agent.build()
      const watching = yield* Effect.forkChild(untilSettled(Threads.events("t")), { startImmediately: true })
      yield* TestClock.adjust(1)
      const streaming = yield* Effect.forkChild(Stream.runCollect(built.stream("Go", { threadId: "t" })))
      yield* TestClock.adjust("1 second")
      const streamed = yield* Fiber.join(streaming)
      const watched = yield* Fiber.join(watching)
      const handle = yield* built.start("Go", { threadId: "u" })
      const handling = yield* Effect.forkChild(Stream.runCollect(handle.events), { startImmediately: true })
      yield* TestClock.adjust("1 second")
      const handled = yield* Fiber.join(handling)

      for (const events of [streamed, watched, handled]) {
        assert.include(events.map(({ _tag }) => _tag), "DelegateRefused")
      }
    }).pipe(Effect.provide(Postures.runtime([Postures.posture("scout")], {
      lead: Script.each([Step.textTask("diver", "Dive"), Step.text("done")]),
      diver: Script.each([Step.delay("1 second", Step.call("deep")), Step.text("done")])
    }, { maxDepth: 1 }))))
})
