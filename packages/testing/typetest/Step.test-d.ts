import { describe, expectTypeOf, it } from "@effect/vitest"
import { AgentBuilder, type ModelRequest, TypedAgent } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Schema } from "effect"

const scout = TypedAgent.make("scout", {
  description: "Looks",
  input: Schema.Struct({ topic: Schema.String }),
  report: Schema.Struct({ facts: Schema.Array(Schema.String) })
})

describe("Step", () => {
  it("types the functions of a script", () => {
    ScriptedModel.layer({
      clerk: [(request, call) => {
        expectTypeOf(request).toEqualTypeOf<ModelRequest.ModelRequest>()
        expectTypeOf(call).toEqualTypeOf<ModelRequest.ModelCall>()
        return Step.text("done")
      }],
      scout: Script.byInput((input) => {
        expectTypeOf(input).toEqualTypeOf<string>()
        return []
      })
    })
  })

  it("takes the input and the report of the subagent", () => {
    expectTypeOf(Step.taskOf(scout, { topic: "tides" })).toEqualTypeOf<Step.Call>()
    expectTypeOf(Step.reportOf(scout, { facts: [] })).toEqualTypeOf<Step.Answer | Step.Call>()
  })

  it("refuses another input and another report", () => {
    // @ts-expect-error Type 'number' is not assignable to type 'string'
    Step.taskOf(scout, { topic: 1 })
    // @ts-expect-error Object literal may only specify known properties
    Step.reportOf(scout, { fact: [] })
  })

  it("takes the answer of an agent, and the words of a posture's call", () => {
    const desk = AgentBuilder.make("desk").withSubagents([scout]).withOutput(Schema.Struct({ ok: Schema.Boolean }))

    expectTypeOf(Step.reportOf(desk, { ok: true })).toEqualTypeOf<Step.Answer | Step.Call>()
    // @ts-expect-error Type 'string' is not assignable to type 'boolean'
    Step.reportOf(desk, { ok: "yes" })
    // @ts-expect-error Object literal may only specify known properties
    Step.delegate({ posture: "reviewer", task: "Review", timeout: "1 minute" })
  })

  it("refuses what is no step", () => {
    // @ts-expect-error Type 'string' is not assignable to type 'Step'
    ScriptedModel.layer({ clerk: ["done"] })
  })
})
