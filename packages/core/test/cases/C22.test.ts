import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, DelegateRuntime, type Json, MemoryRunStore, PostureRegistry } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as Postures from "../support/Postures.ts"
import * as Sessions from "../support/Sessions.ts"
import * as Trees from "../support/Trees.ts"

const { posture } = Postures

type Request = Parameters<typeof DelegateRuntime.run>[0]

const context = { a: { x: 1, y: [2, 1] }, b: 2 }
const reversed = { b: 2, a: { y: [2, 1], x: 1 } }
const other = { a: { x: 1, y: [1, 2] }, b: 2 }

const scout = posture("scout", { allowedTools: ["read", "write"] })

// Reads once, and then says how often this agent was asked for an answer.
const counting = (): Script.Script => {
  let answers = 0
  return Script.program((_, { step }) => step === 0 ? Step.calls(Step.call("read")) : Step.text(`answer ${++answers}`))
}

/** What two calls, with something done between them, come to. */
const pair = (between: Effect.Effect<unknown, unknown, PostureRegistry.PostureRegistry>, second: Partial<Request>) => {
  const ran: Array<string> = []
  const recorded = Sessions.recording(MemoryRunStore.make())
  const call = (more: Partial<Request>) => DelegateRuntime.run({ posture: "scout", task: "Look", context, ...more })
  return Effect.gen(function*() {
    const first = yield* call({})
    yield* between
    const { events, value } = yield* Sessions.watched(call(second))
    const { calls } = yield* ScriptedModel.ScriptedModel
    return { first, second: value, calls: yield* calls, ran, events, committed: recorded.committed }
  }).pipe(Effect.provide(Postures.runtime([scout], { scout: counting() }, { ran, store: recorded.store })))
}

const put = (more: Partial<typeof scout>) =>
  Effect.flatMap(PostureRegistry.PostureRegistry, (registry) => registry.put({ ...scout, ...more }))

const hits: ReadonlyArray<readonly [string, Effect.Effect<unknown, unknown, PostureRegistry.PostureRegistry>, object]> =
  [
    ["the same context", Effect.void, {}],
    ["every object's keys reversed", Effect.void, { context: reversed }],
    ["the allowed tools in another order, one of them twice", put({ allowedTools: ["write", "read", "write"] }), {}],
    ["another turn and another depth", Effect.void, { parentTurn: "turn-2", parentDepth: 1 }],
    ["another budget that the result would fit as well", Effect.void, { overrides: { maxTokens: 1000 } }]
  ]

const misses: typeof hits = [
  ["an array in another order", Effect.void, { context: other }],
  ["another task", Effect.void, { task: "Look again" }],
  ["a task with one more blank", Effect.void, { task: "Look " }],
  ["no context", Effect.void, { context: undefined }],
  ["a number as text", Effect.void, { context: { ...context, b: "2" } }],
  ["one tool less", put({ allowedTools: ["read"] }), {}],
  ["instructions with one more blank", put({ instructions: `${scout.instructions} ` }), {}],
  ["another model", put({ model: "other" }), {}]
]

describe("C22 Equal calls of postures", () => {
  it.effect.each(hits)("C22 %s is a hit: no model call, no tool call, nothing used, another sub-session", (
    [, between, more]
  ) =>
    Effect.gen(function*() {
      const { calls, events, first, ran, second } = yield* pair(between, more)

      assert.deepInclude(first, { status: "success", result: "answer 1", tokensUsed: 30, toolCallsUsed: 1 })
      assert.deepInclude(second, {
        status: "cache_hit",
        result: "answer 1",
        tokensUsed: 0,
        toolCallsUsed: 0,
        elapsed: 0,
        postureName: "scout",
        postureVersion: first.postureVersion
      })
      assert.notStrictEqual(second.subSessionId, first.subSessionId)
      assert.deepStrictEqual([calls, ran.length], [2, 1])
      assert.deepStrictEqual(Sessions.ends(events), ["cache_hit"])
      assert.deepStrictEqual(
        events.map((event) => "sequence" in event ? [event._tag, event.sequence] : [event._tag]),
        [["DelegateStart", 0], ["DelegateComplete", 0]]
      )
    }))

  it.effect.each(misses)("C22 %s is a miss", ([, between, more]) =>
    Effect.gen(function*() {
      const { calls, committed, first, ran, second } = yield* pair(between, more)

      assert.deepStrictEqual([first.status, second.status], ["success", "success"])
      assert.deepInclude(second, { result: "answer 2", tokensUsed: 30, toolCallsUsed: 1 })
      assert.deepStrictEqual([calls, ran.length], [4, 2])
      assert.deepStrictEqual(Sessions.ends(committed), ["success", "success"])
    }))

  it.effect("C22 a model's equal calls are hits too, whatever the order of keys it writes", () => {
    const ran: Array<string> = []
    const call = (context: Json.Json) => Step.call("delegate", { posture: "scout", task: "Look", context })
    return Effect.gen(function*() {
      const agent = yield* AgentBuilder.make("lead").withPostures().build()
      const { usage } = yield* agent.run("Go", { threadId: "t" })

      const [, ...after] = yield* Effect.flatMap(ScriptedModel.ScriptedModel, (model) => model.requestsOf("lead"))
      assert.deepStrictEqual(after.map(({ request }) => Trees.outputs(request)), [
        [{ report: "answer 1" }],
        [{ report: "answer 1" }],
        [{ report: "answer 2" }]
      ])
      assert.lengthOf(ran, 2)
      const events = yield* Trees.durableEvents("t")
      assert.deepStrictEqual(Sessions.ends(events), ["success", "cache_hit", "success"])
      assert.deepStrictEqual(
        Trees.tagged(events, "DelegateComplete").map(({ tokensUsed, toolCallsUsed }) => [tokensUsed, toolCallsUsed]),
        [[30, 1], [0, 0], [30, 1]]
      )
      assert.deepStrictEqual([usage.own.modelCalls, usage.tree.modelCalls], [4, 8])
    }).pipe(Effect.provide(Postures.runtime([scout], {
      lead: [Step.calls(call(context)), Step.calls(call(reversed)), Step.calls(call(other)), Step.text("done")],
      scout: counting()
    }, { ran })))
  })

  it.effect("C22 errors, timeouts and cancelled runs are never stored", () => {
    const call = (name: string) => DelegateRuntime.run({ posture: name, task: "Look" })
    return Effect.gen(function*() {
      const interrupted = yield* Effect.forkChild(call("hanging"), { startImmediately: true })
      yield* Fiber.interrupt(interrupted)
      const cancelled = yield* Effect.forkChild(call("hanging"), { startImmediately: true })
      yield* DelegateRuntime.cancel("thread-2")
      const first = {
        broken: yield* call("broken"),
        blocked: yield* call("blocked"),
        stepless: yield* call("stepless"),
        hanging: yield* Fiber.join(cancelled)
      }
      const slow = yield* Effect.forkChild(call("slow"), { startImmediately: true })
      yield* TestClock.adjust("5 seconds")
      const second = yield* Effect.forEach(["broken", "blocked", "stepless", "hanging", "slow"], call)

      assert.deepStrictEqual(
        [...Object.values(first), yield* Fiber.join(slow)].map(({ status }) => status),
        ["error", "error", "error", "cancelled", "timeout"]
      )
      assert.deepStrictEqual(second.map(({ status }) => status), Array(5).fill("success"))
    }).pipe(Effect.provide(Postures.runtime([
      posture("broken"),
      posture("blocked"),
      posture("stepless", { maxSteps: 1 }),
      posture("hanging"),
      posture("slow", { budget: { timeout: "5 seconds" } })
    ], {
      broken: Script.runs([Step.fail("authentication")], [Step.text("fine")]),
      blocked: Script.runs([Step.contentFilter("no")], [Step.text("fine")]),
      stepless: Script.runs([Step.calls(Step.call("read"))], [Step.text("fine")]),
      hanging: Script.runs([Step.hang()], [Step.hang()], [Step.text("fine")]),
      slow: Script.runs([Step.hang()], [Step.text("fine")])
    })))
  })

  // Spoils whatever can be changed, at every level.
  const spoil = (value: unknown): void => {
    if (value === null || typeof value !== "object") return
    for (const item of Object.values(value)) spoil(item)
    if (Array.isArray(value)) value.push("spoiled")
    else Object.assign(value, { spoiled: true })
  }

  const reports: ReadonlyArray<readonly [string, NonNullable<typeof scout.report>]> = [
    ["a JSON Schema", {
      type: "object",
      properties: { list: { type: "array", items: { type: "string" } }, any: {} },
      required: ["list", "any"]
    }],
    ["a schema that decodes", "dated"],
    ["a schema of JSON", "json"]
  ]

  it.effect.each(reports)(
    "C22 what a caller does to its result changes no other's, by %s",
    ([, report]) =>
      Effect.gen(function*() {
        // Each caller spoils its result as soon as it has it.
        const call = Effect.map(DelegateRuntime.run({ posture: "scout", task: "Look" }), (ended) => {
          const result = "result" in ended ? ended.result : undefined
          const found = structuredClone(result)
          spoil(result)
          return { status: ended.status, found }
        })
        const running = yield* Effect.forkChild(Effect.all([call, call, call], { concurrency: "unbounded" }), {
          startImmediately: true
        })
        yield* TestClock.adjust("1 second")
        const all = [...yield* Fiber.join(running), yield* call, yield* call]

        assert.deepStrictEqual(all.map(({ status }) => status), ["success", ...Array(4).fill("cache_hit")])
        assert.isDefined(all[0]!.found)
        for (const { found } of all) assert.deepStrictEqual(found, all[0]!.found)
        assert.notInclude(JSON.stringify(all), "spoiled")
      }).pipe(Effect.provide(Postures.runtime(
        [posture("scout", { report })],
        {
          scout: [Step.delay(
            "1 second",
            Step.calls(Step.report({ list: ["a"], at: "2026-01-02T00:00:00.000Z", any: { deep: [{ er: [1] }] } }))
          )]
        },
        {
          schemas: {
            dated: Schema.Struct({ list: Schema.Array(Schema.String), at: Schema.Date, any: Schema.Unknown }),
            json: Schema.Json
          }
        }
      )))
  )
})
