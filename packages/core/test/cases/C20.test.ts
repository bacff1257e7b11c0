import { assert, describe, it } from "@effect/vitest"
import { type Agent, AgentBuilder, RunStore, TypedAgent } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Fiber, Latch, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { TestClock } from "effect/testing"
import { backings } from "../support/Backings.ts"
import * as Trees from "../support/Trees.ts"
import * as Waiting from "../support/Waiting.ts"

const Hold = Tool.make("hold", { success: Schema.String })
const tools = Toolkit.make(Hold)

interface Work {
  readonly ended: Array<string>
  readonly started: Latch.Latch
  waiting: number
}

const work = (): Work => ({ ended: [], started: Latch.makeUnsafe(), waiting: 4 })

// Work that only an interruption ends, with a finalizer that takes a second.
const held = (work: Work, name: string) =>
  Effect.scoped(Effect.andThen(
    Effect.acquireRelease(
      Effect.sync(() => --work.waiting === 0 && work.started.openUnsafe()),
      () => Effect.andThen(Effect.sleep("1 second"), Effect.sync(() => work.ended.push(name)))
    ),
    Effect.promise((signal) =>
      new Promise<string>(() => signal.addEventListener("abort", () => work.ended.push(`signal of ${name}`)))
    )
  ))

const family = (work: Work) => {
  const holding = (name: string) => ({ hold: () => held(work, name) })
  const grandchild = TypedAgent.text("grandchild", { description: "Holds" }).withTools(tools, holding("grandchild"))
  const child = TypedAgent.text("child", { description: "Delegates" })
    .withTools(tools, holding("child"))
    .withSubagents([grandchild])
  return AgentBuilder.make("top")
    .withTools(tools, holding("top"))
    .withSubagents([child], { maxConcurrentChildren: 2, maxDepth: 2 })
}

const scripts = (work: Work): Script.Scripts => ({
  top: Script.runs(
    [Step.calls(...["1", "2", "3", "4", "5"].map((name) => Step.textTask("child", name)), Step.call("hold"))],
    [Step.text("still here")]
  ),
  child: Script.byInput((input) =>
    input === "1"
      ? [() => Effect.as(held(work, "model"), Step.text("never"))]
      : [Step.calls(Step.textTask("grandchild", "hold"), Step.call("hold"))]
  ),
  grandchild: [Step.call("hold")]
})

type Interrupt = (agent: Agent.Agent<string>) => Effect.Effect<Effect.Effect<unknown, unknown>, unknown>

const interrupts: ReadonlyArray<{ readonly how: string; readonly begin: Interrupt }> = [
  {
    how: "interrupting run",
    begin: (agent) =>
      Effect.map(
        Effect.forkDetach(agent.run("Go", { threadId: "t" }), { startImmediately: true }),
        (fiber) => Fiber.interrupt(fiber)
      )
  },
  {
    how: "cancel of the thread",
    begin: (agent) => Effect.as(agent.start("Go", { threadId: "t" }), agent.cancel("t"))
  },
  {
    how: "cancel of the handle",
    begin: (agent) => Effect.map(agent.start("Go", { threadId: "t" }), (handle) => handle.cancel)
  }
]

describe.each(backings)("C20 Stopping the parent, in $name", ({ make, pass, place }) => {
  for (const { begin, how } of interrupts) {
    it.effect(`C20 ${how} reaches every level, and returns when all finalizers have run`, () =>
      Effect.gen(function*() {
        const held = work()
        const home = yield* place
        const { model, next } = yield* Waiting.processes(home, scripts(held))
        const look = Effect.provideService(
          Effect.all({ ends: Trees.ends("t"), runs: Trees.stored("t"), events: Trees.durableEvents("t") }),
          RunStore.RunStore,
          yield* home
        )
        const before = yield* next(Effect.gen(function*() {
          const agent = yield* family(held).build()
          const interrupt = yield* begin(agent)
          yield* held.started.await
          // Until time was moved once, the test clock lets an interruption into the sleep of a finalizer.
          yield* TestClock.adjust("1 millis")
          const interrupting = yield* Effect.forkChild(interrupt, { startImmediately: true })
          yield* pass("2900 millis")
          const early = interrupting.pollUnsafe()
          yield* pass("100 millis")

          assert.isUndefined(early, "it returned before the finalizers had run")
          yield* Fiber.join(interrupting)
          const names = ["grandchild", "child", "model", "top"]
          assert.sameMembers(held.ended, names.flatMap((name) => [name, `signal of ${name}`]))
          const stored = yield* look
          yield* pass("1 hour")
          return stored
        }))

        assert.lengthOf(yield* model.interrupted, 1)
        assert.deepStrictEqual(before.ends, {
          "t#0": "Cancelled",
          "t#0/0.0#0": "Cancelled",
          "t#0/0.1#0": "Cancelled",
          "t#0/0.1#0/0.0#0": "Cancelled"
        })
        assert.lengthOf(Trees.tagged(before.events, "RunStarted"), 4)
        assert.deepStrictEqual(
          Trees.tagged(before.events, "RunSettled").map(({ status }) => status),
          ["Cancelled", "Cancelled", "Cancelled", "Cancelled"]
        )
        assert.deepStrictEqual(yield* look, before)
        assert.strictEqual(yield* model.calls, 4)

        const later = yield* next(
          Effect.flatMap(family(held).build(), (agent) => agent.run("Still there?", { threadId: "t" }))
        )
        assert.deepStrictEqual(later.status, { _tag: "Completed", answer: "still here" })
        const { request } = (yield* model.requestsOf("top"))[1]!
        assert.deepStrictEqual(request.messages.map(({ role }) => role), ["user", "assistant", "tool", "user"])
      }))
  }

  const Millis = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 30 }))
  const moments = {
    at: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 90 })),
    slots: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 3 })),
    delays: Schema.Struct({ top: Millis, child: Millis, grandchild: Millis, tool: Millis })
  }

  it.effect.prop(
    "C20 whenever it comes, a cancel leaves no run open, no model asked later, and a thread that can go on",
    moments,
    ({ at, delays, slots }) =>
      Effect.flatMap(make, (store) =>
        Effect.gen(function*() {
          const sleeping = { hold: () => Effect.as(Effect.sleep(delays.tool), "held") }
          const grandchild = TypedAgent.text("grandchild", { description: "Holds" }).withTools(tools, sleeping)
          const child = TypedAgent.text("child", { description: "Delegates" }).withSubagents([grandchild])
          const agent = yield* AgentBuilder.make("top")
            .withTools(tools, sleeping)
            .withSubagents([child], { maxConcurrentChildren: slots, maxDepth: 2 })
            .build()
          const model = yield* ScriptedModel.ScriptedModel
          yield* agent.start("Go", { threadId: "t" })
          yield* pass(at)
          yield* agent.cancel("t")
          const calls = yield* model.calls
          const before = yield* Trees.stored("t")
          yield* pass("1 minute")

          assert.strictEqual(yield* model.calls, calls)
          assert.deepStrictEqual(yield* Trees.stored("t"), before)
          for (const [runId, end] of Object.entries(yield* Trees.ends("t"))) {
            assert.include(["Completed", "Cancelled"], end, runId)
          }
          const running = yield* Effect.forkChild(agent.run("Again", { threadId: "t" }), { startImmediately: true })
          for (let times = 0; times < 10; times++) yield* pass("40 millis")
          assert.strictEqual((yield* Fiber.join(running)).status._tag, "Completed")
          yield* Trees.noViolations
        }).pipe(Effect.provide(Trees.runtime({
          top: Script.optional(Script.each([
            Step.delay(
              delays.top,
              Step.calls(Step.textTask("child", "a"), Step.call("hold"), Step.textTask("child", "b"))
            ),
            Step.delay(delays.top, Step.text("done"))
          ])),
          child: Script.optional(Script.each([
            Step.delay(delays.child, Step.textTask("grandchild", "c")),
            Step.delay(delays.child, Step.text("done"))
          ])),
          grandchild: Script.optional(Script.each([
            Step.delay(delays.grandchild, Step.call("hold")),
            Step.delay(delays.grandchild, Step.text("done"))
          ]))
        }, store)))),
    { arbitrary: { runs: 40 }, timeout: 20_000 }
  )
})
