import { assert, describe, it } from "@effect/vitest"
import {
  AgentBuilder,
  DelegateRuntime,
  MemoryRunStore,
  PostureRegistry,
  type RunEvent,
  ToolCatalog,
  TypedAgent
} from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Deferred, Effect, Fiber, Layer, Schema, Stream } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { TestClock } from "effect/testing"
import * as Postures from "../support/Postures.ts"
import * as Sessions from "../support/Sessions.ts"
import * as Trees from "../support/Trees.ts"

const Work = Tool.make("work", { success: Schema.String })
const tools = Toolkit.make(Work)

// A promise that nothing ends, until the test does.
const loose = () => {
  let end: { readonly resolve: (value: string) => void; readonly reject: (reason: unknown) => void } | undefined
  const promise = new Promise<string>((resolve, reject) => {
    end = { resolve, reject }
  })
  return { promise, ...end! }
}

type Late = (work: ReturnType<typeof loose>) => void

const silent: Late = () => {}

interface Case {
  readonly name: string
  readonly steps: Script.Steps
  readonly work: (work: ReturnType<typeof loose>) => Effect.Effect<string>
  readonly late?: Late
}

const calling = [Step.call("work")]
const deaf = ({ promise }: ReturnType<typeof loose>) => Effect.promise(() => promise)

const cases: ReadonlyArray<Case> = [
  { name: "(a) a tool's promise never settles and ignores its signal", steps: calling, work: deaf },
  {
    name: "(a) a tool's promise resolves late",
    steps: calling,
    work: deaf,
    late: ({ resolve }) => resolve("late")
  },
  {
    name: "(a) a tool's promise is rejected late",
    steps: calling,
    work: deaf,
    late: ({ reject }) => reject(new Error("late"))
  },
  { name: "(b) a provider says nothing", steps: [Step.hang()], work: () => Effect.succeed("unused") },
  {
    name: "(b) a provider stops in the middle of its answer",
    steps: [Step.hang("The answer is")],
    work: () => Effect.succeed("unused")
  },
  {
    name: "(c) a tool cannot be interrupted for a minute",
    steps: calling,
    work: () => Effect.uninterruptible(Effect.as(Effect.sleep("60 seconds"), "late"))
  },
  {
    name: "(c) a tool that cannot be interrupted dies late",
    steps: calling,
    work: () => Effect.uninterruptible(Effect.andThen(Effect.sleep("60 seconds"), Effect.die(new Error("late"))))
  },
  {
    name: "(c) a tool's finalizer takes a minute",
    steps: calling,
    work: () => Effect.ensuring(Effect.never, Effect.sleep("60 seconds"))
  }
]

const ways = ["run", "stream"] as const

const message = "The subagent used up its budget of time"

describe("C21 A child's deadline", () => {
  for (const { late = silent, name, steps, work } of cases) {
    for (const way of ways) {
      it.effect(`C21 ${name}: a ${way} goes on at the child's deadline`, () => {
        const promise = loose()
        const slow = TypedAgent.text("slow", { description: "May hang" })
          .withTools(tools, { work: () => work(promise) })
          .withBudget({ timeout: "5 seconds" })
        return Effect.gen(function*() {
          const agent = yield* AgentBuilder.make("top").withSubagents([slow], { maxConcurrentChildren: 1 }).build()
          const model = yield* ScriptedModel.ScriptedModel
          const seen: Array<RunEvent.RunEvent["_tag"] | "RunFinished"> = []
          const running = yield* Effect.forkChild(
            way === "run"
              ? Effect.asVoid(agent.run("Go", { threadId: "t" }))
              : Stream.runForEach(
                agent.stream("Go", { threadId: "t" }),
                ({ _tag }) => Effect.sync(() => seen.push(_tag))
              ),
            { startImmediately: true }
          )
          yield* TestClock.adjust("4999 millis")
          const before = yield* model.requestsOf("top")
          yield* TestClock.adjust("1 millis")
          yield* Fiber.join(running)

          assert.lengthOf(before, 1)
          const [, next] = yield* model.requestsOf("top")
          assert.deepStrictEqual(Trees.outputs(next!.request), [{ error: { reason: "BudgetExceeded", message } }])
          const result = yield* agent.status("t")
          assert.deepStrictEqual(result.status, { _tag: "Completed", answer: "done without it" })
          assert.deepStrictEqual(yield* Trees.ends("t"), { "t#0": "Completed", "t#0/0.0#0": "BudgetExceeded" })
          const events = yield* Trees.durableEvents("t")
          const [task] = Trees.tagged(events, "TaskSettled")
          assert.deepStrictEqual(task?.failure, { _tag: "BudgetExceeded", limit: "time" })
          if (way === "stream") assert.strictEqual(seen.at(-1), "RunFinished")

          const stored = yield* Trees.stored("t")
          late(promise)
          yield* TestClock.adjust("10 minutes")
          assert.deepStrictEqual(yield* Trees.stored("t"), stored)
          assert.deepStrictEqual(yield* Trees.durableEvents("t"), events)
          assert.lengthOf(yield* model.requests, 3)
        }).pipe(Effect.provide(Trees.runtime({
          top: [Step.textTask("slow", "work"), Step.text("done without it")],
          slow: steps
        })))
      })
    }
  }

  it.effect("C21 the slot of a child that hangs is free at its deadline", () =>
    Effect.gen(function*() {
      const slow = TypedAgent.text("slow", { description: "May hang" })
        .withTools(tools, { work: () => Effect.uninterruptible(Effect.as(Effect.sleep("60 seconds"), "late")) })
        .withBudget({ timeout: "5 seconds" })
      const agent = yield* AgentBuilder.make("top").withSubagents([slow], { maxConcurrentChildren: 1 }).build()
      const running = yield* Effect.forkChild(agent.run("Go", { threadId: "t" }), { startImmediately: true })
      yield* TestClock.adjust("10 seconds")

      const model = yield* ScriptedModel.ScriptedModel
      assert.strictEqual((yield* Fiber.join(running)).status._tag, "Completed")
      const [, next] = yield* model.requestsOf("top")
      // The time that the last task waited for the slot is none of its own.
      assert.deepStrictEqual(Trees.reasons(next!.request), ["BudgetExceeded", "BudgetExceeded", undefined])
    }).pipe(Effect.provide(Trees.runtime({
      top: [
        Step.calls(Step.textTask("slow", "hang"), Step.textTask("slow", "hang"), Step.textTask("slow", "answer")),
        Step.text("done")
      ],
      slow: Script.byInput((input) => input === "hang" ? [Step.call("work")] : [Step.text("here")])
    }))))

  it.effect("C21 a parent's deadline ends its children, whatever they do", () =>
    Effect.gen(function*() {
      const entered = yield* Deferred.make<void>()
      const slow = TypedAgent.text("slow", { description: "May hang" }).withTools(tools, {
        work: () =>
          Effect.andThen(
            Deferred.succeed(entered, undefined),
            Effect.uninterruptible(Effect.as(Effect.sleep("60 seconds"), "late"))
          )
      })
      const agent = yield* AgentBuilder.make("top").withSubagents([slow]).withBudget({ timeout: "5 seconds" }).build()
      const running = yield* Effect.forkChild(agent.run("Go", { threadId: "t" }), { startImmediately: true })
      yield* Deferred.await(entered)
      yield* TestClock.adjust("5 seconds")
      const { status } = yield* Fiber.join(running)
      const stored = yield* Trees.stored("t")
      yield* TestClock.adjust("10 minutes")

      assert.deepStrictEqual(status, { _tag: "BudgetExceeded", limit: "time" })
      assert.deepStrictEqual(yield* Trees.ends("t"), { "t#0": "BudgetExceeded", "t#0/0.0#0": "Cancelled" })
      assert.deepStrictEqual(yield* Trees.stored("t"), stored)
    }).pipe(Effect.provide(Trees.runtime({ top: [Step.textTask("slow", "work")], slow: [Step.call("work")] }))))
})

const callers = cases.flatMap((one) => (["code", "a model"] as const).map((caller) => ({ ...one, caller })))

describe("C21, postures", () => {
  it.effect.each(callers)(
    "C21 $name: a posture's call ends with the status timeout at its deadline, for $caller",
    ({ caller, late = silent, steps, work }) => {
      const promises: Array<ReturnType<typeof loose>> = []
      const hanging = Effect.suspend(() => {
        const promise = loose()
        promises.push(promise)
        return work(promise)
      })
      const recorded = Sessions.recording(MemoryRunStore.make())
      const runtime = DelegateRuntime.layer().pipe(
        Layer.provideMerge(Layer.mergeAll(
          PostureRegistry.layer([Postures.posture("slow", { budget: { timeout: "5 seconds" } })]),
          Layer.provideMerge(ToolCatalog.layerTools(tools, { work: () => hanging }), ToolCatalog.layer),
          Trees.runtime({
            lead: Script.optional([
              Step.calls(Step.call("delegate", { posture: "slow", task: "Work" })),
              Step.calls(Step.call("delegate", { posture: "slow", task: "Work" })),
              Step.text("done without it")
            ]),
            slow: Script.each(steps)
          }, recorded.store)
        ))
      )
      return Effect.gen(function*() {
        const model = yield* ScriptedModel.ScriptedModel
        const call = DelegateRuntime.run({ posture: "slow", task: "Work" })
        const agent = yield* AgentBuilder.make("lead").withPostures().build()
        const running = yield* Effect.forkChild(
          caller === "code" ? Effect.all([call, call]) : agent.run("Go", { threadId: "t" }),
          { startImmediately: true }
        )
        yield* TestClock.adjust("4999 millis")
        const early = yield* model.requestsOf("slow")
        yield* TestClock.adjust("1 millis")
        const next = yield* model.requestsOf("slow")
        yield* TestClock.adjust("5 seconds")
        const result = yield* Fiber.join(running)

        // An equal call asks its model anew: a timeout is nothing to be used again.
        assert.deepStrictEqual([early.length, next.length], [1, 2])
        if (Array.isArray(result)) {
          for (const call of result) {
            assert.deepInclude(call, {
              status: "timeout",
              elapsed: 5000,
              error: { _tag: "BudgetExceeded", limit: "time" }
            })
            assert.notProperty(call, "result")
          }
        } else {
          const [, second, third] = yield* model.requestsOf("lead")
          for (const { request } of [second!, third!]) {
            assert.deepStrictEqual(Trees.outputs(request), [{ error: { reason: "BudgetExceeded", message } }])
          }
        }
        assert.deepStrictEqual(Sessions.ends(recorded.committed), ["timeout", "timeout"])

        const committed = [...recorded.committed]
        const asked = yield* model.calls
        for (const promise of promises) late(promise)
        yield* TestClock.adjust("10 minutes")
        assert.deepStrictEqual(recorded.committed, committed)
        assert.strictEqual(yield* model.calls, asked)
      }).pipe(Effect.provide(runtime))
    }
  )
})
