import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, DelegateRuntime, ResultCache, ToolCatalog } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Fiber, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { TestClock } from "effect/testing"
import { backings } from "../support/Backings.ts"
import * as PostureLives from "../support/PostureLives.ts"
import * as Postures from "../support/Postures.ts"
import * as Sessions from "../support/Sessions.ts"
import * as Trees from "../support/Trees.ts"

type Request = Parameters<typeof DelegateRuntime.run>[0]

const { posture } = Postures

const call = (more: Partial<Request> = {}) => DelegateRuntime.run({ posture: "scout", task: "Look", ...more })
const statuses = (results: ReadonlyArray<{ readonly status: string }>) => results.map(({ status }) => status)
const calls = Effect.flatMap(ScriptedModel.ScriptedModel, (model) => model.calls)
const seen = Script.each([Step.text("seen")])
const slowly = (...runs: ReadonlyArray<ReadonlyArray<Step.Step>>) => Script.runs(...runs)

/** Two equal calls, the second one a second after the first, and what both came to a minute later. */
const together = (more: Partial<Request> = {}) =>
  Effect.gen(function*() {
    const first = yield* Effect.forkChild(call(more), { startImmediately: true })
    yield* TestClock.adjust("1 second")
    const second = yield* Effect.forkChild(call(more), { startImmediately: true })
    return { first, second }
  })

describe("results of postures", () => {
  it.effect("P5 are of the tools that the call resolved to, as the catalog was then", () =>
    Effect.gen(function*() {
      const extra = Toolkit.make(Tool.make("extra", { success: Schema.String }))
      const before = yield* call()
      const during = yield* Effect.provide(
        call(),
        ToolCatalog.layerTools(extra, { extra: () => Effect.succeed("more") })
      )
      const after = yield* call()

      assert.deepStrictEqual(statuses([before, during, after]), ["success", "success", "cache_hit"])
    }).pipe(Effect.provide(Postures.runtime([posture("scout")], { scout: seen }))))

  it.effect("P5 are decoded by the report schema of now, and are a miss where they do not decode", () => {
    const runtime = (schema: Schema.Codec<unknown, unknown>) =>
      Postures.runtime([posture("scout", { report: "answer" })], {
        scout: Script.optional(Script.each([Step.report({ at: "2026-01-02T00:00:00.000Z", n: 1 })]))
      }, { schemas: { answer: schema } })
    return Effect.gen(function*() {
      const text = yield* Effect.provide(call(), runtime(Schema.Struct({ at: Schema.String }) as never))
      const date = yield* Effect.provide(call(), runtime(Schema.Struct({ at: Schema.Date, n: Schema.Int }) as never))
      const again = yield* Effect.provide(call(), runtime(Schema.Struct({ at: Schema.Date, n: Schema.Int }) as never))

      assert.deepInclude(text, { status: "success", result: { at: "2026-01-02T00:00:00.000Z" } })
      assert.deepInclude(date, { status: "success", result: { at: new Date("2026-01-02"), n: 1 } })
      assert.deepInclude(again, { status: "cache_hit", result: { at: new Date("2026-01-02"), n: 1 } })
    }).pipe(Effect.provide(ResultCache.layerMemory()))
  })

  const followers: ReadonlyArray<
    readonly [
      string,
      Script.Script,
      Effect.Effect<void, unknown, DelegateRuntime.DelegateRuntime>,
      readonly [string, string]
    ]
  > = [
    ["is done", slowly([Step.delay("5 seconds", Step.text("seen"))]), Effect.void, ["success", "cache_hit"]],
    [
      "fails",
      slowly([Step.delay("5 seconds", Step.fail("authentication"))], [Step.text("seen")]),
      Effect.void,
      ["error", "success"]
    ],
    [
      "waits for a person",
      Script.each([Step.delay("5 seconds", Step.calls(Step.call("pay", { euros: 1 })))]),
      Effect.void,
      ["suspended", "suspended"]
    ],
    [
      "is cancelled",
      slowly([Step.hang()], [Step.text("seen")]),
      DelegateRuntime.cancel("thread-1"),
      ["cancelled", "success"]
    ]
  ]

  it.effect.each(followers)("P5 are waited for by an equal call, which works itself unless the first %s", (
    [name, script, then, ends]
  ) =>
    Effect.gen(function*() {
      const { first, second } = yield* together()
      const before = yield* calls
      yield* then
      yield* TestClock.adjust("1 minute")
      const [a, b] = yield* Effect.all([Fiber.join(first), Fiber.join(second)])

      assert.strictEqual(before, 1)
      assert.deepStrictEqual(statuses([a, b]), [...ends])
      assert.notStrictEqual(a.subSessionId, b.subSessionId)
      assert.strictEqual(yield* calls, name === "is done" ? 1 : 2)
      if (b.status === "cache_hit") assert.strictEqual(b.elapsed, 4000)
    }).pipe(Effect.provide(Postures.runtime([posture("scout")], { scout: script }))))

  it.effect("P5 are worked for by an equal call when the one that it waits for is interrupted", () =>
    Effect.gen(function*() {
      const { first, second } = yield* together()
      yield* Fiber.interrupt(first)
      yield* TestClock.adjust("1 minute")

      assert.strictEqual((yield* Fiber.join(second)).status, "success")
    }).pipe(Effect.provide(
      Postures.runtime([posture("scout")], { scout: slowly([Step.hang()], [Step.text("seen")]) })
    )))

  it.effect("P5 are neither kept nor shared without a cache", () =>
    Effect.gen(function*() {
      const { first, second } = yield* together()
      yield* TestClock.adjust("1 minute")
      const results = [yield* Fiber.join(first), yield* Fiber.join(second)]
      const third = yield* Effect.forkChild(call(), { startImmediately: true })
      yield* TestClock.adjust("1 minute")

      assert.deepStrictEqual(statuses([...results, yield* Fiber.join(third)]), ["success", "success", "success"])
      assert.strictEqual(yield* calls, 3)
    }).pipe(Effect.provide(Postures.runtime([posture("scout")], {
      scout: Script.each([Step.delay("5 seconds", Step.text("seen"))])
    }, { cache: false }))))

  it.effect("P5 are kept for the 256 calls that were used last", () =>
    Effect.gen(function*() {
      const numbers = Array.from({ length: 256 }, (_, index) => index)
      yield* Effect.forEach(numbers, (n) => call({ context: n }))
      const first = yield* call({ context: 0 })
      yield* call({ context: 256 })
      const results = yield* Effect.forEach([0, 2, 1], (n) => call({ context: n }))

      assert.deepStrictEqual(statuses([first, ...results]), ["cache_hit", "cache_hit", "cache_hit", "success"])
      assert.strictEqual(yield* calls, 258)
    }).pipe(Effect.provide(Postures.runtime([posture("scout")], { scout: seen }))))

  it.effect("P5 are for calls that are valid alone: depth and overrides are looked at before", () =>
    Effect.gen(function*() {
      yield* call()
      const deep = yield* Effect.flip(call({ parentDepth: 3 }))
      const zero = yield* Effect.flip(call({ overrides: { maxTokens: 0 } }))

      assert.deepStrictEqual([deep, zero].map((error) => error._tag === "DelegateError" && error.reason._tag), [
        "RecursionLimit",
        "InvalidRequest"
      ])
    }).pipe(Effect.provide(Postures.runtime([posture("scout")], { scout: seen }))))

  it.effect("P5 that are partial are for calls from code with the same budget", () => {
    const budget = { maxTokens: 10 }
    return Effect.gen(function*() {
      const results = [
        yield* call({ overrides: budget }),
        yield* call({ overrides: budget }),
        yield* call({ overrides: { maxTokens: 11 } })
      ]
      const before = yield* calls
      yield* Effect.flatMap(
        AgentBuilder.make("lead").withPostures().build(),
        (lead) => lead.run("Go", { threadId: "t" })
      )

      assert.deepStrictEqual(statuses(results), ["partial", "cache_hit", "partial"])
      assert.deepInclude(results[1], {
        result: "Half of it",
        tokensUsed: 0,
        error: { _tag: "BudgetExceeded", limit: "tokens" }
      })
      assert.deepStrictEqual([before, yield* calls], [2, 5])
      const [, after] = yield* Effect.flatMap(ScriptedModel.ScriptedModel, (model) => model.requestsOf("lead"))
      assert.deepStrictEqual(Trees.reasons(after!.request), ["BudgetExceeded"])
    }).pipe(Effect.provide(Postures.runtime([posture("scout")], {
      lead: [Step.calls(Step.call("delegate", { posture: "scout", task: "Look", ...budget })), Step.text("done")],
      scout: Script.each([Step.calls("Half of it", Step.call("read"))])
    })))
  })

  it.effect("P5 are not of an answer that crossed a model's limit: it is read, and kept for nobody", () =>
    Effect.gen(function*() {
      const agent = yield* AgentBuilder.make("lead").withPostures().build()
      yield* agent.run("Go", { threadId: "t" })

      const [, after] = yield* Effect.flatMap(ScriptedModel.ScriptedModel, (model) => model.requestsOf("lead"))
      assert.deepStrictEqual(Trees.outputs(after!.request), [{ report: "seen" }])
      assert.deepStrictEqual(Sessions.ends(yield* Trees.durableEvents("t")), ["partial"])
      assert.strictEqual((yield* call()).status, "success")
    }).pipe(Effect.provide(Postures.runtime([posture("scout")], {
      lead: [Step.calls(Step.delegate({ posture: "scout", task: "Look", maxTokens: 10 })), Step.text("done")],
      scout: seen
    }))))

  it.effect("P5 that are larger than the caller may read are its error, and are found all the same", () =>
    Effect.gen(function*() {
      yield* call()
      const agent = yield* AgentBuilder.make("lead").withPostures().withSubagents([], { maxReportBytes: 512 }).build()
      yield* agent.run("Go", { threadId: "t" })

      const [, after] = yield* Effect.flatMap(ScriptedModel.ScriptedModel, (model) => model.requestsOf("lead"))
      assert.deepStrictEqual(Trees.reasons(after!.request), ["ReportTooLarge"])
      assert.strictEqual(yield* calls, 3)
      assert.deepStrictEqual(Sessions.ends(yield* Trees.durableEvents("t")), ["cache_hit"])
    }).pipe(Effect.provide(Postures.runtime([posture("scout")], {
      lead: [Step.calls(Step.call("delegate", { posture: "scout", task: "Look" })), Step.text("done")],
      scout: [Step.text("x".repeat(1000))]
    }))))
})

describe.each(backings)("a result that is used again, in $name", ({ make }) => {
  it.effect("P5 is committed with its pair in one write, and has no row", () =>
    Effect.gen(function*() {
      const writes: Array<ReadonlyArray<string>> = []
      const recorded = Sessions.recording(yield* make)
      const store = Trees.around(recorded.store, (_, done) =>
        Effect.suspend(() => {
          const before = recorded.committed.length
          return Effect.tap(done, () =>
            Effect.sync(() => {
              const told = recorded.committed.slice(before).map(({ _tag }) => _tag)
              if (told.length > 0) writes.push(told)
            }))
        }))
      const delegate = Step.call("delegate", { posture: "scout", task: "Look" })
      const model = yield* ScriptedModel.make({
        lead: [Step.calls(delegate), Step.calls(delegate), Step.text("done")],
        scout: [Step.text("seen")]
      })
      yield* Effect.flatMap(PostureLives.lead.build(), (agent) => agent.run("Go", { threadId: "t" })).pipe(
        Effect.provide(PostureLives.process(store, "process", model, [posture("scout")]))
      )

      assert.deepStrictEqual(writes.slice(-3), [
        ["ModelCallCompleted"],
        ["DelegateStart", "DelegateComplete"],
        ["ModelCallCompleted", "RunSettled"]
      ])
      assert.deepStrictEqual(Sessions.ends(recorded.committed), ["success", "cache_hit"])
      assert.deepStrictEqual((yield* store.children("t#0")).map(({ runId }) => runId), ["t#0/0.0#0"])
    }))
})
