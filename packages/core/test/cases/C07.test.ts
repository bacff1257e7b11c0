import { assert, describe, it } from "@effect/vitest"
import { type Agent, AgentBuilder, Mandate, ToolContext, TypedAgent } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Fiber, Layer, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { TestClock } from "effect/testing"
import * as Models from "../support/Models.ts"
import * as Results from "../support/Results.ts"
import * as Runtime from "../support/Runtime.ts"

const Stop = Tool.make("stop", { success: Schema.String })
const helper = TypedAgent.text("helper", { description: "Answers one question" })
  .withTools(Toolkit.make(Stop), { stop: () => ToolContext.fatal("it cannot go on") })
const desk = AgentBuilder.make("desk").withSubagents([helper])
const strictDesk = desk.withChildFailure({ refused: "fail-run", modelFailed: "fail-run" })

const asked = Step.calls(Step.textTask("helper", "a"), Step.textTask("helper", "b"), Step.textTask("helper", "c"))

/** A answers after 10 ms, C after 50 ms, and B does what it is given. */
const layers = (b: Script.Steps) =>
  Layer.mergeAll(
    Runtime.layer,
    Models.layer({
      desk: Script.program((_, { step }) => step === 0 ? asked : Step.text("all in")),
      helper: Script.byInput((input) =>
        ({
          a: [Step.delay("10 millis", Step.text("A is done"))],
          b,
          c: [Step.delay("50 millis", Step.text("C is done"))]
        })[input]
      )
    })
  )

const running = (agent: Agent.Agent<string>) =>
  Effect.gen(function*() {
    const fiber = yield* Effect.forkChild(agent.run("Go", { threadId: "t" }), { startImmediately: true })
    yield* TestClock.adjust("100 millis")
    return yield* Fiber.join(fiber)
  })

const states = Effect.flatMap(
  Mandate.Mandate,
  ({ store }) =>
    Effect.forEach(
      ["0.0", "0.1", "0.2"],
      (key) => Effect.map(store.load(`t#0/${key}#0`), (loaded) => loaded?.row.state)
    )
)

const secondResults = Effect.map(
  Effect.flatMap(ScriptedModel.ScriptedModel, (model) => model.requestsOf("desk")),
  ([, second]) => Results.last(second?.request)
)

const failed = Step.delay("20 millis", Step.fail("authentication", { detail: "the key sk-123 is not known" }))

describe("C07 A child that fails takes nothing from its siblings", () => {
  for (const millis of [5, 20, 60]) {
    it.effect(`C07 a tool error of one child after ${millis} ms leaves the reports of its siblings, in call order`, () =>
      Effect.gen(function*() {
        const result = yield* running(yield* desk.build())

        const model = yield* ScriptedModel.ScriptedModel
        assert.strictEqual(result.status._tag, "Completed")
        assert.deepStrictEqual(yield* secondResults, [
          Results.reported("task", "A is done"),
          {
            name: "task",
            isError: true,
            value: { error: { reason: "ModelFailed", message: "The subagent's model failed: authentication" } }
          },
          Results.reported("task", "C is done")
        ])
        assert.deepStrictEqual(yield* model.interrupted, [])
        assert.deepStrictEqual(yield* states, ["Settled", "Settled", "Settled"])
      }).pipe(Effect.provide(layers([Step.delay(millis, Step.fail("authentication", { detail: "sk-123" }))]))))
  }

  const ends: ReadonlyArray<readonly [what: string, b: Script.Steps, state: "Failed" | "Settled", reason: object]> = [
    ["a model", [failed], "Failed", {
      _tag: "ChildFailed",
      failure: { _tag: "ModelFailed", reason: "authentication" },
      path: ["helper"]
    }],
    ["a refusal", [Step.contentFilter("No.")], "Settled", {
      _tag: "ChildFailed",
      failure: { _tag: "Blocked", guardrail: "provider", reason: "content-filter" },
      path: ["helper"]
    }],
    ["a fatal tool", [Step.call("stop")], "Failed", {
      _tag: "ChildFailed",
      failure: { _tag: "ToolFatal", tool: "stop" },
      path: ["helper"]
    }],
    ["a bug", [Step.defect(new Error("boom"))], "Failed", { _tag: "Defect", where: "the agent \"helper\"" }]
  ]
  for (const [what, b, state, reason] of ends) {
    it.effect(`C07 a child whose failure by ${what} fails the run is named alone, and its siblings end`, () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(running(yield* strictDesk.build()))

        const model = yield* ScriptedModel.ScriptedModel
        assert.deepStrictEqual({ ...error.reason }, { threadId: "t", ...reason } as never)
        assert.lengthOf(yield* model.requestsOf("desk"), 1)
        assert.deepStrictEqual(yield* model.interrupted, [])
        assert.deepStrictEqual(yield* states, ["Settled", state, "Settled"])
      }).pipe(Effect.provide(layers(b))))
  }

  it.effect("C07 a run that failed by one child keeps the reports of its siblings for its recovery", () =>
    Effect.gen(function*() {
      const agent = yield* strictDesk.build()
      yield* Effect.flip(running(agent))
      const result = yield* agent.recover("t")

      const model = yield* ScriptedModel.ScriptedModel
      assert.strictEqual(result.status._tag, "Completed")
      assert.deepStrictEqual(
        yield* secondResults,
        ["A is done", "B is done", "C is done"].map((report) => Results.reported("task", report))
      )
      assert.deepStrictEqual(
        (yield* model.requestsOf("helper")).map(({ call }) => call.runId),
        ["t#0/0.0#0", "t#0/0.1#0", "t#0/0.2#0", "t#0/0.1#0"]
      )
    }).pipe(Effect.provide(layers([Step.again(Step.fail("authentication"), Step.text("B is done"))]))))

  it.effect("C07 a child that is cancelled alone leaves its siblings running", () =>
    Effect.gen(function*() {
      const agent = yield* desk.build()
      const run = yield* Effect.forkChild(agent.run("Go", { threadId: "t" }), { startImmediately: true })
      yield* TestClock.adjust("20 millis")
      yield* agent.cancel("t", { child: "t#0/0.1" })
      yield* TestClock.adjust("50 millis")
      const result = yield* Fiber.join(run)

      const model = yield* ScriptedModel.ScriptedModel
      const [a, b, c] = yield* secondResults
      assert.strictEqual(result.status._tag, "Completed")
      assert.deepStrictEqual(a, Results.reported("task", "A is done"))
      assert.strictEqual(b && Results.reason(b), "Cancelled")
      assert.deepStrictEqual(c, Results.reported("task", "C is done"))
      assert.deepStrictEqual((yield* model.interrupted).map(({ runId }) => runId), ["t#0/0.1#0"])
    }).pipe(Effect.provide(layers([Step.hang()]))))
})
