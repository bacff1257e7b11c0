import { assert, describe, it } from "@effect/vitest"
import {
  AgentBuilder,
  AtMostOnce,
  MemoryRunStore,
  type ModelClient,
  ModelRegistry,
  ModelResponse,
  TypedAgent
} from "@mandate/core"
import { Script, Step, TestRuntime } from "@mandate/testing"
import { Effect, Fiber, Layer, Schedule, Schema, Stream } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { TestClock } from "effect/testing"
import { backings } from "../support/Backings.ts"
import * as Results from "../support/Results.ts"
import * as Waiting from "../support/Waiting.ts"
import { ways } from "../support/Ways.ts"

const Look = Tool.make("look", { parameters: Schema.Struct({ n: Schema.Int }), success: Schema.Int })
const looks = (count: number) => Step.calls(...Array.from({ length: count }, (_, n) => Step.call("look", { n })))

/** An agent whose handlers note when they begin and how many are at work. */
const watched = (millis = 0) => {
  const seen = { began: [] as Array<number>, now: 0, most: 0 }
  const clerk = AgentBuilder.make("clerk").withTools(Toolkit.make(Look), {
    look: ({ n }) =>
      Effect.gen(function*() {
        seen.began.push(n)
        seen.most = Math.max(seen.most, ++seen.now)
        yield* Effect.sleep(millis)
        seen.now--
        return n
      })
  })
  return { seen, clerk }
}

describe("X11 A response with too many calls", () => {
  const cases = backings.flatMap((backing) => ways.map(([what, way]) => ({ backing, what, way })))

  it.effect.each(cases)(
    "X11 is asked for again, and none of its 10 000 calls starts ($what, $backing.name)",
    ({ backing, way }) =>
      Effect.gen(function*() {
        const { clerk, seen } = watched()
        const { model, next } = yield* Waiting.processes(yield* backing.place, {
          clerk: [looks(10_000), Step.call("look", { n: 1 }), Step.text("done")]
        })
        const result = yield* next(Effect.flatMap(clerk.build(), (agent) => way(agent, "Go", "t")))
        const results = Results.all((yield* model.requestsOf("clerk"))[1]!.request.messages)

        assert.deepStrictEqual(result.status, { _tag: "Completed", answer: "done" })
        assert.strictEqual(result.usage.tree.toolCalls, 1)
        assert.deepStrictEqual(seen.began, [1])
        assert.lengthOf(results, 128)
        for (const { isError, value } of results) {
          assert.deepStrictEqual([isError, value], [
            true,
            "not run: the response made 10000 tool calls; at most 128 are allowed"
          ])
        }
      })
  )

  it.effect.each(backings)(
    "X11 ends the run when it comes more often than is asked again ($name)",
    ({ place }) =>
      Effect.gen(function*() {
        const { clerk, seen } = watched()
        const { next } = yield* Waiting.processes(yield* place, {
          clerk: Script.runs([looks(3), looks(4)], [Step.text("hi")])
        })
        const agent = clerk.withToolLimits({ maxCallsPerResponse: 2 }).build()
        const result = yield* next(Effect.flatMap(agent, (agent) => agent.run("Go", { threadId: "t" })))
        const second = yield* next(Effect.flatMap(agent, (agent) => agent.run("Go", { threadId: "t" })))

        assert.deepStrictEqual(result.status, {
          _tag: "InvalidReport",
          issues: ["the response made 4 tool calls; at most 2 are allowed"]
        })
        assert.strictEqual(second.status._tag, "Completed")
        assert.deepStrictEqual(seen.began, [])
      })
  )

  it.effect("X11 is one with more than the bound, not one with as many", () =>
    Effect.gen(function*() {
      const { clerk, seen } = watched()
      const { next } = yield* Waiting.processes(MemoryRunStore.make(), {
        clerk: [looks(128), looks(129), Step.text("done")]
      })
      const result = yield* next(Effect.flatMap(clerk.build(), (agent) => agent.run("Go")))

      assert.strictEqual(result.status._tag, "Completed")
      assert.lengthOf(seen.began, 128)
    }))

  it.effect("X11 is refused with its report, and cut or blocked as ever", () =>
    Effect.gen(function*() {
      const agent = (steps: Script.Steps) =>
        Effect.gen(function*() {
          const { clerk } = watched()
          const typed = clerk.withOutput(Schema.Struct({ n: Schema.Int })).withToolLimits({ maxCallsPerResponse: 1 })
          const { next } = yield* Waiting.processes(MemoryRunStore.make(), { clerk: steps })
          return (yield* next(Effect.flatMap(typed.build(), (agent) => agent.run("Go")))).status
        })
      const reported = yield* agent([
        Step.calls(Step.call("look", { n: 1 }), Step.call("submit_report", { n: 2 })),
        Step.report({ n: 3 })
      ])
      const cut = yield* agent([
        Step.cut(Step.call("look", { n: 1 }), Step.call("look", { n: 2 })),
        Step.report({ n: 3 })
      ])

      assert.deepStrictEqual<unknown>([reported, cut], [
        { _tag: "Completed", answer: { n: 3 } },
        { _tag: "Completed", answer: { n: 3 } }
      ])
    }))
})

describe("X11 Handlers of one response", () => {
  it.effect.each([[40, undefined, 16], [40, 3, 3], [5, 1, 1], [2, 8, 2]] as const)(
    "X11 of %i calls with a bound of %s: at most %i are at work at once, and they begin in call order",
    ([count, maxConcurrentTools, most]) =>
      Effect.gen(function*() {
        const { clerk, seen } = watched(10)
        const { next } = yield* Waiting.processes(MemoryRunStore.make(), { clerk: [looks(count), Step.text("done")] })
        const limits = maxConcurrentTools === undefined ? {} : { maxConcurrentTools }
        const run = yield* Effect.forkChild(
          next(Effect.flatMap(clerk.withToolLimits(limits).build(), (agent) => agent.run("Go"))),
          { startImmediately: true }
        )
        yield* TestClock.adjust(10_000)
        const result = yield* Fiber.join(run)

        assert.strictEqual(result.status._tag, "Completed")
        assert.strictEqual(seen.most, most)
        assert.deepStrictEqual(seen.began, Array.from({ length: count }, (_, n) => n))
      })
  )

  it.effect("X11 wait apart from tasks, which hold none of their slots", () =>
    Effect.gen(function*() {
      const { clerk, seen } = watched(10)
      const scribe = TypedAgent.text("scribe", { description: "Writes" }).withTools(Toolkit.make(Look), {
        look: ({ n }) => Effect.as(Effect.sleep(10), n)
      })
      const tasks = Array.from({ length: 4 }, (_, n) => Step.textTask("scribe", `Write ${n}`))
      const { next } = yield* Waiting.processes(MemoryRunStore.make(), {
        clerk: [
          Step.calls(...tasks, Step.call("look", { n: 1 }), ...tasks.slice(0, 2), Step.call("look", { n: 2 })),
          Step.text("done")
        ],
        scribe: Script.each([looks(3), Step.text("written")])
      })
      const lead = clerk.withSubagents([scribe], { maxConcurrentChildren: 1 }).withToolLimits({ maxConcurrentTools: 1 })
      const run = yield* Effect.forkChild(next(Effect.flatMap(lead.build(), (agent) => agent.run("Go"))), {
        startImmediately: true
      })
      yield* TestClock.adjust(15)
      const early = [...seen.began]
      yield* TestClock.adjust(10_000)
      const result = yield* Fiber.join(run)

      assert.deepStrictEqual(early, [1, 2])
      assert.strictEqual(result.status._tag, "Completed")
      assert.strictEqual(result.usage.tree.childRuns, 6)
    }))

  it.effect("X11 do not wait for calls that wait for people", () =>
    Effect.gen(function*() {
      const Pay = Waiting.gated("pay", { n: Schema.Int })
      const { clerk, seen } = watched()
      const lead = clerk.withTools(Toolkit.make(Pay), { pay: () => Effect.succeed("paid") }).withToolLimits({
        maxConcurrentTools: 1
      })
      const calls = [1, 2, 3].flatMap((n) => [Step.call("pay", { n }), Step.call("look", { n })])
      const { next } = yield* Waiting.processes(MemoryRunStore.make(), { clerk: [Step.calls(...calls)] })
      const result = yield* next(Effect.flatMap(lead.build(), (agent) => agent.run("Go", { threadId: "t" })))

      assert.strictEqual(result.status._tag === "Suspended" ? result.status.pending.length : -1, 3)
      assert.deepStrictEqual(seen.began, [1, 2, 3])
    }))

  it.effect.each(backings)(
    "X11 that waited at a crash had not started: they run without a question ($name)",
    ({ pass, place }) =>
      Effect.gen(function*() {
        const began: Array<number> = []
        const Send = Tool.make("send", { parameters: Schema.Struct({ n: Schema.Int }), success: Schema.Int })
          .annotate(AtMostOnce, true)
        const clerk = AgentBuilder.make("clerk").withToolLimits({ maxConcurrentTools: 1 }).withTools(
          Toolkit.make(Send),
          {
            send: ({ n }) =>
              Effect.andThen(Effect.sync(() => began.push(n)), n === 1 ? Effect.never : Effect.succeed(n))
          }
        )
        const { die, next } = yield* Waiting.processes(yield* place, {
          clerk: [Step.calls(Step.call("send", { n: 1 }), Step.call("send", { n: 2 }))]
        })
        yield* die(
          Effect.flatMap(clerk.build(), (agent) =>
            Effect.andThen(Effect.forkChild(agent.run("Go", { threadId: "t" }), { startImmediately: true }), pass(100)))
        )
        const running = yield* Effect.forkChild(
          next(Effect.flatMap(clerk.build(), (agent) =>
            agent.recover("t", { force: true }))),
          { startImmediately: true }
        )
        yield* pass("1 minute")
        const result = yield* Fiber.join(running)

        assert.deepStrictEqual(
          result.status._tag === "Suspended" ? result.status.pending.map(({ id }) => String(id)) : result.status,
          ["0.0:uncertain0"]
        )
        assert.deepStrictEqual(began, [1, 2])
      })
  )
})

const usage = { inputTokens: { total: 1 }, outputTokens: { total: 1 } }
const finish = { finishReason: "stop", usage } as const
const text = (text: string) => ({ type: "text", text }) as const

/** Runs an agent of a client that is asked once. */
const runWith = (client: Pick<ModelClient.ModelClient, "generate" | "stream">, isStreamed: boolean) => {
  const registry = Layer.succeed(ModelRegistry.ModelRegistry, {
    get: () => Effect.succeed({ provider: "p", modelId: "m", ...client })
  })
  const runtime = Layer.merge(TestRuntime.layerStore(MemoryRunStore.make()), registry)
  return Effect.gen(function*() {
    const agent = yield* AgentBuilder.make("clerk").withRetry(Schedule.recurs(0)).build()
    const run = isStreamed ? Stream.runDrain(agent.stream("Go", { threadId: "t" })) : agent.run("Go", { threadId: "t" })
    const error = yield* Effect.flip(run as Effect.Effect<unknown, unknown>)
    yield* agent.cancel("t")
    const history = yield* agent.history("t")
    return { error: error as Error & { readonly reason: unknown }, messages: history[0]?.messages.length }
  }).pipe(Effect.provide(runtime))
}

describe("X11 A response over its bounds", () => {
  const parts = Array.from({ length: 2_000_000 }, () => text("x"))
  const responses: ReadonlyArray<readonly [string, ReadonlyArray<ReturnType<typeof text>>, string]> = [
    ["two million parts", parts, "the response has more than 65536 parts"],
    [
      "one part more than the most",
      parts.slice(0, ModelResponse.maxParts + 1),
      "the response has more than 65536 parts"
    ],
    ["50 MB in one part", [text("x".repeat(50_000_000))], "the response has more than 33554432 bytes"],
    [
      "50 MB in many parts",
      parts.slice(0, 50).map(() => text("x".repeat(1_000_000))),
      "the response has more than 33554432 bytes"
    ]
  ]

  it.effect.each(
    responses.flatMap(([what, parts, problem]) =>
      [false, true].map((isStreamed) => ({ what, parts, problem, isStreamed }))
    )
  )(
    "X11 is an invalid response that nothing of is kept: $what, streamed: $isStreamed",
    ({ isStreamed, parts, problem }) =>
      Effect.gen(function*() {
        let read = 0
        const pieces = Stream.map(Stream.rechunk(Stream.fromIterable(parts), 1_000), (part) => {
          read++
          return { type: "part", part } as const
        })
        const { error, messages } = yield* runWith({
          generate: () => Effect.succeed({ parts, ...finish }),
          stream: () => Stream.concat(pieces, Stream.succeed({ type: "finish", ...finish } as const))
        }, isStreamed)

        assert.deepInclude(error.reason, { _tag: "ModelFailed", reason: "invalid-response", detail: problem })
        assert.strictEqual(messages, 1)
        if (isStreamed && parts.length > 100_000) assert.isBelow(read, 100_000)
      })
  )

  it.effect("X11 is a stream of deltas without an end, too", () =>
    Effect.gen(function*() {
      let read = 0
      const delta = "x".repeat(100_000)
      const pieces = Stream.map(Stream.forever(Stream.succeed(0)), () => {
        read++
        return { type: "text-delta", delta } as const
      })
      const { error } = yield* runWith({ generate: () => Effect.die("not asked"), stream: () => pieces }, true)

      assert.deepInclude(error.reason, { _tag: "ModelFailed", reason: "invalid-response" })
      assert.isBelow(read, 1_000)
    }))
})
