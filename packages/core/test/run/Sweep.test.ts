import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, DelegateRuntime, type Posture, type RunStore, Sweep } from "@mandate/core"
import { Script, ScriptedModel, Step, TestRuntime } from "@mandate/testing"
import { Effect, Exit, Fiber, Layer, Scope } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { TestClock } from "effect/testing"
import { backings } from "../support/Backings.ts"
import * as Models from "../support/Models.ts"
import * as Postures from "../support/Postures.ts"

const clerk = AgentBuilder.make("clerk")
const changed = AgentBuilder.make("clerk").withTools(Toolkit.make(Tool.make("new")), { new: () => Effect.void })

const scripts: Script.Scripts = {
  // It answers after ten seconds, whichever drive asks.
  clerk: Script.byInput(() => [Step.again(Step.delay("10 seconds", Step.text("done")))])
}

/** Starts runs in a process that dies, or that closes. */
const left = Effect.fnUntraced(function*(
  store: RunStore.RunStore["Service"],
  model: ScriptedModel.ScriptedModel["Service"],
  threads: ReadonlyArray<string>,
  how: "dies" | "closes"
) {
  const scope = yield* Scope.make()
  const runtime = Layer.merge(TestRuntime.layerStore(store, "gone"), Models.layerOf(model))
  const context = yield* Layer.buildWithScope(runtime, scope)
  yield* Effect.gen(function*() {
    const agent = yield* clerk.build()
    yield* Effect.forEach(threads, (threadId) => agent.start("Go", { threadId }))
  }).pipe(Effect.provideContext(context))
  // A process that dies gives no lease back; here its leases are left to expire.
  if (how === "closes") yield* Scope.close(scope, Exit.void)
  else {
    yield* Effect.forEach(
      threads,
      (threadId) => store.lease(threadId, { holder: "dead", now: 0, ttl: 15_000, force: true })
    )
    yield* Scope.close(scope, Exit.void)
  }
})

describe.each(backings)("a sweep, in $name", ({ make, pass }) => {
  it.effect("goes on with runs that a closed runtime left, and does not wait for them", () =>
    Effect.gen(function*() {
      const store = yield* make
      const model = yield* ScriptedModel.make(scripts)
      yield* left(store, model, ["a", "b", "c"], "closes")
      yield* Effect.gen(function*() {
        const agent = yield* clerk.build()
        const first = yield* Sweep.run({ limit: 2 })
        const second = yield* Sweep.run()
        const third = yield* Sweep.run()
        yield* pass("10 seconds")

        assert.deepStrictEqual(first, { recovered: ["a", "b"], unknown: [], failed: [] })
        assert.deepStrictEqual(second, { recovered: ["c"], unknown: [], failed: [] })
        assert.deepStrictEqual(third.recovered, [])
        for (const threadId of ["a", "b", "c"]) {
          assert.deepStrictEqual((yield* agent.status(threadId)).status, { _tag: "Completed", answer: "done" })
        }
      }).pipe(Effect.provide(Layer.merge(TestRuntime.layerStore(store, "next"), Models.layerOf(model))))
    }))

  it.effect("refuses a limit that would find nothing", () =>
    Effect.gen(function*() {
      const store = yield* make
      const refused = yield* Effect.forEach([0, -1, Number.NaN], (limit) => Effect.flip(Sweep.run({ limit }))).pipe(
        Effect.provide(TestRuntime.layerStore(store, "next"))
      )

      assert.deepStrictEqual(refused.map(({ message }) => message), [
        "The sweep is not valid: limit must be a positive whole number, not 0",
        "The sweep is not valid: limit must be a positive whole number, not -1",
        "The sweep is not valid: limit must be a positive whole number, not NaN"
      ])
    }))

  it.effect("leaves a thread alone until its lease has run out, and then takes it by itself", () =>
    Effect.gen(function*() {
      const store = yield* make
      const model = yield* ScriptedModel.make(scripts)
      yield* left(store, model, ["a"], "dies")
      yield* Effect.gen(function*() {
        const agent = yield* clerk.build()
        const status = Effect.map(agent.status("a"), (result) => result.status._tag)
        yield* pass("14 seconds")
        const before = yield* model.calls
        yield* pass("17 seconds")
        const during = yield* model.calls
        yield* pass("10 seconds")

        assert.deepStrictEqual([before, during, yield* status], [1, 2, "Completed"])
      }).pipe(
        Effect.provide(
          Sweep.layer({ interval: "1 second" }).pipe(
            Layer.provideMerge(Layer.merge(TestRuntime.layerStore(store, "next"), Models.layerOf(model)))
          )
        )
      )
    }))

  it.effect("names the threads of agents that are not bound here, or only in another shape", () =>
    Effect.gen(function*() {
      const store = yield* make
      const model = yield* ScriptedModel.make({ clerk: Script.optional(scripts["clerk"]!) })
      yield* left(store, model, ["a"], "closes")
      const stored = yield* store.load("a#0")
      yield* Effect.gen(function*() {
        const unbound = yield* Sweep.run()
        yield* changed.build()
        const reshaped = yield* Sweep.run()

        assert.deepStrictEqual(unbound.unknown, [{ threadId: "a", agentId: "clerk", isOtherShape: false }])
        assert.deepStrictEqual(reshaped.unknown, [{ threadId: "a", agentId: "clerk", isOtherShape: true }])
        assert.deepStrictEqual(yield* store.load("a#0"), stored)
        yield* clerk.build()
        assert.deepStrictEqual((yield* Sweep.run()).recovered, ["a"])
        yield* TestClock.adjust("1 millis")
      }).pipe(Effect.provide(Layer.merge(TestRuntime.layerStore(store, "next"), Models.layerOf(model))))
    }))

  it.effect("goes on with runs of postures, by the posture that their row holds", () =>
    Effect.gen(function*() {
      const store = yield* make
      const model = yield* ScriptedModel.make({
        scout: [Step.again(Step.delay("10 seconds", Step.text("seen")))]
      })
      const process = (name: string, postures: ReadonlyArray<Posture.PostureInput>) =>
        Layer.provideMerge(
          DelegateRuntime.layer(),
          Layer.mergeAll(
            Postures.parts(postures),
            TestRuntime.layerStore(store, name),
            Models.layerOf(model)
          )
        )
      const scope = yield* Scope.make()
      const first = yield* Layer.buildWithScope(process("first", [Postures.posture("scout")]), scope)
      const running = yield* Effect.forkChild(
        Effect.provideContext(Effect.exit(DelegateRuntime.run({ posture: "scout", task: "Look" })), first),
        { startImmediately: true }
      )
      yield* pass("1 second")
      yield* Scope.close(scope, Exit.void)
      yield* Fiber.interrupt(running)
      const swept = yield* Effect.gen(function*() {
        const report = yield* Sweep.run()
        yield* pass("11 seconds")
        return report
      }).pipe(Effect.provide(process("second", [])))

      assert.lengthOf(swept.recovered, 1)
      assert.deepStrictEqual([swept.unknown, swept.failed], [[], []])
      assert.strictEqual(yield* model.calls, 2)
      assert.deepStrictEqual(yield* store.list({ after: "", limit: 10 }), [])
    }))
})
