import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, ToolContext, TypedAgent } from "@mandate/core"
import { ScriptedModel, Step } from "@mandate/testing"
import { Effect, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Trees from "../support/Trees.ts"

const Charge = Tool.make("charge", { parameters: Schema.Struct({ euros: Schema.Number }), success: Schema.String })
const Brittle = Tool.make("brittle", { success: Schema.String })

// Tools that count how often they run. `brittle` ends the run the first time.
const tools = () => {
  const ran: Array<string> = []
  const handlers = {
    charge: ({ euros }: { readonly euros: number }) =>
      Effect.sync(() => {
        ran.push(`charge ${euros}`)
        return `charged ${euros}`
      }),
    brittle: () =>
      Effect.suspend(() => {
        ran.push("brittle")
        return ran.filter((name) => name === "brittle").length === 1
          ? ToolContext.fatal("broken")
          : Effect.succeed("fixed")
      })
  }
  return { ran, handlers, toolkit: Toolkit.make(Charge, Brittle) }
}

const charge = (euros: number) => Step.call("charge", { euros })

describe("a run that failed", () => {
  it.effect("is recovered from its last response: neither tools nor children run again", () => {
    const { handlers, ran, toolkit } = tools()
    const said = { status: 401, detail: "there is no such key" }
    return Effect.gen(function*() {
      const helper = TypedAgent.text("helper", { description: "Helps" }).withTools(toolkit, handlers)
      const agent = yield* AgentBuilder.make("top").withTools(toolkit, handlers).withSubagents([helper]).build()
      const { reason } = yield* Effect.flip(agent.run("Go", { threadId: "t" }))
      const failed = yield* agent.status("t")
      const result = yield* agent.recover("t")

      assert.deepInclude(reason, { _tag: "ModelFailed", reason: "authentication", ...said })
      assert.deepStrictEqual<unknown>(failed.status, { _tag: "Failed", reason })
      assert.deepStrictEqual(result.status, { _tag: "Completed", answer: "done" })
      assert.deepStrictEqual<unknown>([result.threadId, result.runId], ["t", "t#0"])
      assert.sameMembers(ran, ["charge 1", "charge 2"])
      const model = yield* ScriptedModel.ScriptedModel
      assert.lengthOf(yield* model.requestsOf("helper"), 2)
      const [, first, again] = yield* model.requestsOf("top")
      assert.deepStrictEqual(again!.request, first!.request)
      assert.lengthOf(yield* model.requestsOf("top"), 3)
      yield* Trees.noViolations
    }).pipe(Effect.provide(Trees.runtime({
      top: [
        Step.calls(charge(1), Step.textTask("helper", "help")),
        Step.again(Step.fail("authentication", said), Step.text("done"))
      ],
      helper: [charge(2), Step.text("helped")]
    })))
  })

  it.effect("can fail and be recovered any number of times", () =>
    Effect.gen(function*() {
      const agent = yield* AgentBuilder.make("top").build()
      const failures = [
        yield* Effect.flip(agent.run("Go", { threadId: "t" })),
        yield* Effect.flip(agent.recover("t")),
        yield* Effect.flip(agent.recover("t"))
      ]
      const result = yield* agent.recover("t")

      assert.deepStrictEqual(failures.map(({ reason }) => reason._tag), ["ModelFailed", "ModelFailed", "ModelFailed"])
      assert.deepStrictEqual(result.status, { _tag: "Completed", answer: "done" })
      const events = yield* Trees.durableEvents("t")
      assert.deepStrictEqual(events.map(({ _tag }) => _tag), [
        "RunStarted",
        ...[1, 2, 3].flatMap(() => ["RunFailed", "RunRecovered"]),
        "ModelCallCompleted",
        "RunSettled"
      ])
    }).pipe(Effect.provide(Trees.runtime({
      top: [Step.again(
        Step.fail("authentication"),
        Step.fail("quota-exceeded"),
        Step.fail("unsupported"),
        Step.text("done")
      )]
    }))))

  it.effect("by a tool runs that tool again, and not its finished siblings", () => {
    const { handlers, ran, toolkit } = tools()
    return Effect.gen(function*() {
      const agent = yield* AgentBuilder.make("top").withTools(toolkit, handlers).build()
      const { reason } = yield* Effect.flip(agent.run("Go", { threadId: "t" }))
      yield* agent.recover("t")

      assert.deepStrictEqual(reason, { _tag: "ToolFatal", threadId: "t", tool: "brittle", reason: "broken" })
      assert.deepStrictEqual(ran, ["charge 1", "brittle", "charge 2", "brittle"])
      const model = yield* ScriptedModel.ScriptedModel
      assert.deepStrictEqual(Trees.outputs((yield* model.requests)[1]!.request), ["charged 1", "fixed", "charged 2"])
    }).pipe(Effect.provide(Trees.runtime({
      top: [Step.calls(charge(1), Step.call("brittle"), charge(2)), Step.text("done")]
    })))
  })

  it.effect("is refused to an agent of another shape, which changes nothing", () => {
    const { handlers, toolkit } = tools()
    return Effect.gen(function*() {
      const builder = AgentBuilder.make("top").withInstructions("Old")
      const agent = yield* builder.build()
      yield* Effect.flip(agent.run("Go", { threadId: "t" }))
      const stored = yield* Trees.stored("t")
      const changed = yield* builder.withTools(toolkit, handlers).build()
      const { message, reason } = yield* Effect.flip(changed.recover("t"))

      assert.match(message, /is new; the tool "charge" is new\. Go on with that one, or cancel the run$/)
      assert.deepStrictEqual(reason, {
        _tag: "AgentChanged",
        threadId: "t",
        differences: ["the tool \"brittle\" is new", "the tool \"charge\" is new"]
      })
      assert.deepStrictEqual(yield* Trees.stored("t"), stored)
      const reworded = yield* builder.withInstructions("New").withMaxSteps(3).build()
      assert.strictEqual((yield* reworded.recover("t")).status._tag, "Completed")
    }).pipe(Effect.provide(Trees.runtime({ top: [Step.again(Step.fail("authentication"), Step.text("done"))] })))
  })
})

describe("a run that failed with its child", () => {
  const grandchild = TypedAgent.text("grandchild", { description: "Helps" })
  const child = TypedAgent.text("child", { description: "Works" })
  const failRun = { modelFailed: "fail-run", refused: "fail-run" } as const

  it.effect("drives the failed child again, from where it was", () => {
    const { handlers, ran, toolkit } = tools()
    return Effect.gen(function*() {
      const below = grandchild.withTools(toolkit, handlers)
      const worker = child.withTools(toolkit, handlers).withSubagents([below]).withChildFailure(failRun)
      const agent = yield* AgentBuilder.make("top")
        .withSubagents([worker], { maxDepth: 2 })
        .withChildFailure(failRun)
        .build()
      const { reason } = yield* Effect.flip(agent.run("Go", { threadId: "t" }))
      const ends = yield* Trees.ends("t")
      const result = yield* agent.recover("t")

      assert.deepStrictEqual<unknown>(reason, {
        _tag: "ChildFailed",
        threadId: "t",
        failure: { _tag: "ModelFailed", reason: "authentication" },
        path: ["child", "grandchild"]
      })
      assert.deepStrictEqual(ends, {
        "t#0": "Failed",
        "t#0/0.0#0": "Failed",
        "t#0/0.0#0/0.1#0": "Failed",
        "t#0/0.1#0": "Completed"
      })
      assert.deepStrictEqual(result.status, { _tag: "Completed", answer: "done" })
      assert.deepStrictEqual(ran, ["charge 1", "charge 2"])
      const model = yield* ScriptedModel.ScriptedModel
      const calls = (yield* model.requests).map(({ call }) => `${call.runId} ${call.step}`)
      assert.deepStrictEqual(calls.sort(), [
        "t#0 0",
        "t#0 1",
        "t#0/0.0#0 0",
        "t#0/0.0#0 1",
        "t#0/0.0#0/0.1#0 0",
        "t#0/0.0#0/0.1#0 1",
        "t#0/0.0#0/0.1#0 1",
        "t#0/0.1#0 0"
      ])
      yield* Trees.noViolations
    }).pipe(Effect.provide(Trees.runtime({
      top: [Step.calls(Step.textTask("child", "deep"), Step.textTask("child", "flat")), Step.text("done")],
      child: {
        _tag: "ByInput",
        choose: (input) =>
          input === "deep"
            ? [Step.calls(charge(1), Step.textTask("grandchild", "help")), Step.text("deep done")]
            : [Step.text("flat done")]
      },
      grandchild: [charge(2), Step.again(Step.fail("authentication"), Step.text("helped"))]
    })))
  })

  it.effect("gets the same failure of a settled child without asking its model, until it is cancelled", () =>
    Effect.gen(function*() {
      const agent = yield* AgentBuilder.make("top").withSubagents([child]).withChildFailure(failRun).build()
      const first = yield* Effect.flip(agent.run("Go", { threadId: "t" }))
      const second = yield* Effect.flip(agent.recover("t"))
      const model = yield* ScriptedModel.ScriptedModel
      const calls = yield* model.calls
      yield* agent.cancel("t")

      assert.deepStrictEqual<unknown>(first.reason, {
        _tag: "ChildFailed",
        threadId: "t",
        failure: { _tag: "Blocked", guardrail: "provider", reason: "content-filter" },
        path: ["child"]
      })
      assert.deepStrictEqual(second.reason, first.reason)
      assert.strictEqual(calls, 2)
      assert.deepStrictEqual(yield* Trees.ends("t"), { "t#0": "Cancelled", "t#0/0.0#0": "Blocked" })
    }).pipe(Effect.provide(Trees.runtime({ top: [Step.textTask("child", "go")], child: [Step.contentFilter()] }))))
})
