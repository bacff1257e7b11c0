import { assert, describe, it } from "@effect/vitest"
import { type Agent, AgentBuilder, type Budget, TypedAgent } from "@mandate/core"
import { Script, ScriptedModel, Step, StrictProvider } from "@mandate/testing"
import { Arbitrary, Effect, Fiber, Layer, Schedule, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { TestClock } from "effect/testing"
import { backings } from "../support/Backings.ts"
import * as Results from "../support/Results.ts"
import * as Runtime from "../support/Runtime.ts"
import * as Waiting from "../support/Waiting.ts"

const worker = TypedAgent.make("worker", {
  description: "Works for a while",
  input: Schema.Struct({ n: Schema.Number }),
  report: Schema.Struct({ text: Schema.String })
})
const Wait = Tool.make("wait", { parameters: Schema.Struct({ ms: Schema.Number }), success: Schema.String })
const lead = AgentBuilder.make("lead")
  .withSubagents([worker], { maxReportBytes: 512 })
  .withTools(Toolkit.make(Wait), { wait: ({ ms }) => Effect.as(Effect.sleep(ms), `${ms} ms`) })

/** Four children that settle in the order 4, 2, 1, 3: the third report is too large, the fourth child is refused. */
const work: { readonly [prompt: string]: Script.Steps } = {
  "Task for worker:\n{\"n\":1}": [Step.delay(30, Step.report({ text: "one" }))],
  "Task for worker:\n{\"n\":2}": [Step.delay(20, Step.report({ text: "two" }))],
  "Task for worker:\n{\"n\":3}": [Step.delay(40, Step.report({ text: "three".repeat(120) }))],
  "Task for worker:\n{\"n\":4}": [Step.delay(10, Step.contentFilter("No."))]
}
const four = Step.calls(...[1, 2, 3, 4].map((n) => Step.task("worker", { n })))

const layers = (scripts: Script.Scripts) =>
  Layer.mergeAll(
    Runtime.layer,
    StrictProvider.layer(ScriptedModel.layer({ worker: Script.byInput((prompt) => work[prompt]), ...scripts }))
  )

const violations = Effect.flatMap(StrictProvider.StrictProvider, (strict) => strict.violations)
const lastRequest = Effect.map(
  Effect.flatMap(ScriptedModel.ScriptedModel, (model) => model.requestsOf("lead")),
  (requests) => requests.at(-1)!.request
)
const begin = <O>(agent: Agent.Agent<O>) =>
  Effect.forkChild(agent.run("Go", { threadId: "t" }), { startImmediately: true })

/** What the model reads of the four calls when those that ended before `millis` have results. */
const outcomes = (millis: number) => [
  millis > 30 ? "one" : "not run",
  millis > 20 ? "two" : "not run",
  millis > 40 ? "ReportTooLarge" : "not run",
  millis > 10 ? "Blocked" : "not run"
]
const short = (seen: Results.Seen) =>
  Results.reason(seen) ??
    (seen.isError ? String(seen.value).slice(0, 7) : (seen.value as { readonly report: { text: string } }).report.text)

describe("C15 Every call has one result, in order, right after it", () => {
  it.effect("C15 results stand in call order, whatever the order in which the calls settled", () =>
    Effect.gen(function*() {
      const agent = yield* lead.build()
      const run = yield* begin(agent)
      yield* TestClock.adjust(50)
      const result = yield* Fiber.join(run)
      yield* agent.run("And now?", { threadId: "t" })

      const { messages } = yield* lastRequest
      assert.strictEqual(result.status._tag, "Completed")
      assert.deepStrictEqual(Results.all(messages).map(short), outcomes(50))
      assert.deepStrictEqual(Results.parts(messages).map(({ id }) => id), Results.callIds(messages))
      assert.deepStrictEqual(messages.map(({ role }) => role), ["user", "assistant", "tool", "assistant", "user"])
      assert.deepStrictEqual(yield* violations, [])
    }).pipe(Effect.provide(layers({ lead: Script.runs([four, Step.text("all in")], [Step.text("more")]) }))))

  it.effect("C15 calls of every kind have results, and text beside them stays", () =>
    Effect.gen(function*() {
      const agent = yield* lead.build()
      const run = yield* begin(agent)
      yield* TestClock.adjust(50)
      yield* Fiber.join(run)

      const { messages } = yield* lastRequest
      assert.deepStrictEqual(Results.all(messages).map((seen) => Results.reason(seen) ?? seen.isError), [
        false,
        "UnknownTool",
        "InvalidArguments",
        "InvalidInput",
        false,
        false,
        "InvalidArguments"
      ])
      assert.deepStrictEqual(messages.map(({ role }) => role), ["user", "assistant", "tool"])
      assert.include(JSON.stringify(messages[1]), "between")
      assert.deepStrictEqual(yield* violations, [])
    }).pipe(Effect.provide(layers({
      lead: [
        Step.calls(
          Step.call("wait", { ms: 9 }, { id: "" }),
          Step.call("nothing", {}, { id: "x" }),
          Step.rawCall("wait", "{not json", { id: "x" }),
          "between",
          Step.rawCall("task_worker", "[]", { id: "" }),
          Step.task("worker", { n: 2 }, { id: "x" }),
          Step.call("wait", { ms: 3 }),
          Step.rawCall("wait", "")
        ),
        Step.text("all in")
      ]
    }))))

  const limits: ReadonlyArray<readonly [what: string, steps: Script.Steps, budget: Budget.Budget, status: string]> = [
    ["the step limit", [four, four, four], {}, "StepLimitReached"],
    ["the token budget", [four], { maxTokens: 14 }, "BudgetExceeded"],
    ["the budget of tool calls", [four], { maxToolCalls: 3 }, "BudgetExceeded"],
    ["the time budget", [four], { timeout: 25 }, "BudgetExceeded"],
    [
      "a response that is cut in its calls",
      [Step.cut("Let me", Step.call("wait", { ms: 1 })), Step.cut(Step.call("wait"))],
      {},
      "InvalidReport"
    ],
    ["a refusal", [four, Step.contentFilter("No.")], {}, "Blocked"],
    ["an empty answer", [Step.parts([], "stop"), Step.text("Now then.")], {}, "Completed"],
    ["empty answers to the end", [Step.text(""), Step.text(" ")], {}, "InvalidReport"]
  ]
  for (const [what, steps, budget, status] of limits) {
    it.effect(`C15 after ${what} the thread takes the next message`, () =>
      Effect.gen(function*() {
        const agent = yield* lead.withMaxSteps(3).withBudget(budget).build()
        const run = yield* begin(agent)
        for (let times = 0; times < 3; times++) yield* TestClock.adjust(50)
        const first = yield* Fiber.join(run)
        const second = yield* agent.run("And now?", { threadId: "t", budget: { maxTokens: 99, maxToolCalls: 9 } })

        const { messages } = yield* lastRequest
        assert.strictEqual(first.status._tag, status)
        assert.strictEqual(second.status._tag, "Completed")
        assert.deepStrictEqual(Results.parts(messages).map(({ id }) => id), Results.callIds(messages))
        assert.deepStrictEqual(yield* violations, [])
      }).pipe(Effect.provide(layers({ lead: Script.runs(steps, [Step.text("more")]) }))))
  }

  it.effect("C15 a run that failed and was cancelled leaves a thread that takes the next message", () =>
    Effect.gen(function*() {
      const agent = yield* lead.withRetry(Schedule.recurs(0)).build()
      const run = yield* begin(agent)
      yield* TestClock.adjust(50)
      const error = yield* Effect.flip(Fiber.join(run))
      yield* agent.cancel("t")
      yield* agent.run("And now?", { threadId: "t" })

      const { messages } = yield* lastRequest
      assert.strictEqual(error.reason._tag, "ModelFailed")
      assert.deepStrictEqual(Results.all(messages).map(short), outcomes(50))
      assert.deepStrictEqual(messages.map(({ role }) => role), ["user", "assistant", "tool", "user"])
      assert.deepStrictEqual(yield* violations, [])
    }).pipe(Effect.provide(layers({ lead: Script.runs([four, Step.fail("overloaded")], [Step.text("more")]) }))))

  const millis = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 40 }))
  const batches = { waits: Arbitrary.array(Arbitrary.schema(millis), { minLength: 1, maxLength: 6 }), cancelAt: millis }
  it.effect.prop("C15 no batch and no moment of a cancel leaves a call without its one result", batches, (
    { cancelAt, waits }
  ) =>
    Effect.gen(function*() {
      const agent = yield* lead.build()
      const run = yield* begin(agent)
      yield* TestClock.adjust(cancelAt)
      yield* agent.cancel("t")
      yield* Fiber.join(run)
      yield* agent.run("And now?", { threadId: "t" })

      const { messages } = yield* lastRequest
      const seen = Results.all(messages).map(({ value }) => String(value).replace(/:.*/, ""))
      assert.lengthOf(seen, waits.length)
      waits.forEach((ms, index) => {
        if (ms !== cancelAt) assert.strictEqual(seen[index], ms < cancelAt ? `${ms} ms` : "not run")
      })
      assert.deepStrictEqual(yield* violations, [])
    }).pipe(Effect.provide(layers({
      lead: Script.optional(Script.runs(
        [Step.calls(...waits.map((ms) => Step.call("wait", { ms }))), Step.text("all in")],
        [Step.text("more")]
      ))
    }))))
})

describe.each(backings)("C15 A batch that ends before all its calls have, in $name", ({ pass, place }) => {
  const batch: Script.Scripts = {
    worker: Script.byInput((prompt) => work[prompt]),
    lead: Script.runs([four, Step.text("all in")], [Step.text("more")])
  }

  for (const millis of [5, 15, 25, 35]) {
    for (const how of ["cancel", "interrupt"]) {
      it.effect(`C15 after a ${how} at ${millis} ms the next message finds a result for every call`, () =>
        Effect.gen(function*() {
          const { model, next } = yield* Waiting.processes(yield* place, {
            ...batch,
            lead: Script.runs([four], [Step.text("more")])
          })
          yield* next(Effect.gen(function*() {
            const agent = yield* lead.build()
            const run = yield* begin(agent)
            yield* pass(millis)
            yield* how === "cancel" ? agent.cancel("t") : Fiber.interrupt(run)
          }))
          const result = yield* next(
            Effect.flatMap(lead.build(), (agent) => agent.run("And now?", { threadId: "t" }))
          )

          const { messages } = (yield* model.requestsOf("lead")).at(-1)!.request
          assert.deepStrictEqual(result.status, { _tag: "Completed", answer: "more" })
          assert.deepStrictEqual(Results.all(messages).map(short), outcomes(millis))
          assert.deepStrictEqual(messages.map(({ role }) => role), ["user", "assistant", "tool", "user"])
        }))
    }

    it.effect(`C15 after a crash at ${millis} ms the batch goes on, and its results stand in call order`, () =>
      Effect.gen(function*() {
        const { die, model, next } = yield* Waiting.processes(yield* place, batch)
        yield* die(Effect.gen(function*() {
          const agent = yield* lead.build()
          yield* agent.start("Go", { threadId: "t" })
          yield* pass(millis)
        }))
        const recovered = yield* next(Effect.gen(function*() {
          const agent = yield* lead.build()
          const recovering = yield* Effect.forkChild(agent.recover("t"), { startImmediately: true })
          yield* pass("1 minute")
          return yield* Fiber.join(recovering)
        }))
        yield* next(Effect.flatMap(lead.build(), (agent) => agent.run("And now?", { threadId: "t" })))

        assert.deepStrictEqual({ ...recovered.status }, { _tag: "Completed", answer: "all in" })
        const requests = (yield* model.requestsOf("lead")).map(({ request }) => request)
        assert.lengthOf(requests, 3)
        for (const { messages } of requests.slice(1)) {
          assert.deepStrictEqual(Results.all(messages).map(short), outcomes(50))
          assert.deepStrictEqual(Results.parts(messages).map(({ id }) => id), Results.callIds(messages))
        }
        const asked = (yield* model.requestsOf("worker")).map(({ call }) => call.call?.key)
        assert.deepStrictEqual(
          ["0.0", "0.1", "0.2", "0.3"].map((key) => asked.filter((other) => other === key).length),
          outcomes(millis).map((outcome) => outcome === "not run" ? 2 : 1)
        )
      }))
  }
})
