import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, TypedAgent } from "@mandate/core"
import { type Script, ScriptedModel, Step } from "@mandate/testing"
import { Clock, Duration, Effect, Fiber, Layer, Schedule } from "effect"
import { TestClock } from "effect/testing"
import { backings } from "../support/Backings.ts"
import * as Models from "../support/Models.ts"
import * as Runtime from "../support/Runtime.ts"
import * as Waiting from "../support/Waiting.ts"

const clerk = AgentBuilder.make("clerk")
const scribe = TypedAgent.text("scribe", { description: "Writes" })
const done = Step.text("done")

/** Runs an agent whose model fails once, then answers. Gives the error, the calls, and how much time had to pass. */
const ask = (agent: AgentBuilder.AgentBuilder<string>, steps: Script.Steps, within: Duration.Input = "2 minutes") =>
  Effect.gen(function*() {
    const built = yield* agent.build()
    const start = yield* Clock.currentTimeMillis
    const outcome = Effect.flatMap(
      Effect.result(built.run("Go", { threadId: "t" })),
      (result) => Effect.map(Clock.currentTimeMillis, (now) => ({ result, passed: now - start }))
    )
    const fiber = yield* Effect.forkChild(outcome, { startImmediately: true })
    yield* TestClock.adjust(within)
    const { passed, result } = yield* Fiber.join(fiber)
    const { calls } = yield* ScriptedModel.ScriptedModel
    return { passed, result, calls: yield* calls, status: yield* built.status("t"), built }
  }).pipe(
    Effect.provide(Layer.merge(Runtime.layer, Models.layer({ clerk: steps })))
  )

const shown: ReadonlyArray<readonly [Duration.Input, string]> = [
  ["61 seconds", "61 seconds"],
  ["119 seconds", "119 seconds"],
  ["2 minutes", "2 minutes"],
  ["89 minutes", "89 minutes"],
  ["24 hours", "24 hours"],
  ["25 hours", "25 hours"],
  ["30 days", "30 days"],
  [Number.MAX_SAFE_INTEGER, "more than 10 years"]
]

describe("F13: a provider that asks to wait", () => {
  for (const reason of ["rate-limited", "overloaded", "network", "invalid-response"] as const) {
    for (const [retryAfter, words] of shown) {
      it.effect(`F13: ${words} after ${reason} fails the run at once, with the time`, () =>
        Effect.gen(function*() {
          const { calls, passed, result, status } = yield* ask(clerk, [Step.fail(reason, { retryAfter })])

          assert.strictEqual(passed, 0)
          assert.strictEqual(calls, 1)
          assert.strictEqual(result._tag, "Failure")
          if (result._tag !== "Failure") return
          const expected = { _tag: "ModelFailed" as const, reason, retryAfterMillis: Duration.toMillis(retryAfter) }
          assert.deepInclude(result.failure.reason, expected)
          assert.include(
            result.failure.message,
            `the provider asks to wait ${words}. Recover the thread "t" after that time, or cancel its run`
          )
          assert.strictEqual(status.status._tag, "Failed")
          if (status.status._tag === "Failed") assert.deepInclude(status.status.reason, expected)
        }))
    }
  }

  it.effect("F13: 60 seconds is waited by default, and a millisecond more is not", () =>
    Effect.gen(function*() {
      const longest = yield* ask(clerk, [Step.fail("rate-limited", { retryAfter: 60_000 }), done])
      const longer = yield* ask(clerk, [Step.fail("rate-limited", { retryAfter: 60_001 })])

      assert.deepStrictEqual([longest.passed, longest.calls, longest.result._tag], [60_000, 2, "Success"])
      assert.deepStrictEqual([longer.passed, longer.calls, longer.result._tag], [0, 1, "Failure"])
    }))

  it.effect("F13: the longest wait is set by agent, from never to any", () =>
    Effect.gen(function*() {
      const never = yield* ask(clerk.withMaxRetryAfter(0), [Step.fail("rate-limited", { retryAfter: 1 })])
      const unasked = yield* ask(clerk.withMaxRetryAfter(0), [Step.fail("rate-limited"), done])
      const hour = yield* ask(
        clerk.withMaxRetryAfter("1 hour"),
        [Step.fail("rate-limited", { retryAfter: 3_600_000 }), done],
        "2 hours"
      )
      const any = yield* ask(
        clerk.withMaxRetryAfter(Infinity),
        [Step.fail("rate-limited", { retryAfter: "3 hours" }), done],
        "4 hours"
      )

      assert.deepStrictEqual([never.result._tag, unasked.result._tag], ["Failure", "Success"])
      assert.deepStrictEqual([hour.passed, hour.result._tag], [3_600_000, "Success"])
      assert.deepStrictEqual([any.passed, any.result._tag], [3 * 3_600_000, "Success"])
    }))

  it.effect("F13: a long wait on a later attempt fails the run there", () =>
    Effect.gen(function*() {
      const built = yield* clerk.withRetry(Schedule.recurs(5)).build()
      const error = yield* Effect.flip(built.run("Go"))

      assert.deepInclude(error.reason, { _tag: "ModelFailed", retryAfterMillis: 90_000 })
      assert.strictEqual(yield* Effect.flatMap(ScriptedModel.ScriptedModel, ({ calls }) => calls), 2)
    }).pipe(Effect.provide(Layer.merge(
      Runtime.layer,
      Models.layer({ clerk: [Step.fail("network"), Step.fail("overloaded", { retryAfter: 90_000 })] })
    ))))

  it.effect("F13: a child's long wait reaches its parent at once, which goes on", () =>
    Effect.gen(function*() {
      const lead = yield* AgentBuilder.make("lead").withSubagents([scribe]).build()
      const { status } = yield* lead.run("Go")

      assert.deepInclude(status, { _tag: "Completed", answer: "without" })
    }).pipe(Effect.provide(Layer.merge(
      Runtime.layer,
      Models.layer({
        lead: [Step.taskOf(scribe, { description: "Two lines" }), Step.text("without")],
        scribe: [Step.fail("rate-limited", { retryAfter: "1 day" })]
      })
    ))))

  for (const maxRetryAfter of [-1, Number.NaN, "soon", null, Duration.seconds(-5)]) {
    it.effect(`F13: ${String(maxRetryAfter)} is refused as a longest wait when the agent is built`, () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(clerk.withMaxRetryAfter(maxRetryAfter as Duration.Input).build())

        assert.deepStrictEqual(error.problems.map(({ kind }) => kind), ["InvalidSetting"])
        assert.include(error.message, "maxRetryAfter must be a duration of zero or more")
      }).pipe(Effect.provide(Layer.merge(Runtime.layer, Models.layer({ clerk: [] })))))
  }

  for (const backing of backings) {
    it.effect(`F13: another process reads the wait, and recovers the run after it, on ${backing.name}`, () =>
      Effect.gen(function*() {
        const store = yield* backing.make
        const model = { clerk: [Step.again(Step.fail("rate-limited", { retryAfter: "24 hours" }), done)] }
        const { next } = yield* Waiting.processes(store, model)
        const started = yield* next(
          Effect.flatMap(clerk.build(), (agent) => Effect.flip(agent.run("Go", { threadId: "t" })))
        )

        const seen = yield* next(Effect.flatMap(clerk.build(), (agent) => agent.status("t")))
        const { status } = yield* next(Effect.flatMap(clerk.build(), (agent) => agent.recover("t")))

        const expected = { _tag: "ModelFailed", reason: "rate-limited", retryAfterMillis: 86_400_000 } as const
        assert.deepInclude(started.reason, expected)
        assert.strictEqual(seen.status._tag, "Failed")
        if (seen.status._tag === "Failed") assert.deepInclude(seen.status.reason, expected)
        assert.deepStrictEqual(status, { _tag: "Completed", answer: "done" })
      }))
  }
})
