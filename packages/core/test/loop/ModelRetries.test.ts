import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, type ModelError, TypedAgent } from "@mandate/core"
import { type Script, ScriptedModel, Step } from "@mandate/testing"
import { Clock, Effect, Fiber, Layer, Random, Ref, Schedule } from "effect"
import { TestClock } from "effect/testing"
import * as Models from "../support/Models.ts"
import * as Results from "../support/Results.ts"
import * as Runtime from "../support/Runtime.ts"

const clerk = AgentBuilder.make("clerk")
const layers = (scripts: Script.Scripts) => Layer.mergeAll(Runtime.layer, Models.layer(scripts))

/** A step of which the times at which it is asked for are noted. */
const timed = (at: Ref.Ref<ReadonlyArray<number>>, step: Step.Step): Step.Step => () =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => Effect.as(Ref.update(at, (all) => [...all, now]), step))

/** Runs a text agent of these steps for an hour, and gives how it ended and the times of its model calls. */
const over = (builder: AgentBuilder.AgentBuilder<string>, steps: Script.Steps) =>
  Effect.gen(function*() {
    const at = yield* Ref.make<ReadonlyArray<number>>([])
    const scripted = layers({ clerk: steps.map((step) => timed(at, step)) })
    return yield* Effect.gen(function*() {
      const agent = yield* builder.build()
      const start = yield* Clock.currentTimeMillis
      const fiber = yield* Effect.forkChild(Effect.result(agent.run("Go", { threadId: "t" })), {
        startImmediately: true
      })
      yield* TestClock.adjust("1 hour")
      const result = yield* Fiber.join(fiber)
      const times = (yield* Ref.get(at)).map((time) => time - start)
      return { times, result, status: yield* agent.status("t") }
    }).pipe(Effect.provide(scripted))
  })

const retryable: ReadonlyArray<ModelError.ModelErrorReason> = [
  "rate-limited",
  "overloaded",
  "network",
  "invalid-response"
]
const final: ReadonlyArray<ModelError.ModelErrorReason> = [
  "quota-exceeded",
  "authentication",
  "content-filtered",
  "context-too-long",
  "invalid-request",
  "unsupported",
  "unknown"
]

describe("Model failures", () => {
  for (const reason of retryable) {
    it.effect(`${reason} is retried twice by default, and then fails the run`, () =>
      Effect.gen(function*() {
        const { status, times } = yield* over(clerk, [Step.fail(reason), Step.fail(reason), Step.fail(reason)])

        assert.lengthOf(times, 3)
        assert.strictEqual(status.status._tag === "Failed" && status.status.reason._tag, "ModelFailed")
      }))
  }

  for (const reason of final) {
    it.effect(`${reason} is not retried, whatever the schedule`, () =>
      Effect.gen(function*() {
        const byDefault = yield* over(clerk, [Step.fail(reason)])
        const eager = yield* over(clerk.withRetry(Schedule.recurs(5)), [Step.fail(reason, { retryAfter: 1 })])

        assert.deepStrictEqual([byDefault.times, eager.times], [[0], [0]])
        assert.strictEqual(byDefault.status.status._tag, "Failed")
      }))
  }

  it.effect("the default waits double from half a second, each with jitter", () =>
    Effect.gen(function*() {
      const waits = yield* Effect.forEach(["a", "b", "c", "d"], (seed) =>
        over(clerk, [Step.fail("network"), Step.fail("network"), Step.text("done")]).pipe(
          Random.withSeed(seed),
          Effect.map(({ times: [, second = 0, third = 0] }) =>
            [second, third - second] as const
          )
        ))

      for (const [first, second] of waits) {
        assert.isTrue(first >= 400 && first <= 600, `first wait ${first}`)
        assert.isTrue(second >= 800 && second <= 1200, `second wait ${second}`)
      }
      assert.isAbove(new Set(waits.map(([first]) => first)).size, 1)
    }))

  it.effect("a provider that asks to wait longer than the schedule is not called earlier", () =>
    Effect.gen(function*() {
      const waited = yield* over(clerk, [Step.fail("rate-limited", { retryAfter: "30 seconds" }), Step.text("done")])
      const eager = yield* over(clerk.withRetry(Schedule.recurs(2)), [
        Step.fail("rate-limited", { retryAfter: "30 seconds" }),
        Step.fail("overloaded", { retryAfter: "1 second" }),
        Step.text("done")
      ])

      assert.deepStrictEqual(waited.times, [0, 30_000])
      assert.deepStrictEqual(eager.times, [0, 30_000, 31_000])
    }))

  it.effect("what a provider asks to wait holds for one call, and not for those after it", () =>
    Effect.gen(function*() {
      const { times } = yield* over(clerk.withRetry(Schedule.recurs(2)), [
        Step.fail("rate-limited", { retryAfter: "30 seconds" }),
        Step.fail("overloaded"),
        Step.text("done")
      ])

      assert.deepStrictEqual(times, [0, 30_000, 30_000])
    }))

  it.effect("a provider that asks to wait less than the schedule does not shorten it", () =>
    Effect.gen(function*() {
      const patient = clerk.withRetry(Schedule.max([Schedule.spaced("10 seconds"), Schedule.recurs(1)]))
      const { times } = yield* over(patient, [Step.fail("rate-limited", { retryAfter: 10 }), Step.text("done")])

      assert.deepStrictEqual(times, [0, 10_000])
    }))

  it.effect("withRetry replaces the schedule", () =>
    Effect.gen(function*() {
      const failures = (count: number) => Array.from({ length: count }, () => Step.fail("overloaded"))
      const never = yield* over(clerk.withRetry(Schedule.recurs(0)), failures(1))
      const four = yield* over(clerk.withRetry(Schedule.recurs(1)).withRetry(Schedule.recurs(4)), [
        ...failures(4),
        Step.text("done")
      ])

      assert.lengthOf(never.times, 1)
      assert.lengthOf(four.times, 5)
      assert.strictEqual(four.status.status._tag, "Completed")
    }))

  it.effect("each step has all its retries", () =>
    Effect.gen(function*() {
      const fail = Step.fail("overloaded")
      const { status, times } = yield* over(clerk, [fail, fail, Step.call("none"), fail, fail, Step.text("done")])

      assert.lengthOf(times, 6)
      assert.strictEqual(status.status._tag, "Completed")
    }))

  it.effect("each drive has all its retries", () =>
    Effect.gen(function*() {
      const agent = yield* clerk.withRetry(Schedule.recurs(2)).build()
      yield* Effect.flip(agent.run("Go", { threadId: "t" }))
      const { status } = yield* agent.recover("t")

      const requests = yield* (yield* ScriptedModel.ScriptedModel).requests
      assert.strictEqual(status._tag, "Completed")
      assert.deepStrictEqual(requests.map(({ call }) => call.attempt), [0, 1, 2, 0, 1, 2])
    }).pipe(Effect.provide(layers({
      clerk: [Step.fail("network"), Step.fail("network"), Step.again(Step.fail("network"), Step.text("done"))]
    }))))

  it.effect("a failed attempt leaves nothing in the conversation", () =>
    Effect.gen(function*() {
      const agent = yield* clerk.withRetry(Schedule.recurs(2)).build()
      yield* agent.run("Go", { threadId: "t" })

      const [settled] = yield* agent.history("t")
      const [first, second, third] = yield* (yield* ScriptedModel.ScriptedModel).requests
      assert.deepStrictEqual([second?.request, third?.request], [first?.request, first?.request])
      assert.deepStrictEqual(settled?.messages.map(({ role }) => role), ["user", "assistant"])
    }).pipe(Effect.provide(layers({
      clerk: [Step.fail("network"), Step.interrupted("half an ans"), Step.text("done")]
    }))))

  const spent = { usage: { input: 100, output: 7, cacheRead: 60, reasoning: 3 } }
  it.effect("tokens of failed attempts count, as no response of the model", () =>
    Effect.gen(function*() {
      const { status } = yield* over(clerk, [
        Step.fail("network", spent),
        Step.withUsage(Step.interrupted("half"), { input: 20, output: 2 }),
        Step.text("done")
      ])

      const { cacheReadTokens, estimated, inputTokens, modelCalls, outputTokens, reasoningTokens } = status.usage.own
      assert.deepStrictEqual([inputTokens, outputTokens, cacheReadTokens, reasoningTokens], [130, 14, 60, 3])
      assert.deepStrictEqual([modelCalls, estimated], [1, false])
      assert.deepStrictEqual(status.usage.tree, status.usage.own)
    }))

  it.effect("tokens of failed attempts count for a run that failed, and stay when it is recovered", () =>
    Effect.gen(function*() {
      const agent = yield* clerk.withRetry(Schedule.recurs(1)).build()
      yield* Effect.flip(agent.run("Go", { threadId: "t" }))
      const failed = yield* agent.status("t")
      const recovered = yield* agent.recover("t")

      assert.deepStrictEqual([failed.usage.own.inputTokens, failed.usage.own.outputTokens], [210, 19])
      assert.deepStrictEqual([recovered.usage.own.inputTokens, recovered.usage.own.outputTokens], [220, 24])
      assert.strictEqual(recovered.usage.own.modelCalls, 2)
    }).pipe(Effect.provide(layers({
      clerk: [
        Step.call("none"),
        Step.again(Step.fail("network", spent), Step.text("done")),
        Step.fail("network", spent)
      ]
    }))))

  it.effect("tokens of failed attempts use up the budget", () =>
    Effect.gen(function*() {
      const { status, times } = yield* over(clerk.withBudget({ maxTokens: 100 }), [
        Step.fail("network", spent),
        Step.call("none")
      ])

      assert.lengthOf(times, 2)
      assert.deepStrictEqual({ ...status.status }, { _tag: "BudgetExceeded", limit: "tokens" })
    }))

  it.effect("retries end with the time of the budget", () =>
    Effect.gen(function*() {
      const { result, status, times } = yield* over(clerk.withBudget({ timeout: "2 seconds" }), [
        Step.fail("rate-limited", { retryAfter: "1 minute" })
      ])

      assert.strictEqual(result._tag, "Success")
      assert.deepStrictEqual({ ...status.status }, { _tag: "BudgetExceeded", limit: "time" })
      assert.deepStrictEqual(times, [0])
    }))

  it.effect("a cancel ends the wait for a retry", () =>
    Effect.gen(function*() {
      const agent = yield* clerk.withMaxRetryAfter("1 hour").build()
      const running = yield* Effect.forkChild(agent.run("Go", { threadId: "t" }), { startImmediately: true })
      yield* TestClock.adjust("1 minute")
      yield* agent.cancel("t")
      yield* TestClock.adjust("2 hours")

      assert.strictEqual((yield* Fiber.join(running)).status._tag, "Cancelled")
      assert.strictEqual(yield* (yield* ScriptedModel.ScriptedModel).calls, 1)
    }).pipe(Effect.provide(layers({ clerk: [Step.fail("rate-limited", { retryAfter: "1 hour" })] }))))

  it.effect("a child's failed attempts are its own: its parent sees the report and the usage", () =>
    Effect.gen(function*() {
      const helper = TypedAgent.text("helper", { description: "Helps" }).withRetry(Schedule.recurs(1))
      const result = yield* (yield* clerk.withSubagents([helper]).build()).run("Go")

      const [, second] = yield* (yield* ScriptedModel.ScriptedModel).requestsOf("clerk")
      assert.deepStrictEqual(Results.last(second?.request), [Results.reported("task", "helped")])
      assert.strictEqual(result.usage.own.inputTokens, 20)
      assert.strictEqual(result.usage.tree.inputTokens, 130)
    }).pipe(Effect.provide(layers({
      clerk: [Step.textTask("helper", "Help"), Step.text("done")],
      helper: [Step.fail("network", spent), Step.text("helped")]
    }))))
})
