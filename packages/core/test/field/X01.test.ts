import { assert, describe, it } from "@effect/vitest"
import {
  AgentBuilder,
  Answer,
  type Mandate,
  type ModelClient,
  ModelError,
  ModelRegistry,
  type ModelResponse,
  Threads,
  ToolContext,
  TypedAgent,
  Usage
} from "@mandate/core"
import { TestRuntime } from "@mandate/testing"
import { Arbitrary, Cause, Clock, Effect, Exit, Layer, Schedule, Schema, Stream } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { type Backing, backings } from "../support/Backings.ts"

const most = Number.MAX_SAFE_INTEGER
const counts = Object.keys(Usage.zero).filter((name) => name !== "estimated") as ReadonlyArray<
  Exclude<keyof Usage.Usage, "estimated">
>
const Count = Schema.Union([
  Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9 })),
  Schema.Int.check(Schema.isBetween({ minimum: most - 9, maximum: most }))
])
const usages = Arbitrary.schema(Schema.Struct({ ...Usage.Usage.fields, ...fieldsOf(Count), estimated: Schema.Boolean }))

function fieldsOf<S extends Schema.Top>(schema: S) {
  return Object.fromEntries(counts.map((name) => [name, schema])) as { readonly [_ in (typeof counts)[number]]: S }
}

const stored = Schema.fromJsonString(Usage.RunUsage)

describe("X01 a sum of usages", () => {
  it.prop("X01 can be read again once stored, however large its parts are", [usages, usages, usages], ([a, b, c]) => {
    const own = Usage.add(a as Usage.Usage, b as Usage.Usage)
    const usage = { own, tree: Usage.add(own, c as Usage.Usage) }

    assert.deepStrictEqual(Schema.decodeSync(stored)(JSON.stringify(Usage.storedRun(usage))), usage)
    assert.isAtMost(Usage.tokens(usage.tree), most)
    for (const name of counts) {
      const exact = BigInt(a[name]) + BigInt(b[name])
      assert.strictEqual(own[name], exact > BigInt(most) ? most : Number(exact))
    }
  })

  it.each(["9007199254740992", "18014398509481982", "1e300", "1e400"])(
    "X01 that is stored as %s reads as the most",
    (sum) => {
      const read = Schema.decodeSync(stored)(
        `{"own":{"inputTokens":${sum}},"tree":{"inputTokens":${sum},"toolCalls":1}}`
      )

      assert.deepStrictEqual([read.own.inputTokens, read.tree.inputTokens, read.tree.toolCalls], [most, most, 1])
    }
  )

  it.each(["-1", "0.5", "null", "\"1\""])("X01 that is stored as %s is refused", (count) => {
    assert.throws(() => Schema.decodeSync(stored)(`{"own":{"inputTokens":${count}},"tree":{}}`))
  })

  it.each([
    [0, 0],
    [1.4, 1],
    [most, most],
    [most + 1, most],
    [1e300, most],
    [Infinity, undefined],
    [-Infinity, undefined],
    [NaN, undefined],
    [-1, undefined],
    ["7", undefined],
    [7n, undefined],
    [null, undefined],
    [undefined, undefined]
  ])("X01 takes %s from a provider as %s", (reported, taken) => assert.strictEqual(Usage.count(reported), taken))
})

const Note = Tool.make("note", { success: Schema.String })
const Ask = Tool.make("ask", { success: Schema.Boolean })

/** A lead that asks its child and then a person; every response has this usage. */
const setUp = (usage: Usage.ModelUsage) => {
  const tools = Toolkit.make(Note, Ask)
  const handlers = {
    note: () => Effect.succeed("noted"),
    ask: () => ToolContext.ask("Go on?", { answer: Schema.Boolean })
  }
  const child = TypedAgent.text("child", { description: "Notes" }).withTools(tools, handlers)
  const lead = AgentBuilder.make("lead").withTools(tools, handlers).withSubagents([child])
  const responses: { readonly [agent: string]: ReadonlyArray<ModelResponse.ModelResponse["parts"]> } = {
    lead: [
      [{
        type: "tool-call",
        id: "a",
        name: "task",
        arguments: JSON.stringify({ subagent: "child", description: "x" })
      }],
      [{ type: "tool-call", id: "b", name: "ask", arguments: "{}" }],
      [{ type: "text", text: "done" }]
    ],
    child: [[{ type: "tool-call", id: "c", name: "note", arguments: "{}" }], [{ type: "text", text: "did" }]]
  }
  const client: ModelClient.ModelClient = {
    provider: "raw",
    modelId: "m",
    generate: (_, { agentId, step }) => {
      const parts = responses[agentId]![step]!
      return Effect.succeed({
        parts,
        finishReason: parts[0]!.type === "text" ? "stop" : "tool-calls",
        usage
      })
    }
  }
  return { lead, models: Layer.succeed(ModelRegistry.ModelRegistry, { get: () => Effect.succeed(client) }) }
}

/** What every verb reads of a thread, in a process of its own. */
const readAll = (lead: ReturnType<typeof setUp>["lead"]) =>
  Effect.gen(function*() {
    const agent = yield* lead.build()
    const status = yield* agent.status("t")
    const history = yield* agent.history("t")
    const runs = yield* Threads.runs("t")
    const pending = yield* Stream.runCollect(Threads.pending())
    return { status, history, runs, pending }
  })

const inProcess =
  (backing: Effect.Success<Backing["place"]>, models: Layer.Layer<ModelRegistry.ModelRegistry>) =>
  <A, E>(body: Effect.Effect<A, E, Mandate.Mandate | ModelRegistry.ModelRegistry>) =>
    Effect.scoped(Effect.gen(function*() {
      const store = yield* backing
      return yield* Effect.provide(body, Layer.merge(TestRuntime.layerStore(store), models), { local: true })
    }))

const tokens = (input: number, output = input) => ({ inputTokens: { total: input }, outputTokens: { total: output } })

describe.each(backings)("X01 a thread whose model reports the most tokens there are, in $name", ({ place }) => {
  it.effect("X01 can be read, answered, continued and cancelled by every verb", () =>
    Effect.gen(function*() {
      const { lead, models } = setUp(tokens(most))
      const process = inProcess(yield* place, models)
      const first = yield* process(Effect.flatMap(lead.build(), (agent) => agent.run("Go", { threadId: "t" })))
      const waiting = yield* process(readAll(lead))
      const [ask] = waiting.pending
      yield* process(
        Effect.flatMap(lead.build(), (agent) => agent.resume("t", [Answer.reply(ask!.id, Schema.Boolean, true)]))
      )
      const ended = yield* process(readAll(lead))
      yield* process(Effect.flatMap(lead.build(), (agent) => agent.run("Again", { threadId: "t" })))
      yield* process(Effect.flatMap(lead.build(), (agent) => agent.cancel("t")))
      const cancelled = yield* process(readAll(lead))

      assert.strictEqual(first.status._tag, "Suspended")
      assert.strictEqual(first.usage.tree.inputTokens, most)
      assert.strictEqual(waiting.status.usage.own.inputTokens, most)
      assert.strictEqual(ended.status.status._tag, "Completed")
      assert.strictEqual(ended.status.usage.tree.outputTokens, most)
      assert.deepStrictEqual(ended.runs.map(({ usage }) => usage?.own.inputTokens), [most, most])
      assert.strictEqual(cancelled.runs.filter(({ outcome }) => outcome === "Cancelled").length, 1)
    }).pipe(Effect.scoped))

  it.effect("X01 ends a tree at its budget of tokens, and a failed attempt counts as far as it can", () =>
    Effect.gen(function*() {
      const { lead, models } = setUp(tokens(most))
      const process = inProcess(yield* place, models)
      const result = yield* process(
        Effect.flatMap(
          lead.withBudget({ maxTokens: most - 1 }).build(),
          (agent) => agent.run("Go", { threadId: "t" })
        )
      )

      assert.deepStrictEqual({ ...result.status }, { _tag: "BudgetExceeded", limit: "tokens" })
    }).pipe(Effect.scoped))
})

/** A clock that gives what no clock should. */
const brokenClock = (millis: number, nanos: () => bigint): Clock.Clock => ({
  currentTimeMillisUnsafe: () => millis,
  currentTimeMillis: Effect.succeed(millis),
  currentTimeNanosUnsafe: () => 0n,
  currentTimeNanos: Effect.succeed(0n),
  monotonicTimeNanosUnsafe: nanos,
  sleep: () => Effect.never
} as unknown as Clock.Clock)

const grows = () => {
  let now = 1n
  return () => now *= 10n ** 40n
}
const shrinks = () => {
  let now = 10n ** 30n
  return () => now /= 1000n
}

const clocks: ReadonlyArray<readonly [string, () => Clock.Clock]> = [
  ["no number", () => brokenClock(NaN, () => 0n)],
  ["infinity", () => brokenClock(Infinity, grows())],
  ["minus infinity", () => brokenClock(-Infinity, shrinks())],
  ["fractions", () => brokenClock(0.1 + 0.2, () => 7n)]
]

describe.each(backings)("X01 a clock that gives", ({ name, place }) => {
  it.effect.each(clocks)(`X01 %s leaves times that can be read, in ${name}`, ([, clock]) =>
    Effect.gen(function*() {
      const { lead, models } = setUp(tokens(1))
      const process = inProcess(yield* place, models)
      const result = yield* process(
        Effect.flatMap(lead.build(), (agent) => agent.run("Go", { threadId: "t" })).pipe(
          Effect.provideService(Clock.Clock, clock())
        )
      )
      const { pending, runs } = yield* process(readAll(lead))
      const events = yield* process(
        Effect.flatMap(lead.build(), () => Stream.runCollect(Stream.take(Threads.events("t"), 4)))
      )

      assert.strictEqual(result.status._tag, "Suspended")
      assert.lengthOf(pending, 1)
      for (const { activeMillis, startedAt, stoppedAt } of runs) {
        for (const millis of [activeMillis, startedAt, stoppedAt]) assert.isTrue(Number.isFinite(millis))
        assert.isAtLeast(activeMillis, 0)
      }
      assert.isTrue([...events].every(({ at }) => Number.isFinite(at)))
    }).pipe(Effect.scoped))
})

describe("X01 a failure of a model", () => {
  it.effect.each([-1, NaN, Infinity, 0.5, most + 1, 1e300, "7"])(
    "X01 that claims %s tokens is no bug of the agent",
    (given) =>
      Effect.gen(function*() {
        const error = Object.assign(
          new ModelError.ModelError({ reason: "overloaded", provider: "raw", modelId: "m" }),
          { usage: { inputTokens: { total: given }, outputTokens: { reasoning: given } } }
        )
        const client: ModelClient.ModelClient = { provider: "raw", modelId: "m", generate: () => Effect.fail(error) }
        const exit = yield* Effect.exit(
          Effect.gen(function*() {
            const agent = yield* AgentBuilder.make("clerk").withRetry(Schedule.recurs(0)).build()
            const failed = yield* Effect.flip(agent.run("Go", { threadId: "t" }))
            const status = yield* agent.status("t")
            return { failed, status, runs: yield* Threads.runs("t") }
          }).pipe(
            Effect.provide(Layer.merge(
              TestRuntime.layer,
              Layer.succeed(ModelRegistry.ModelRegistry, { get: () => Effect.succeed(client) })
            ))
          )
        )

        if (Exit.isFailure(exit)) return assert.fail(Cause.pretty(exit.cause))
        assert.deepInclude(exit.value.failed, { _tag: "RunError" })
        assert.strictEqual(exit.value.status.status._tag, "Failed")
      })
  )
})
