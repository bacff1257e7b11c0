import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, type RunEvent, ToolContext, TypedAgent } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Fiber, Schema, Stream } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { TestClock } from "effect/testing"
import * as Trees from "../support/Trees.ts"

const Note = Tool.make("note", { success: Schema.String })
const Dig = Tool.make("dig", {
  parameters: Schema.Struct({ how: Schema.String }),
  success: Schema.String,
  failure: Schema.String
})

const ofParent = ["M1", "M2", "M3"]
// In the child's instructions, tool results, words, calls, thoughts, refused reports and failures.
const ofChild = ["M4", "M5", "M6", "M7", "M8", "M9"]

const digger = TypedAgent.make("digger", {
  description: "Digs",
  input: Schema.Struct({ place: Schema.String }),
  report: Schema.Struct({ depth: Schema.Number })
})
  .withInstructions("M4 is how you dig.")
  .withMaxSteps(3)
  .withTools(Toolkit.make(Dig), {
    dig: ({ how }) => {
      switch (how) {
        case "fails":
          return Effect.fail("M5 is what went wrong")
        case "dies":
          return Effect.die(new Error("M5 is a bug"))
        case "stops":
          return ToolContext.fatal("M5 is what stops it")
        default:
          return Effect.succeed("M5 is what was found")
      }
    }
  })

const top = AgentBuilder.make("top")
  .withInstructions("M1 is who you are.")
  .withTools(Toolkit.make(Note), { note: () => Effect.succeed("M3 is what the note says") })
  .withSubagents([digger])
  .withChildFailure({ toolFatal: "tool-error" })

const dig = (how: string): Step.Step =>
  Step.parts(
    [
      { type: "reasoning", text: "M7 is what I think" },
      { type: "text", text: "M6 is what I say first" },
      Step.call("dig", { how }),
      Step.call("dig", { how: "M8" })
    ],
    "tool-calls"
  )

const digging = dig("works")

// How the child ends, and what its parent hears of it.
const endings: ReadonlyArray<{ readonly how: string; readonly steps: Script.Steps; readonly heard: unknown }> = [
  { how: "reports", steps: [digging, Step.report({ depth: 3 })], heard: { report: { depth: 3 } } },
  {
    how: "reports after its tools failed",
    steps: [dig("fails"), dig("dies"), Step.report({ depth: 3 })],
    heard: { report: { depth: 3 } }
  },
  {
    how: "fails by its model",
    steps: [digging, Step.fail("authentication", { detail: "M9 is the reason", status: 401 })],
    heard: { error: { reason: "ModelFailed", message: "The subagent's model failed: authentication" } }
  },
  {
    how: "is stopped by a tool",
    steps: [dig("stops")],
    heard: { error: { reason: "ToolFatal", message: "The subagent was stopped by its tool \"dig\"" } }
  },
  {
    how: "is blocked",
    steps: [digging, Step.contentFilter("M9 is what I must not say")],
    heard: { error: { reason: "Blocked", message: "The subagent was blocked by provider: content-filter" } }
  },
  {
    how: "gives no valid report",
    steps: [digging, Step.report({ depth: "M9", M9: "M9" }), Step.text("M9 is no report")],
    heard: { error: { reason: "InvalidReport", message: "The subagent gave no valid report: no report was submitted" } }
  },
  {
    how: "gives reports of the wrong shape",
    steps: [digging, Step.report({ depth: "M9 as text", M9: "M9" }), Step.report({ depth: "M9 again" })],
    heard: undefined
  },
  {
    how: "runs out of steps",
    steps: [digging, digging, digging],
    heard: {
      error: {
        reason: "StepLimitReached",
        message: "The subagent reached its limit of 3 steps without a report"
      }
    }
  }
]

const holdsNone = (what: string, value: unknown, markers: ReadonlyArray<string>) => {
  const text = JSON.stringify(value)
  for (const marker of markers) assert.notInclude(text, marker, what)
}

const delegate = (last: string): Script.Steps => [
  Step.calls("on it", Step.call("note"), Step.taskOf(digger, { place: "here" })),
  Step.taskOf(digger, { place: "there" }),
  Step.text(last)
]

describe("C24 What crosses between parent and child", () => {
  for (const { heard, how, steps } of endings) {
    it.effect(`C24 nothing passes between parent and child but input and outcome, when the child ${how}`, () =>
      Effect.gen(function*() {
        const agent = yield* top.build()
        const model = yield* ScriptedModel.ScriptedModel
        const seen: Array<RunEvent.RunEvent> = []
        yield* agent.run("M2 is what I said first.", { threadId: "t" })
        const running = yield* Effect.forkChild(
          Stream.runForEach(
            agent.stream("Go on.", { threadId: "t" }),
            (event) => Effect.sync(() => event._tag === "RunFinished" ? undefined : seen.push(event))
          ),
          { startImmediately: true }
        )
        yield* TestClock.adjust("1 minute")
        yield* Fiber.join(running)

        const first = (yield* model.requestsOf("digger")).filter(({ call }) => call.step === 0)
        assert.lengthOf(first, 4)
        for (const [index, { request }] of first.entries()) {
          const place = index % 2 === 0 ? "here" : "there"
          assert.deepStrictEqual<unknown>(request.messages, [
            { role: "system", content: "M4 is how you dig." },
            { role: "user", content: [{ type: "text", text: `Task for digger:\n{"place":"${place}"}` }] }
          ])
          assert.deepStrictEqual(request.tools.map(({ name }) => name), ["dig", "submit_report"])
        }
        for (const { request } of yield* model.requestsOf("digger")) holdsNone("child's request", request, ofParent)

        const requests = yield* model.requestsOf("top")
        assert.lengthOf(requests, 6)
        for (const { request } of requests) holdsNone("parent's request", request, ofChild)
        if (heard !== undefined) assert.deepStrictEqual(Trees.outputs(requests[5]!.request), [heard])

        const rows = (yield* Trees.stored("t")).filter(({ row }) => row.parentRunId === null)
        assert.lengthOf(rows, 2)
        holdsNone("parent's rows", rows, ofChild)
        holdsNone("history", yield* agent.history("t"), ofChild)
        const durable = yield* Trees.durableEvents("t")
        holdsNone("durable events", durable, [...ofParent, ...ofChild])
        holdsNone("parent's events", seen.filter((event) => "depth" in event && event.depth === 0), ofChild)
        holdsNone("child's events", seen.filter((event) => "depth" in event && event.depth === 1), ofParent)
        assert.include(JSON.stringify(seen), "M5", "the child's events are there to be seen")
        yield* Trees.noViolations
      }).pipe(Effect.provide(Trees.runtime({
        top: Script.runs(delegate("first"), delegate("second")),
        digger: Script.each(steps)
      }))))
  }

  it.effect("C24 the parent's checkpoint holds nothing of the child while the run is open", () =>
    Effect.gen(function*() {
      const agent = yield* top.build()
      const model = yield* ScriptedModel.ScriptedModel
      yield* agent.start("M2", { threadId: "t" })
      yield* model.awaitCalls(4)

      const [parent, child] = yield* Trees.stored("t")
      assert.strictEqual(parent!.row.state, "Running")
      assert.isAbove(parent!.records.length, 1)
      holdsNone("parent's checkpoint", parent, ofChild)
      holdsNone("child's checkpoint", child, ofParent)
      yield* agent.cancel("t")
    }).pipe(Effect.provide(Trees.runtime({
      top: [Step.calls(Step.call("note"), Step.taskOf(digger, { place: "here" })), Step.hang()],
      digger: [digging, Step.report({ depth: 3 })]
    }))))

  it.effect("C24 neither model gets the settings of the other", () =>
    Effect.gen(function*() {
      const agent = yield* AgentBuilder.make("top").withModel("a", { temperature: 0.1, seed: 1 })
        .withSubagents([TypedAgent.text("helper", { description: "Helps" }).withModel("b", { temperature: 0.9 })])
        .build()
      yield* agent.run("Go", { threadId: "t" })

      const model = yield* ScriptedModel.ScriptedModel
      const settings = (yield* model.requests).map(({ call, request }) => [call.agentId, request.settings])
      assert.deepStrictEqual<unknown>(settings, [
        ["top", { temperature: 0.1, seed: 1 }],
        ["helper", { temperature: 0.9 }],
        ["top", { temperature: 0.1, seed: 1 }]
      ])
    }).pipe(Effect.provide(Trees.runtime({
      top: [Step.textTask("helper", "help"), Step.text("done")],
      helper: [Step.text("helped")]
    }))))
})
