import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Mandate, type Message, TypedAgent } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Layer, Schema } from "effect"
import * as Models from "../support/Models.ts"
import * as Results from "../support/Results.ts"
import { ways } from "../support/Ways.ts"

const sorry = "Sorry, I can't help with that."
const text = TypedAgent.text("writer", { description: "Writes" })
const typed = TypedAgent.make("counter", {
  description: "Counts",
  input: Schema.Struct({ what: Schema.String }),
  report: Schema.Struct({ count: Schema.Number })
})
const lead = AgentBuilder.make("lead").withSubagents([text, typed])

const blocked = { _tag: "Blocked", guardrail: "provider", reason: "content-filter" } as const
const json: Message.AssistantPart = { type: "text", text: "{\"count\":3}" }

/** Responses that the provider's filter stopped, whatever they hold. */
const refusals: ReadonlyArray<readonly [what: string, step: Step.Step]> = [
  ["an apology", Step.contentFilter(sorry)],
  ["nothing", Step.contentFilter()],
  ["blank text", Step.contentFilter("  ")],
  ["a whole answer in text", Step.parts([json], "content-filter")],
  ["a whole report", Step.parts([Step.report({ count: 3 })], "content-filter")]
]

const layers = (scripts: Script.Scripts) => Layer.mergeAll(Mandate.layerMemory, Models.layer(scripts))

describe("C09 Only the stop reason tells a refusal", () => {
  for (const [way, run] of ways) {
    for (const [what, step] of refusals) {
      it.effect(`C09 a text subagent whose filtered response holds ${what} is blocked at once (${way})`, () =>
        Effect.gen(function*() {
          const outcome = yield* run(yield* text.bind(), { description: "Write" })

          assert.strictEqual(outcome._tag, "NotReported")
          assert.deepStrictEqual(outcome._tag === "NotReported" && { ...outcome.failure }, blocked)
          assert.lengthOf(yield* (yield* ScriptedModel.ScriptedModel).requests, 1)
        }).pipe(Effect.provide(layers({ writer: [step] }))))

      it.effect(`C09 a typed subagent whose filtered response holds ${what} gave no invalid report (${way})`, () =>
        Effect.gen(function*() {
          const outcome = yield* run(yield* typed.bind(), { what: "boats" })

          assert.deepStrictEqual(outcome._tag === "NotReported" && { ...outcome.failure }, blocked)
          assert.lengthOf(yield* (yield* ScriptedModel.ScriptedModel).requests, 1)
        }).pipe(Effect.provide(layers({ counter: [step] }))))
    }

    it.effect(`C09 the words of a refusal under the reason "stop" are an ordinary report (${way})`, () =>
      Effect.gen(function*() {
        const outcome = yield* run(yield* text.bind(), { description: "Write" })

        assert.strictEqual(outcome._tag === "Reported" && outcome.report, sorry)
      }).pipe(Effect.provide(layers({ writer: [Step.text(sorry)] }))))
  }

  it.effect("C09 the parent's model reads that the child was blocked, never its words", () =>
    Effect.gen(function*() {
      const agent = yield* lead.build()
      const result = yield* agent.run("Go", { threadId: "t" })

      const model = yield* ScriptedModel.ScriptedModel
      const [, second] = yield* model.requestsOf("lead")
      assert.deepStrictEqual(Results.last(second?.request).map(Results.reason), ["Blocked", "Blocked"])
      assert.notInclude(JSON.stringify(second?.request.messages), "Sorry")
      assert.strictEqual(result.status._tag, "Completed")
      assert.strictEqual(yield* model.calls, 4)
    }).pipe(Effect.provide(layers({
      lead: [
        Step.calls(Step.taskOf(text, { description: "Write" }), Step.taskOf(typed, { what: "boats" })),
        Step.text("Neither.")
      ],
      writer: [Step.contentFilter(sorry)],
      counter: [Step.contentFilter(sorry)]
    }))))

  it.effect("C09 a refusal after work that went well is still no report", () =>
    Effect.gen(function*() {
      const outcome = yield* (yield* typed.bind()).run({ what: "boats" })

      assert.deepStrictEqual(outcome._tag === "NotReported" && { ...outcome.failure }, blocked)
    }).pipe(Effect.provide(layers({ counter: [Step.report({ count: "three" }), Step.contentFilter(sorry)] }))))

  it.effect("C09 a thread whose run was blocked holds nothing of it and takes the next message", () =>
    Effect.gen(function*() {
      const agent = yield* AgentBuilder.make("desk").build()
      yield* agent.run("first", { threadId: "t" })
      const second = yield* agent.run("second", { threadId: "t" })
      yield* agent.run("third", { threadId: "t" })

      const model = yield* ScriptedModel.ScriptedModel
      const requests = yield* model.requests
      assert.deepStrictEqual({ ...second.status }, blocked)
      assert.deepStrictEqual(
        requests.map(({ request }) => request.messages.map(({ role }) => role)),
        [["user"], ["user", "assistant", "user"], ["user", "assistant", "user"]]
      )
    }).pipe(Effect.provide(layers({
      desk: Script.runs([Step.text("one")], [Step.contentFilter(sorry)], [Step.text("three")])
    }))))
})
