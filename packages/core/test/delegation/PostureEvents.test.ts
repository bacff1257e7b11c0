import { assert, describe, it } from "@effect/vitest"
import { Answer, DelegateRuntime, Mandate, type RunEvent } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Fiber, Queue } from "effect"
import { type Backing, backings } from "../support/Backings.ts"
import * as PostureLives from "../support/PostureLives.ts"
import * as Postures from "../support/Postures.ts"
import * as Sessions from "../support/Sessions.ts"
import * as Trees from "../support/Trees.ts"

const { posture } = Postures

const delegate = (...names: ReadonlyArray<string>) =>
  Step.calls(...names.map((name) => Step.call("delegate", { posture: name, task: "Work" })))

const postures = [
  posture("deep", { allowedTools: ["delegate"] }),
  posture("slow"),
  posture("payer"),
  posture("flaky"),
  posture("blocked"),
  posture("fine")
]

const scripts: Script.Scripts = {
  lead: Script.optional([delegate("fine", "deep", "payer"), Step.text("done")]),
  deep: Script.optional([delegate("slow"), Step.text("dug")]),
  slow: Script.optional([Step.again(Step.hang(), Step.text("late"))]),
  payer: Script.optional([Step.calls(Step.call("pay", { euros: 1 })), Step.text("paid")]),
  flaky: Script.optional([Step.again(Step.fail("authentication"), Step.text("well again"))]),
  blocked: Script.optional([Step.contentFilter("no")]),
  fine: Script.optional([Step.text("fine")])
}

interface Tools {
  readonly pass: Backing["pass"]
  readonly model: ScriptedModel.ScriptedModel["Service"]

  /** Runs an effect in a process of its own, and gives what was published meanwhile. */
  readonly next: <A, E>(
    effect: Effect.Effect<A, E, PostureLives.Services>
  ) => Effect.Effect<{ readonly value: A; readonly live: ReadonlyArray<RunEvent.RunEvent> }, unknown>
}

type Play = (tools: Tools) => Effect.Effect<unknown, unknown>

const begun = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })

const call = (name: string) => DelegateRuntime.run({ posture: name, task: "Work" })
const delegates = DelegateRuntime.DelegateRuntime
const agent = PostureLives.lead.build()
const failRun = PostureLives.lead.withChildFailure({ modelFailed: "fail-run", refused: "fail-run" }).build()

/** What is done, and how each sub-session ends. */
const endings: ReadonlyArray<{
  readonly name: string
  readonly play: Play
  readonly ends: ReadonlyArray<string>
  readonly scripts?: Script.Scripts
}> = [
  {
    name: "a call from code that is interrupted",
    ends: ["cancelled", "cancelled"],
    play: ({ model, next, pass }) =>
      next(Effect.gen(function*() {
        const running = yield* begun(call("deep"))
        yield* model.awaitCalls(2)
        yield* begun(Fiber.interrupt(running))
        yield* pass("10 seconds")
      }))
  },
  {
    name: "a call from code that is cancelled",
    ends: ["cancelled", "cancelled"],
    play: ({ model, next, pass }) =>
      next(Effect.gen(function*() {
        const running = yield* begun(call("deep"))
        yield* model.awaitCalls(2)
        yield* begun(Effect.flatMap(delegates, ({ cancel }) => cancel("thread-1")))
        yield* pass("10 seconds")
        assert.strictEqual((yield* Fiber.join(running)).status, "cancelled")
      }))
  },
  {
    name: "a call from code that waits for a person and is cancelled",
    ends: ["cancelled"],
    play: ({ next }) =>
      Effect.gen(function*() {
        const { value } = yield* next(call("payer"))
        assert.strictEqual(value.status, "suspended")
        yield* next(Effect.flatMap(delegates, ({ cancel }) => cancel("thread-1")))
      })
  },
  {
    name: "a call from code that waits for a person and goes on",
    ends: ["success"],
    play: ({ next }) =>
      Effect.gen(function*() {
        yield* next(call("payer"))
        yield* next(Effect.flatMap(delegates, ({ resume }) => resume("thread-1", [Answer.approve("0.0:approval0")])))
      })
  },
  {
    name: "a call from code whose process is closed, and that is recovered",
    ends: ["success", "success"],
    play: ({ model, next }) =>
      Effect.gen(function*() {
        yield* next(Effect.andThen(Effect.forkDetach(call("deep"), { startImmediately: true }), model.awaitCalls(2)))
        const { value } = yield* next(Effect.flatMap(delegates, ({ recover }) => recover("thread-1")))
        assert.strictEqual(value.status, "success")
      })
  },
  {
    name: "a model's calls that are cancelled with their run",
    ends: ["success", "cancelled", "cancelled", "cancelled"],
    play: ({ model, next, pass }) =>
      next(Effect.gen(function*() {
        const lead = yield* agent
        yield* lead.start("Go", { threadId: "t" })
        yield* model.awaitCalls(5)
        yield* pass("1 second")
        yield* begun(lead.cancel("t"))
        yield* pass("10 seconds")
      }))
  },
  {
    name: "a model's calls whose run is interrupted",
    ends: ["success", "cancelled", "cancelled", "cancelled"],
    play: ({ model, next, pass }) =>
      next(Effect.gen(function*() {
        const running = yield* begun(Effect.flatMap(agent, (lead) => lead.run("Go", { threadId: "t" })))
        yield* model.awaitCalls(5)
        yield* pass("1 second")
        yield* begun(Fiber.interrupt(running))
        yield* pass("10 seconds")
      }))
  },
  {
    name: "a model's call that is cancelled alone",
    ends: ["success", "cancelled", "success", "cancelled"],
    play: ({ model, next, pass }) =>
      next(Effect.gen(function*() {
        const lead = yield* agent
        const running = yield* begun(lead.run("Go", { threadId: "t" }))
        yield* model.awaitCalls(5)
        yield* pass("1 second")
        yield* begun(lead.cancel("t", { child: "t#0/0.1" }))
        yield* pass("10 seconds")
        yield* Fiber.join(running)
        yield* lead.resume("t", [Answer.approve("0.2:child~0.0:approval0")])
      }))
  },
  {
    name: "a model's calls whose process is closed, and that are recovered",
    ends: ["success", "success", "success", "success"],
    play: ({ model, next, pass }) =>
      Effect.gen(function*() {
        yield* next(Effect.gen(function*() {
          yield* Effect.flatMap(agent, (lead) => lead.start("Go", { threadId: "t" }))
          yield* model.awaitCalls(5)
          yield* pass("1 second")
        }))
        const { value } = yield* next(Effect.gen(function*() {
          const lead = yield* agent
          yield* lead.recover("t")
          return yield* lead.resume("t", [Answer.approve("0.2:child~0.0:approval0")])
        }))
        assert.strictEqual(value.status._tag, "Completed")
      })
  },
  {
    name: "a model's call that fails its run, and works when it is recovered",
    ends: ["success"],
    scripts: { ...scripts, lead: [delegate("flaky"), Step.text("done")] },
    play: ({ next }) =>
      Effect.gen(function*() {
        const { live } = yield* next(Effect.flatMap(failRun, (lead) => Effect.flip(lead.run("Go", { threadId: "t" }))))
        assert.lengthOf(Trees.tagged(live, "DelegateComplete"), 0)
        const { value } = yield* next(Effect.flatMap(failRun, (lead) => lead.recover("t")))
        assert.strictEqual(value.status._tag, "Completed")
      })
  },
  {
    name: "a model's call that fails its run, and that is cancelled with it",
    ends: ["cancelled"],
    scripts: { ...scripts, lead: [delegate("flaky")] },
    play: ({ next }) =>
      Effect.gen(function*() {
        yield* next(Effect.flatMap(failRun, (lead) => Effect.flip(lead.run("Go", { threadId: "t" }))))
        yield* next(Effect.flatMap(failRun, (lead) => lead.cancel("t")))
      })
  },
  {
    name: "a model's call that is settled and fails its run each time it is recovered",
    ends: ["error"],
    scripts: { ...scripts, lead: [delegate("blocked")] },
    play: ({ next }) =>
      Effect.gen(function*() {
        yield* next(Effect.flatMap(failRun, (lead) => Effect.flip(lead.run("Go", { threadId: "t" }))))
        yield* next(Effect.flatMap(failRun, (lead) => Effect.flip(lead.recover("t"))))
        yield* next(Effect.flatMap(failRun, (lead) => lead.cancel("t")))
      })
  }
]

describe.each(backings)("the events of postures, in $name", ({ make, pass }) => {
  it.effect.each(endings)(
    "P6 are one start and one complete for $name",
    ({ ends, play, scripts: own }) =>
      Effect.gen(function*() {
        const recorded = Sessions.recording(yield* make)
        const model = yield* ScriptedModel.make(own ?? scripts)
        const live: Array<RunEvent.RunEvent> = []
        let started = 0
        yield* play({
          model,
          pass,
          next: (effect) =>
            Effect.scoped(Effect.gen(function*() {
              const { events } = yield* Mandate.Mandate
              const queue = yield* events.subscribe()
              const value = yield* effect
              const seen = yield* Queue.clear(queue)
              live.push(...seen)
              return { value, live: seen }
            })).pipe(
              Effect.provide(PostureLives.process(recorded.store, `process-${++started}`, model, postures))
            )
        })

        assert.deepStrictEqual([...Sessions.ends(recorded.committed)].sort(), [...ends].sort())
        // Those who watch see what is stored.
        const durable = live.filter((event) => "sequence" in event)
        assert.deepStrictEqual(durable.map(({ _tag }) => _tag), recorded.committed.map(({ _tag }) => _tag))
        // The pair is all that is said of them as tasks.
        assert.deepStrictEqual(durable.filter(({ _tag }) => _tag.startsWith("Task")), [])
      })
  )
})
