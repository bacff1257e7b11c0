import { assert, describe, it } from "@effect/vitest"
import {
  AgentBuilder,
  Answer,
  DelegateError,
  DelegateRuntime,
  MemoryRunStore,
  PromiseRuntime,
  type RunStore
} from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Latch, Layer } from "effect"
import * as PostureLives from "../support/PostureLives.ts"
import * as Postures from "../support/Postures.ts"
import * as Sessions from "../support/Sessions.ts"

const { posture } = Postures

/** Runtimes for code without Effect on one store, each with a model of its own; `started` tells of the first run. */
const runtimes = () => {
  const recorded = Sessions.recording(MemoryRunStore.make())
  const started = Effect.runSync(Latch.make())
  const store: RunStore.RunStore["Service"] = {
    ...recorded.store,
    open: (run, lease, events) => Effect.tap(recorded.store.open(run, lease, events), () => started.open)
  }
  return {
    committed: recorded.committed,
    started: Effect.runPromise(started.await),
    list: () => Effect.runPromise(store.list({ after: "", limit: 10 })),
    next: (instance: string, scripts: Script.Scripts = {}) =>
      PromiseRuntime.make(Layer.unwrap(Effect.map(
        ScriptedModel.make(scripts),
        (model) => PostureLives.process(store, instance, model, [posture("payer"), posture("slow")])
      )))
  }
}

const rejection = (promise: Promise<unknown>): Promise<unknown> =>
  promise.then(() => assert.fail("it did not reject"), (error: unknown) => error)

describe("a runtime of promises with postures", () => {
  it("runs them for code and for the models of agents, and takes answers for those that wait", async () => {
    const { committed, next } = runtimes()
    await using runtime = next("process", {
      lead: [Step.calls(Step.call("delegate", { posture: "payer", task: "Pay again" })), Step.text("led")],
      payer: Script.each([Step.calls(Step.call("pay", { euros: 1 })), Step.text("paid")])
    })
    const first = await runtime.run(DelegateRuntime.run({ posture: "payer", task: "Pay" }))
    const answers = first.status === "suspended" ? first.pending.map(({ id }) => Answer.approve(id)) : []
    const last = await runtime.run(DelegateRuntime.resume(first.subSessionId, answers))
    const agent = await runtime.build(AgentBuilder.make("lead").withPostures())
    await agent.run("Go", { threadId: "t" })
    const led = await agent.resume("t", [Answer.approve("0.0:child~0.0:approval0")])

    assert.strictEqual(first.status, "suspended")
    assert.deepInclude(last, { status: "success", result: "paid", subSessionId: first.subSessionId })
    assert.deepStrictEqual(led.status, { _tag: "Completed", answer: "led" })
    assert.deepStrictEqual(Sessions.ends(committed), ["success", "success"])
  })

  it("rejects with why a call is refused", async () => {
    const { next } = runtimes()
    await using runtime = next("process")
    const error = await rejection(runtime.run(DelegateRuntime.run({ posture: "nobody", task: "Pay" })))

    assert.instanceOf(error, DelegateError.DelegateError)
    assert.deepStrictEqual(error.reason, { _tag: "UnknownPosture", posture: "nobody", known: ["payer", "slow"] })
  })

  it("cancels a call with its signal", async () => {
    const { committed, list, next, started } = runtimes()
    await using runtime = next("process", { slow: [Step.hang()] })
    const controller = new AbortController()
    const waiting = rejection(
      runtime.run(DelegateRuntime.run({ posture: "slow", task: "Wait" }), { signal: controller.signal })
    )
    await started
    controller.abort("enough")

    assert.strictEqual(await waiting, "enough")
    assert.deepStrictEqual(Sessions.ends(committed), ["cancelled"])
    assert.deepStrictEqual(await list(), [])
  })

  it("leaves a call's run open where it closes, for the next one to recover", async () => {
    const { committed, list, next, started } = runtimes()
    const first = next("first", { slow: [Step.hang()] })
    const waiting = rejection(first.run(DelegateRuntime.run({ posture: "slow", task: "Wait" })))
    await started
    await first.close()
    await waiting
    const [open] = await list()
    await using second = next("second", { slow: [Step.text("waited")] })
    const last = await second.run(DelegateRuntime.recover(open!.threadId))

    assert.deepInclude(last, { status: "success", result: "waited", subSessionId: open!.threadId })
    assert.deepStrictEqual(Sessions.ends(committed), ["success"])
  })
})
