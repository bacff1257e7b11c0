import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, DelegateRuntime, PostureRegistry, ResultCache } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Fiber, Layer, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { TestClock } from "effect/testing"
import * as Postures from "../support/Postures.ts"
import * as Trees from "../support/Trees.ts"

const { posture } = Postures

const calls = Effect.flatMap(ScriptedModel.ScriptedModel, (model) => model.calls)
const run = (request: Partial<Parameters<typeof DelegateRuntime.run>[0]> = {}) =>
  DelegateRuntime.run({ posture: "scout", task: "Look", ...request })

describe("results of equal calls", () => {
  it.effect("are used again, under a sub-session of their own, without a model call", () =>
    Effect.gen(function*() {
      const first = yield* run({ context: { a: { x: 1, y: [2, 1] }, b: 2 } })
      const second = yield* run({ context: { b: 2, a: { y: [2, 1], x: 1 } } })
      const other = yield* run({ context: { a: { x: 1, y: [1, 2] }, b: 2 } })

      assert.deepStrictEqual([first.status, second.status, other.status], ["success", "cache_hit", "success"])
      assert.deepInclude(second, { result: "seen", tokensUsed: 0, toolCallsUsed: 0, elapsed: 0 })
      assert.notStrictEqual(second.subSessionId, first.subSessionId)
      assert.strictEqual(yield* calls, 2)
    }).pipe(Effect.provide(Postures.runtime([posture("scout")], { scout: Script.each([Step.text("seen")]) }))))

  it.effect("are not used after the posture changed, nor of a partial one with another budget", () =>
    Effect.gen(function*() {
      const registry = yield* PostureRegistry.PostureRegistry
      const statuses = [
        (yield* run()).status,
        (yield* run({ overrides: { maxTokens: 10 } })).status,
        (yield* run({ task: "More", overrides: { maxTokens: 10 } })).status,
        (yield* run({ task: "More", overrides: { maxTokens: 10 } })).status,
        (yield* run({ task: "More", overrides: { maxTokens: 100 } })).status
      ]
      yield* registry.put(posture("scout", { instructions: "You do scout!" }))

      assert.deepStrictEqual([...statuses, (yield* run()).status], [
        "success",
        "cache_hit",
        "partial",
        "cache_hit",
        "success",
        "success"
      ])
    }).pipe(Effect.provide(Postures.runtime([posture("scout")], { scout: Script.each([Step.text("seen")]) }))))

  it.effect("are found by a call that was still looking when they were kept", () => {
    // The second call's look-ups see what was there when they began, and tell it after the first call has ended.
    const memory = ResultCache.memory()
    let lookUps = 0
    const get: typeof memory.get = (key) =>
      Effect.suspend(() => {
        const isLate = ++lookUps === 3 || lookUps === 4
        return isLate ? Effect.tap(memory.get(key), () => Effect.sleep("3 seconds")) : memory.get(key)
      })
    return Effect.gen(function*() {
      const first = yield* Effect.forkChild(run(), { startImmediately: true })
      yield* TestClock.adjust("1 second")
      const second = yield* Effect.forkChild(run(), { startImmediately: true })
      yield* TestClock.adjust("1 minute")

      assert.deepStrictEqual([(yield* Fiber.join(first)).status, (yield* Fiber.join(second)).status], [
        "success",
        "cache_hit"
      ])
      assert.strictEqual(yield* calls, 1)
    }).pipe(Effect.provide(Layer.provide(
      Postures.runtime([posture("scout")], { scout: Script.each([Step.delay("5 seconds", Step.text("seen"))]) }),
      Layer.succeed(ResultCache.ResultCache, { ...memory, get })
    )))
  })

  it.effect("are not waited for by a model where they may be partial: no half of one gets to it", () => {
    const limits = { maxTokens: 10 }
    return Effect.gen(function*() {
      const lead = yield* AgentBuilder.make("lead").withPostures().build()
      const code = yield* Effect.forkChild(run({ overrides: limits }), { startImmediately: true })
      const led = yield* Effect.forkChild(lead.run("Go"), { startImmediately: true })
      yield* TestClock.adjust("10 seconds")

      assert.deepInclude(yield* Fiber.join(code), { status: "partial", result: "Half of it" })
      assert.strictEqual((yield* Fiber.join(led)).status._tag, "Completed")
      const model = yield* ScriptedModel.ScriptedModel
      const [, heard] = yield* model.requestsOf("lead")
      assert.deepStrictEqual(Trees.reasons(heard!.request), ["BudgetExceeded"])
      assert.lengthOf(yield* model.requestsOf("scout"), 2)
    }).pipe(Effect.provide(Postures.runtime([posture("scout")], {
      lead: [Step.calls(Step.call("delegate", { posture: "scout", task: "Look", ...limits })), Step.text("done")],
      scout: Script.each([Step.delay("5 seconds", Step.calls("Half of it", Step.call("read")))])
    })))
  })

  it.effect("are of one tenant, whoever calls: code, a handler, a model", () => {
    const ask = Toolkit.make(Tool.make("ask", { success: Schema.String }))
    return Effect.gen(function*() {
      const lead = yield* AgentBuilder.make("lead").withPostures().withTools(ask, {
        // What the handler says is not its to say.
        ask: () => Effect.map(Effect.orDie(run({ tenant: "globex" })), ({ status }) => status)
      }).build()
      const statuses = [
        (yield* run()).status,
        (yield* run({ tenant: "acme" })).status,
        (yield* run({ tenant: "acme" })).status,
        (yield* run()).status
      ]
      for (const tenant of ["acme", "initech"]) yield* lead.run("Go", { tenant })
      yield* lead.run("Go")

      assert.deepStrictEqual(statuses, ["success", "success", "cache_hit", "cache_hit"])
      const model = yield* ScriptedModel.ScriptedModel
      const heard = (yield* model.requestsOf("lead")).filter(({ call }) => call.step === 2)
      assert.deepStrictEqual(heard.flatMap(({ request }) => Trees.outputs(request)), Array(3).fill("cache_hit"))
      // One for each of: nobody, acme, initech.
      assert.lengthOf(yield* model.requestsOf("scout"), 3)
    }).pipe(Effect.provide(Postures.runtime([posture("scout")], {
      lead: Script.each([
        Step.calls(Step.call("delegate", { posture: "scout", task: "Look" })),
        Step.calls(Step.call("ask")),
        Step.text("done")
      ]),
      scout: Script.each([Step.text("seen")])
    })))
  })

  it.effect("are shared by equal calls at the same time, and by the calls of a model", () =>
    Effect.gen(function*() {
      const lead = yield* AgentBuilder.make("lead").withPostures().build()
      yield* Effect.forkChild(lead.run("Go", { threadId: "t" }), { startImmediately: true })
      yield* TestClock.adjust("2 seconds")

      const [, second] = yield* Effect.flatMap(ScriptedModel.ScriptedModel, (model) => model.requestsOf("lead"))
      assert.deepStrictEqual(Trees.outputs(second!.request), [{ report: "seen" }, { report: "seen" }])
      const events = yield* Trees.durableEvents("t")
      assert.deepStrictEqual(Trees.tagged(events, "DelegateComplete").map(({ status }) => status), [
        "success",
        "cache_hit"
      ])
      assert.lengthOf(Trees.tagged(events, "DelegateStart"), 2)
      assert.strictEqual(yield* calls, 3)
    }).pipe(Effect.provide(Postures.runtime([posture("scout")], {
      lead: [
        Step.calls(...[1, 2].map(() => Step.call("delegate", { posture: "scout", task: "Look" }))),
        Step.text("done")
      ],
      scout: Script.each([Step.delay("1 second", Step.text("seen"))])
    }))))

  it.effect("are not waited for inside of the call that has the slot which the equal one waits for", () =>
    Effect.gen(function*() {
      const lead = yield* AgentBuilder.make("lead")
        .withPostures()
        .withSubagents([], { maxDepth: 2, maxConcurrentChildren: 1 })
        .build()
      const running = yield* Effect.forkChild(lead.run("Go", { threadId: "t" }), { startImmediately: true })
      yield* TestClock.adjust("2 seconds")

      assert.strictEqual((yield* Fiber.join(running)).status._tag, "Completed")
      const events = yield* Trees.durableEvents("t")
      assert.deepStrictEqual(Trees.tagged(events, "DelegateComplete").map(({ posture, status }) => [posture, status]), [
        ["scout", "success"],
        ["guide", "success"],
        ["scout", "success"]
      ])
    }).pipe(Effect.provide(Postures.runtime([posture("guide", { allowedTools: ["delegate"] }), posture("scout")], {
      lead: [
        Step.calls(...["guide", "scout"].map((name) => Step.call("delegate", { posture: name, task: "Look" }))),
        Step.text("done")
      ],
      guide: [
        Step.delay("1 second", Step.calls(Step.call("delegate", { posture: "scout", task: "Look" }))),
        Step.text("led")
      ],
      scout: Script.each([Step.text("seen")])
    }))))
})

// What an application's own cache may give, whatever its types say.
const given: ReadonlyArray<readonly [string, () => unknown]> = [
  ["gives a text that is no JSON", () => Effect.succeedSome({ format: 1, status: "success", result: "s3cr3t" })],
  ["gives an entry of another form", () => Effect.succeedSome({ format: 2, status: "success", result: "\"seen\"" })],
  ["gives an entry that is none", () => Effect.succeedSome(null)],
  ["gives nothing that it could", () => Effect.succeed(undefined)],
  ["gives a result of another kind", () => Effect.succeedSome({ format: 1, status: "success", result: "5" })],
  [
    "gives a partial result for a whole one",
    () =>
      Effect.succeedSome({
        format: 1,
        status: "partial",
        result: "\"half\"",
        error: { _tag: "BudgetExceeded", limit: "tokens" }
      })
  ],
  ["dies", () => Effect.die("gone")],
  ["interrupts itself", () => Effect.interrupt],
  ["never answers", () => Effect.never],
  ["never answers, whoever interrupts it", () => Effect.uninterruptible(Effect.never)],
  ["throws", () => {
    throw new Error("gone")
  }]
]

describe("a cache of the application's own", () => {
  it.effect.each(given)("fails no call where it %s", ([, give]) =>
    Effect.gen(function*() {
      const agent = yield* AgentBuilder.make("lead").withPostures().build()
      const running = yield* Effect.forkChild(agent.run("Go"), { startImmediately: true })
      yield* TestClock.adjust("1 minute")
      assert.isDefined(running.pollUnsafe())
      const result = yield* Fiber.join(running)

      const [, second] = yield* Effect.flatMap(ScriptedModel.ScriptedModel, (model) => model.requestsOf("lead"))
      assert.deepStrictEqual(Trees.outputs(second!.request), [{ report: "seen" }])
      assert.strictEqual(result.status._tag, "Completed")
    }).pipe(Effect.provide(Layer.provide(
      Postures.runtime([posture("scout")], {
        scout: Script.each([Step.text("seen")]),
        lead: [Step.calls(Step.call("delegate", { posture: "scout", task: "Look" })), Step.text("done")]
      }),
      Layer.succeed(ResultCache.ResultCache, {
        get: give as never,
        set: give as never,
        remove: () => Effect.void,
        clear: Effect.void
      })
    ))))
})
