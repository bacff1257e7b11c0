import { assert, describe, it } from "@effect/vitest"
import {
  AgentBuilder,
  Answer,
  Mandate,
  MemoryRunStore,
  type ModelRegistry,
  type RunStore,
  Sweep,
  TypedAgent
} from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Deferred, Effect, Exit, Fiber } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { TestClock } from "effect/testing"
import * as Models from "../support/Models.ts"
import * as Trees from "../support/Trees.ts"
import * as Waiting from "../support/Waiting.ts"

const child = TypedAgent.text("child", { description: "Works" })
const top = AgentBuilder.make("top").withSubagents([child])
const cancelled = { error: { reason: "Cancelled", message: "The subagent was cancelled" } }
const scripts: Script.Scripts = {
  top: [Step.textTask("child", "x"), Step.text("done")],
  child: Script.optional([Step.text("too late")])
}

const lastOutputs = Effect.map(
  Effect.flatMap(ScriptedModel.ScriptedModel, (model) => model.requestsOf("top")),
  (requests) => Trees.outputs(requests.at(-1)!.request)
)

describe("cancel of a child that has a row and no drive yet", () => {
  it.effect("is its end: it asks no model, and its parent goes on", () => {
    const created = Deferred.makeUnsafe<void>()
    const store = Trees.around(MemoryRunStore.make(), (name, done) => {
      // The cancel has raised the epoch and settled nothing yet when the child's drive is about to start.
      if (name === "seize") return Effect.tap(done, () => Effect.sleep(10))
      return name === "create"
        ? Effect.tap(done, () => Effect.andThen(Deferred.succeed(created, undefined), Effect.sleep(1)))
        : done
    })
    return Effect.gen(function*() {
      const agent = yield* top.build()
      const running = yield* Effect.forkChild(agent.run("Go", { threadId: "t" }), { startImmediately: true })
      yield* Deferred.await(created)
      const cancelling = yield* Effect.forkChild(agent.cancel("t", { child: "t#0/0.0" }), { startImmediately: true })
      yield* TestClock.adjust(100)
      yield* Fiber.join(cancelling)

      assert.deepStrictEqual((yield* Fiber.join(running)).status, { _tag: "Completed", answer: "done" })
      assert.deepStrictEqual(yield* lastOutputs, [cancelled])
      assert.lengthOf(yield* Effect.flatMap(ScriptedModel.ScriptedModel, (model) => model.requestsOf("child")), 0)
    }).pipe(Effect.provide(Trees.runtime(scripts, store)))
  })

  it.effect("is heard by its parent also when it was over before the drive started", () => {
    let cancel: Effect.Effect<unknown> = Effect.void
    const store = Trees.around(
      MemoryRunStore.make(),
      (name, done) => name === "create" ? Effect.tap(done, () => cancel) : done
    )
    return Effect.gen(function*() {
      const agent = yield* top.build()
      cancel = Effect.orDie(agent.cancel("t", { child: "t#0/0.0" }))
      const result = yield* agent.run("Go", { threadId: "t" })

      assert.deepStrictEqual(result.status, { _tag: "Completed", answer: "done" })
      assert.deepStrictEqual(yield* lastOutputs, [cancelled])
    }).pipe(Effect.provide(Trees.runtime(scripts, store)))
  })
})

describe("cancel of a child whose parent takes its lease meanwhile", () => {
  it.effect("is tried once more: the child ends, and its parent goes on", () => {
    const inner = MemoryRunStore.make()
    let isTaken = false
    const store = Trees.around(inner, (name, done) => {
      if (name !== "seize" || isTaken) return done
      isTaken = true
      return Effect.tap(
        done,
        () => Effect.orDie(inner.lease("t#0/0.0", { holder: "parent", now: 0, ttl: 1, force: true }))
      )
    })
    const worker = child.withTools(Toolkit.make(Waiting.gated("pay", {})), { pay: () => Effect.succeed("paid") })
    return Effect.gen(function*() {
      const agent = yield* AgentBuilder.make("top").withSubagents([worker]).build()
      yield* agent.run("Go", { threadId: "t" })
      yield* agent.cancel("t", { child: "t#0/0.0" })
      yield* TestClock.adjust(1)

      assert.deepStrictEqual((yield* agent.status("t")).status, { _tag: "Completed", answer: "done" })
      assert.deepStrictEqual(yield* lastOutputs, [cancelled])
    }).pipe(Effect.provide(Trees.runtime({ ...scripts, child: [Step.call("pay")] }, store)))
  })
})

describe("cancel of a child that has failed, from another process", () => {
  it.effect("is what its parent hears that was about to close it", () => {
    const inner = MemoryRunStore.make()
    let cancel: Effect.Effect<unknown> = Effect.void
    const store = Trees.around(inner, (name, done) => name === "seize" ? Effect.andThen(cancel, done) : done)
    return Effect.gen(function*() {
      const model = yield* ScriptedModel.make({ ...scripts, child: [Step.fail("authentication")] })
      const process = (store: RunStore.RunStore["Service"]) => Trees.runtimeOf(Models.layerOf(model), store)
      yield* Effect.gen(function*() {
        const other = yield* top.build()
        cancel = Effect.orDie(other.cancel("t", { child: "t#0/0.0" }))
        const { status, usage } = yield* Effect.provide(
          Effect.flatMap(top.build(), (agent) => agent.run("Go", { threadId: "t" })),
          process(store)
        )

        assert.deepStrictEqual(status, { _tag: "Completed", answer: "done" })
        assert.strictEqual(usage.tree.childRuns, 1)
        assert.deepStrictEqual(yield* lastOutputs, [cancelled])
        assert.deepStrictEqual(yield* Trees.ends("t"), { "t#0": "Completed", "t#0/0.0#0": "Cancelled" })
      }).pipe(Effect.provide(process(inner)))
    }).pipe(Effect.scoped)
  })
})

describe("cancel of a run at its first write", () => {
  const alone = AgentBuilder.make("top")
  const at = (write: string, act: Effect.Effect<unknown>) => {
    let isDue = true
    return Trees.around(MemoryRunStore.make(), (name, done) => {
      if (name !== write || !isDue) return done
      isDue = false
      return Effect.tap(done, () => act)
    })
  }

  it.effect("ends it before it calls a tool, though it never gave way to another fiber", () => {
    const ran: Array<string> = []
    const due = Deferred.makeUnsafe<void>()
    const worker = alone.withTools(Toolkit.make(Tool.make("work")), { work: () => Effect.sync(() => ran.push("work")) })
    return Effect.gen(function*() {
      const agent = yield* worker.build()
      const cancelling = yield* Effect.forkChild(Effect.andThen(Deferred.await(due), agent.cancel("t")), {
        startImmediately: true
      })
      const result = yield* agent.run("Go", { threadId: "t" })
      yield* Fiber.join(cancelling)

      assert.deepStrictEqual(result.status, { _tag: "Cancelled" })
      assert.deepStrictEqual(ran, [])
    }).pipe(Effect.provide(Trees.runtime(
      { top: [Step.call("work")] },
      at("append", Effect.sync(() => Deferred.doneUnsafe(due, Exit.void)))
    )))
  })

  it.effect("is how a recovery comes out that it overtakes", () => {
    let cancel: Effect.Effect<unknown> = Effect.void
    return Effect.gen(function*() {
      const agent = yield* alone.build()
      yield* Effect.flip(agent.run("Go", { threadId: "t" }))
      cancel = Effect.orDie(agent.cancel("t"))
      const result = yield* agent.recover("t")

      assert.deepStrictEqual(result.status, { _tag: "Cancelled" })
    }).pipe(Effect.provide(Trees.runtime(
      { top: [Step.fail("authentication")] },
      at("reopen", Effect.suspend(() => cancel))
    )))
  })
})

describe("cancel of a child from another process", () => {
  it.effect("is heard by its parent, which goes on", () => {
    const store = MemoryRunStore.make()
    return Effect.gen(function*() {
      const model = yield* ScriptedModel.make({ ...scripts, child: [Step.delay("1 second", Step.text("too late"))] })
      const process = () => Trees.runtimeOf(Models.layerOf(model), store)
      yield* Effect.gen(function*() {
        const agent = yield* top.build()
        const running = yield* Effect.forkChild(agent.run("Go", { threadId: "t" }), { startImmediately: true })
        yield* Effect.provide(
          Effect.flatMap(top.build(), (other) => other.cancel("t", { child: "t#0/0.0" })),
          process()
        )
        yield* TestClock.adjust("1 second")

        assert.deepStrictEqual((yield* Fiber.join(running)).status, { _tag: "Completed", answer: "done" })
        assert.deepStrictEqual(yield* lastOutputs, [cancelled])
      }).pipe(Effect.provide(process()))
    }).pipe(Effect.scoped)
  })
})

describe("interrupting a call whose run is starting", () => {
  const slowly = (operation: string) =>
    Trees.around(
      MemoryRunStore.make(),
      (name, done) => name === operation ? Effect.tap(done, () => Effect.sleep("1 second")) : done
    )
  const interrupted = <A, E>(call: Effect.Effect<A, E>) =>
    Effect.gen(function*() {
      const running = yield* Effect.forkChild(call, { startImmediately: true })
      yield* TestClock.adjust("500 millis")
      const interrupting = yield* Effect.forkChild(Fiber.interrupt(running), { startImmediately: true })
      yield* TestClock.adjust("1 minute")
      yield* Fiber.join(interrupting)
      return yield* Fiber.await(running)
    })

  it.effect("cancels the run that it starts", () =>
    Effect.gen(function*() {
      const agent = yield* AgentBuilder.make("top").build()
      const exit = yield* interrupted(agent.run("Go", { threadId: "t" }))

      assert.isTrue(Exit.hasInterrupts(exit))
      assert.deepStrictEqual(yield* Trees.ends("t"), { "t#0": "Cancelled" })
    }).pipe(Effect.provide(Trees.runtime({ top: Script.optional([Step.hang()]) }, slowly("open")))))

  it.effect("cancels the run that it resumes", () =>
    Effect.gen(function*() {
      const agent = yield* AgentBuilder.make("top").withTools(Toolkit.make(Waiting.gated("pay", {})), {
        pay: () => Effect.never
      }).build()
      yield* agent.run("Go", { threadId: "t" })
      const exit = yield* interrupted(agent.resume("t", [Answer.approve("0.0:approval0")]))

      assert.isTrue(Exit.hasInterrupts(exit))
      assert.deepStrictEqual(yield* Trees.ends("t"), { "t#0": "Cancelled" })
    }).pipe(Effect.provide(Trees.runtime({ top: [Step.calls(Step.call("pay"))] }, slowly("answer")))))

  const mended: Script.Scripts = { top: Script.optional([Step.again(Step.fail("authentication"), Step.hang())]) }
  for (const operation of ["lease", "reopen"]) {
    it.effect(`cancels the run that it recovers, at ${operation}`, () =>
      Effect.gen(function*() {
        const agent = yield* AgentBuilder.make("top").build()
        yield* Effect.flip(agent.run("Go", { threadId: "t" }))
        const exit = yield* interrupted(agent.recover("t"))

        assert.isTrue(Exit.hasInterrupts(exit))
        assert.deepStrictEqual(yield* Trees.ends("t"), { "t#0": "Cancelled" })
      }).pipe(Effect.provide(Trees.runtime(mended, slowly(operation)))))

    it.effect(`leaves a run that a sweep took to be driven on, at ${operation}`, () => {
      const store = slowly(operation)
      return Effect.gen(function*() {
        const model = yield* ScriptedModel.make({ top: [Step.delay("1 second", Step.text("done"))] })
        const inProcess = <A, E>(effect: Effect.Effect<A, E, Mandate.Mandate | ModelRegistry.ModelRegistry>) =>
          Effect.provide(effect, Trees.runtimeOf(Models.layerOf(model), store))
        yield* inProcess(
          Effect.flatMap(
            AgentBuilder.make("top").build(),
            (agent) => Effect.andThen(agent.start("Go", { threadId: "t" }), TestClock.adjust(1))
          )
        )
        yield* inProcess(Effect.gen(function*() {
          const agent = yield* AgentBuilder.make("top").build()
          const sweep = Effect.provideService(Sweep.run(), Mandate.Mandate, yield* Mandate.Mandate)
          const exit = yield* interrupted(sweep)

          assert.isTrue(Exit.hasInterrupts(exit))
          assert.deepStrictEqual((yield* agent.status("t")).status, { _tag: "Completed", answer: "done" })
        }))
      }).pipe(Effect.scoped)
    })
  }

  it.effect("ends the wait for a run that another drives", () => {
    const store = MemoryRunStore.make()
    return Effect.gen(function*() {
      const agent = yield* AgentBuilder.make("top").build()
      const handle = yield* agent.start("Go", { threadId: "t" })
      const recovering = yield* Effect.forkChild(agent.recover("t"), { startImmediately: true })
      yield* TestClock.adjust("1 second")
      yield* Fiber.interrupt(recovering)
      yield* TestClock.adjust("9 seconds")

      assert.deepStrictEqual((yield* handle.await).status, { _tag: "Completed", answer: "done" })
    }).pipe(Effect.provide(Trees.runtime({ top: [Step.delay("10 seconds", Step.text("done"))] }, store)))
  })
})
