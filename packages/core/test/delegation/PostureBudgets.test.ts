import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Answer, type Budget, DelegateRuntime, type Posture, TypedAgent, Utf8 } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Fiber } from "effect"
import { backings } from "../support/Backings.ts"
import * as PostureLives from "../support/PostureLives.ts"
import * as Postures from "../support/Postures.ts"
import * as Sessions from "../support/Sessions.ts"
import * as Trees from "../support/Trees.ts"

const { posture } = Postures

const paying = Script.each([Step.calls(Step.call("pay", { euros: 1 })), Step.text("paid")])

interface Case {
  readonly name: string
  readonly posture?: Pick<Posture.PostureInput, "budget" | "ceiling">
  readonly overrides?: Budget.Budget
  readonly resolved: object
}

const most = { maxTokens: 100, maxToolCalls: 10, timeout: "10 seconds" } as const
const mostMillis = { maxTokens: 100, maxToolCalls: 10, timeoutMillis: 10_000 }

const cases: ReadonlyArray<Case> = [
  { name: "no limit by default", resolved: {} },
  {
    name: "the posture's limits",
    posture: { budget: { maxTokens: 50, timeout: "1 second" } },
    resolved: { maxTokens: 50, timeoutMillis: 1000 }
  },
  { name: "the ceiling where the posture sets no limit", posture: { ceiling: most }, resolved: mostMillis },
  {
    name: "each limit of the call in the place of the posture's, and no other",
    posture: { budget: { maxTokens: 50, maxToolCalls: 5 } },
    overrides: { maxToolCalls: 7, timeout: 1500 },
    resolved: { maxTokens: 50, maxToolCalls: 7, timeoutMillis: 1500 }
  },
  {
    name: "a higher limit than the posture's where there is no ceiling",
    posture: { budget: { maxTokens: 50 } },
    overrides: { maxTokens: 5_000_000 },
    resolved: { maxTokens: 5_000_000 }
  },
  {
    name: "the ceiling itself",
    posture: { budget: { maxTokens: 50 }, ceiling: most },
    overrides: most,
    resolved: mostMillis
  },
  {
    name: "what is undefined in a call as absent",
    posture: { budget: { maxTokens: 50 } },
    overrides: { maxTokens: undefined } as never,
    resolved: { maxTokens: 50 }
  }
]

describe.each(backings)("the budgets of postures, in $name", ({ make, pass }) => {
  const play = Effect.fnUntraced(function*<A, E>(
    postures: ReadonlyArray<Posture.PostureInput>,
    scripts: Script.Scripts,
    effect: Effect.Effect<A, E, PostureLives.Services>
  ) {
    const recorded = Sessions.recording(yield* make)
    const model = yield* ScriptedModel.make(scripts)
    const value = yield* Effect.provide(effect, PostureLives.process(recorded.store, "process", model, postures))
    return { value, model, store: recorded.store, committed: recorded.committed }
  })

  it.effect.each(cases)("P4 are $name", ({ overrides, posture: limits, resolved }) =>
    Effect.gen(function*() {
      const { store, value } = yield* play(
        [posture("payer", limits)],
        { payer: Script.optional(paying) },
        DelegateRuntime.run({ posture: "payer", task: "Pay", ...(overrides === undefined ? {} : { overrides }) })
      )

      assert.strictEqual(value.status, "suspended")
      assert.deepStrictEqual(JSON.parse((yield* store.load("thread-1#0"))!.row.budget), resolved)
    }))

  it.effect("P4 are those of a model's call, in seconds", () =>
    Effect.gen(function*() {
      const set = { maxTokens: 40, maxToolCalls: 4, timeoutSeconds: 1.5 }
      const { store } = yield* play(
        [posture("payer", { budget: { maxTokens: 50, maxToolCalls: 5 }, ceiling: most })],
        {
          lead: [Step.calls(Step.call("delegate", { posture: "payer", task: "Pay", ...set }))],
          payer: Script.optional(paying)
        },
        Effect.flatMap(PostureLives.lead.build(), (agent) => agent.run("Go", { threadId: "t" }))
      )

      assert.deepStrictEqual(JSON.parse((yield* store.load("t#0/0.0#0"))!.row.budget), {
        maxTokens: 40,
        maxToolCalls: 4,
        timeoutMillis: 1500
      })
    }))

  it.effect("P4 count the tokens of attempts that failed", () =>
    Effect.gen(function*() {
      const { committed, value } = yield* play(
        [posture("flaky", { budget: { maxTokens: 20 } })],
        {
          flaky: [
            Step.fail("overloaded", { usage: { input: 6, output: 0 } }),
            Step.calls("One", Step.call("read"))
          ]
        },
        Effect.gen(function*() {
          const running = yield* Effect.forkChild(DelegateRuntime.run({ posture: "flaky", task: "Work" }), {
            startImmediately: true
          })
          yield* pass("1 minute")
          return yield* Fiber.join(running)
        })
      )

      assert.deepInclude(value, { status: "partial", result: "One", tokensUsed: 21, toolCallsUsed: 0 })
      assert.deepStrictEqual(Sessions.ends(committed), ["partial"])
    }))

  it.effect("P4 that end a posture with a report give no words in its place", () =>
    Effect.gen(function*() {
      const report = { type: "object", properties: { n: { type: "integer" } }, required: ["n"] } as const
      const { value } = yield* play(
        [posture("counter", { report, budget: { maxTokens: 14 } })],
        { counter: [Step.calls("One half", Step.call("read"))] },
        DelegateRuntime.run({ posture: "counter", task: "Count" })
      )

      assert.deepInclude(value, {
        status: "partial",
        result: undefined,
        error: { _tag: "BudgetExceeded", limit: "tokens" }
      })
    }))

  it.effect("P4 count a response that says nothing of its tokens by its bytes, marked as an estimate", () =>
    Effect.gen(function*() {
      const { committed, model, value } = yield* play(
        [posture("quiet", { budget: { maxTokens: 30 } })],
        { quiet: [Step.withoutUsage(Step.calls("Text", Step.call("read")))] },
        DelegateRuntime.run({ posture: "quiet", task: "Work" })
      )

      const [first] = yield* model.requests
      const thirds = (value: unknown) => Math.ceil(Utf8.byteLength(JSON.stringify(value)) / 3)
      const [called] = Trees.tagged(committed, "ModelCallCompleted")
      assert.strictEqual(called?.usage.estimated, true)
      assert.strictEqual(called?.usage.inputTokens, thirds([first!.request.messages, first!.request.tools]))
      assert.isAbove(called?.usage.outputTokens ?? 0, 0)
      assert.strictEqual(value.tokensUsed, (called?.usage.inputTokens ?? 0) + (called?.usage.outputTokens ?? 0))
      assert.strictEqual(value.status, "partial")
    }))

  it.effect("P4 count a delegate call as a tool call, and neither a report nor a call that did not run", () =>
    Effect.gen(function*() {
      const { model, value } = yield* play(
        [
          posture("lead", {
            allowedTools: ["delegate", "read"],
            report: { type: "object", properties: { n: { type: "integer" } }, required: ["n"] },
            budget: { maxToolCalls: 2 }
          }),
          posture("scout")
        ],
        {
          lead: [
            Step.calls(Step.call("delegate", { posture: "scout", task: "Look" }), Step.call("read")),
            Step.calls(Step.report({ n: 1 }), Step.call("read"), Step.call("read"))
          ],
          scout: [Step.text("seen")]
        },
        DelegateRuntime.run({ posture: "lead", task: "Work" })
      )

      assert.deepInclude(value, { status: "success", result: { n: 1 }, toolCallsUsed: 2, tokensUsed: 30 })
      assert.strictEqual(yield* model.calls, 3)
    }))

  it.effect("P4 count the time in which the run is worked on, and none in which it waits for a person", () =>
    Effect.gen(function*() {
      const { value } = yield* play(
        [posture("payer", { budget: { timeout: "5 seconds" } })],
        {
          payer: Script.each([
            Step.delay("3 seconds", Step.calls(Step.call("pay", { euros: 1 }))),
            Step.delay("1 second", Step.calls(Step.call("pay", { euros: 2 }))),
            Step.delay("2 seconds", Step.text("unused"))
          ])
        },
        Effect.gen(function*() {
          const { resume } = yield* DelegateRuntime.DelegateRuntime
          const within = <A, E>(effect: Effect.Effect<A, E>) =>
            Effect.gen(function*() {
              const running = yield* Effect.forkChild(effect, { startImmediately: true })
              yield* pass("10 seconds")
              return yield* Fiber.join(running)
            })
          const { run } = yield* DelegateRuntime.DelegateRuntime
          const first = yield* within(run({ posture: "payer", task: "Pay" }))
          yield* pass("1 hour")
          const second = yield* within(resume("thread-1", [Answer.approve("0.0:approval0")]))
          yield* pass("1 hour")
          return [first, second, yield* within(resume("thread-1", [Answer.approve("1.0:approval0")]))]
        })
      )

      assert.deepStrictEqual(value.map(({ status }) => status), ["suspended", "suspended", "timeout"])
      assert.deepStrictEqual(value.map(({ elapsed }) => elapsed), [3000, 1000, 1000])
    }))

  it.effect("P4 are kept to by an answer that takes them to the last token", () =>
    Effect.gen(function*() {
      const { value } = yield* play(
        [posture("scout", { budget: { maxTokens: 15 } })],
        { scout: [Step.text("seen")] },
        DelegateRuntime.run({ posture: "scout", task: "Look" })
      )

      assert.deepInclude(value, { status: "success", result: "seen", tokensUsed: 15 })
    }))

  it.effect("P4 that end a task or a delegated posture let no word of it through", () =>
    Effect.gen(function*() {
      const limits = { maxToolCalls: 1 }
      const clerk = TypedAgent.text("clerk", { description: "Writes" }).withCatalogTools(["read"]).withBudget(limits)
      const secret = Step.calls("A secret half", Step.call("read"), Step.call("read"))
      const { model, value } = yield* play(
        [posture("scout", { budget: limits })],
        {
          boss: [
            Step.calls(Step.textTask("clerk", "Go"), Step.call("delegate", { posture: "scout", task: "Go" })),
            Step.text("done")
          ],
          clerk: [secret],
          scout: [secret]
        },
        Effect.flatMap(
          AgentBuilder.make("boss").withPostures().withSubagents([clerk]).build(),
          (boss) => boss.run("Go", { threadId: "t" })
        )
      )

      assert.strictEqual(value.status._tag, "Completed")
      const [, after] = yield* model.requestsOf("boss")
      assert.deepStrictEqual(Trees.reasons(after!.request), ["BudgetExceeded", "BudgetExceeded"])
      assert.notInclude(JSON.stringify(after!.request), "secret")
    }))
})
