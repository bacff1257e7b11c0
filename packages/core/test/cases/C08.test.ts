import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, type ChildFailure, Mandate, ToolContext, TypedAgent } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Layer, Schedule, Schema, Stream } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Models from "../support/Models.ts"
import * as Results from "../support/Results.ts"

const Look = Tool.make("look", { success: Schema.String })
const Abort = Tool.make("abort", { success: Schema.String })

const scout = TypedAgent.text("scout", { description: "Looks around" })
  .withTools(Toolkit.make(Look, Abort), {
    look: () => Effect.succeed("nothing yet"),
    abort: () => ToolContext.fatal("the licence number 4711 is revoked")
  })
  .withMaxSteps(3)
  .withRetry(Schedule.recurs(0))
const lead = AgentBuilder.make("lead").withSubagents([scout]).withMaxSteps(2)
const lenient = lead.withChildFailure({ toolFatal: "tool-error" })
const severe = lead.withChildFailure({ refused: "fail-run", modelFailed: "fail-run" })

interface Fault {
  readonly what: string
  readonly steps: Script.Steps
  readonly failure: ChildFailure.ChildFailure
  readonly calls: number
}

const faults: ReadonlyArray<Fault> = [
  {
    what: "a stream that breaks off in half a sentence",
    steps: [Step.streamError("The secret half of", "network")],
    failure: { _tag: "ModelFailed", reason: "network" },
    calls: 1
  },
  {
    what: "a stream that ends with no finish",
    steps: [Step.unfinished("The secret half of")],
    failure: { _tag: "ModelFailed", reason: "network" },
    calls: 1
  },
  {
    what: "the step limit of the child, reached while it still calls tools",
    steps: [Step.calls("secret", Step.call("look")), Step.call("look"), Step.calls("secret", Step.call("look"))],
    failure: { _tag: "StepLimitReached", maxSteps: 3 },
    calls: 3
  },
  {
    what: "a provider that fails before the first token",
    steps: [Step.fail("authentication", { detail: "the secret key" })],
    failure: { _tag: "ModelFailed", reason: "authentication" },
    calls: 1
  },
  {
    what: "a tool that is fatal",
    steps: [Step.calls("secret", Step.call("abort"))],
    failure: { _tag: "ToolFatal", tool: "abort" },
    calls: 1
  },
  {
    what: "answers that stay empty",
    steps: [Step.text(" "), Step.text("")],
    failure: { _tag: "InvalidReport", issues: ["the answer was empty"] },
    calls: 2
  }
]

const layers = (steps: Script.Steps) =>
  Layer.mergeAll(
    Mandate.layerMemory,
    Models.layer({
      lead: Script.program((_, { step }) => step === 0 ? Step.textTask("scout", "Look") : Step.text("Without it.")),
      scout: steps
    })
  )

describe("C08 A child that failed never counts as one that reported", () => {
  for (const { calls, failure, steps, what } of faults) {
    it.effect(`C08 ${what} is a ${failure._tag} to the parent's model and to whoever watches`, () =>
      Effect.gen(function*() {
        const agent = yield* lenient.build()
        const elements = yield* Stream.runCollect(agent.stream("Go", { threadId: "t" }))

        const model = yield* ScriptedModel.ScriptedModel
        const [, second] = yield* model.requestsOf("lead")
        const [result, ...others] = Results.last(second?.request)
        const settled = elements.flatMap((event) => event._tag === "TaskSettled" ? [event.failure] : [])
        const finished = elements.at(-1)
        assert.deepStrictEqual(settled, [failure])
        assert.strictEqual(result && Results.reason(result), failure._tag)
        assert.lengthOf(others, 0)
        assert.notInclude(JSON.stringify(second?.request.messages), "ecret")
        assert.notInclude(JSON.stringify(second?.request.messages), "4711")
        assert.deepStrictEqual(finished?._tag === "RunFinished" && { ...finished.result.status }, {
          _tag: "Completed",
          answer: "Without it."
        })
        assert.lengthOf(yield* model.requestsOf("scout"), calls)
      }).pipe(Effect.provide(layers(steps))))

    it.effect(`C08 ${what} fails the run by the same failure where the policy says so`, () =>
      Effect.gen(function*() {
        const agent = yield* severe.build()
        const error = yield* Effect.flip(Stream.runDrain(agent.stream("Go", { threadId: "t" })))

        assert.deepStrictEqual({ ...error.reason }, { _tag: "ChildFailed", threadId: "t", failure, path: ["scout"] })
        assert.lengthOf(yield* (yield* ScriptedModel.ScriptedModel).requestsOf("lead"), 1)
        assert.notInclude(error.message, "ecret")
        assert.notInclude(error.message, "4711")
      }).pipe(Effect.provide(layers(steps))))
  }

  it.effect("C08 a fatal tool fails the parent's run unless its policy says otherwise", () =>
    Effect.gen(function*() {
      const agent = yield* lead.build()
      const error = yield* Effect.flip(agent.run("Go", { threadId: "t" }))

      assert.strictEqual(error.reason._tag, "ChildFailed")
    }).pipe(Effect.provide(layers([Step.call("abort")]))))

  it.effect("C08 steps of the child count for the child alone", () =>
    Effect.gen(function*() {
      const agent = yield* lead.build()
      const result = yield* agent.run("Go", { threadId: "t" })

      const model = yield* ScriptedModel.ScriptedModel
      const [, second] = yield* model.requestsOf("lead")
      assert.deepStrictEqual(Results.last(second?.request), [Results.reported("task", "A hill.")])
      assert.strictEqual(result.status._tag, "Completed")
    }).pipe(Effect.provide(layers([Step.call("look"), Step.call("look"), Step.text("A hill.")]))))

  it.effect("C08 a child keeps a limit below the steps its parent may take", () =>
    Effect.gen(function*() {
      const agent = yield* lead.withMaxSteps(30).build()
      yield* agent.run("Go", { threadId: "t" })

      const model = yield* ScriptedModel.ScriptedModel
      const [, second] = yield* model.requestsOf("lead")
      const [result] = Results.last(second?.request)
      assert.strictEqual(result && Results.reason(result), "StepLimitReached")
      assert.lengthOf(yield* model.requestsOf("scout"), 3)
    }).pipe(Effect.provide(layers([Step.call("look"), Step.call("look"), Step.call("look")]))))
})
