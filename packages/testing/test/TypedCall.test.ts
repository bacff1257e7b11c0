import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, TypedAgent } from "@mandate/core"
import { Step } from "@mandate/testing"
import { Schema } from "effect"

class Note extends Schema.Class<Note>("Note")({ text: Schema.String }) {}

const define = <I, O>(input: Schema.Codec<I, unknown>, report: Schema.Codec<O, unknown>) =>
  TypedAgent.make("scout", { description: "Looks", input, report })

const argumentsOf = (step: Step.Step) => typeof step !== "function" && step._tag === "Call" ? step.arguments : undefined

describe("TypedCall", () => {
  it("encodes inputs and reports by the subagent's schemas", () => {
    const scout = define(Schema.Struct({ at: Schema.Date }), Schema.Struct({ facts: Schema.Array(Schema.String) }))

    assert.deepInclude(Step.taskOf(scout, { at: new Date(0) }), {
      name: "task_scout",
      arguments: "{\"at\":\"1970-01-01T00:00:00.000Z\"}"
    })
    assert.deepInclude(Step.reportOf(scout, { facts: ["a"] }), {
      name: "submit_report",
      arguments: "{\"facts\":[\"a\"]}"
    })
  })

  it("wraps what is no object at its root, unions of objects too", () => {
    const union = Schema.Union([Schema.Struct({ a: Schema.Number }), Schema.Struct({ b: Schema.Number })])
    const scout = define(Schema.String, union)

    assert.strictEqual(argumentsOf(Step.taskOf(scout, "go")), "{\"value\":\"go\"}")
    assert.strictEqual(argumentsOf(Step.reportOf(scout, { b: 1 })), "{\"value\":{\"b\":1}}")
  })

  it("does not wrap a class", () => {
    assert.strictEqual(
      argumentsOf(Step.reportOf(define(Schema.String, Note), new Note({ text: "hi" }))),
      "{\"text\":\"hi\"}"
    )
  })

  it("speaks to text subagents as their parent's model does", () => {
    const scribe = TypedAgent.text("scribe", { description: "Writes" })

    assert.deepInclude(Step.taskOf(scribe, { description: "Write" }, { id: "x" }), {
      name: "task",
      arguments: "{\"subagent\":\"scribe\",\"description\":\"Write\"}",
      id: "x"
    })
    assert.deepStrictEqual(Step.reportOf(scribe, "Done."), Step.text("Done."))
  })

  it("answers for an agent as for a subagent, typed or in text", () => {
    const desk = AgentBuilder.make("desk")

    assert.deepStrictEqual(
      argumentsOf(Step.reportOf(desk.withOutput(Schema.Date), new Date(0))),
      "{\"value\":\"1970-01-01T00:00:00.000Z\"}"
    )
    assert.deepStrictEqual(Step.reportOf(desk, "Done."), Step.text("Done."))
  })

  it("delegates to postures", () => {
    assert.deepStrictEqual(
      Step.delegate({ posture: "reviewer", task: "Review", context: { path: "a.ts" }, timeoutSeconds: 5 }, { id: "x" }),
      Step.call("delegate", { posture: "reviewer", task: "Review", context: { path: "a.ts" }, timeoutSeconds: 5 }, {
        id: "x"
      })
    )
  })

  it("throws for a value that does not encode", () => {
    const scout = define(Schema.NonEmptyString, Schema.Number)
    assert.throws(() => Step.taskOf(scout, ""))
  })
})
