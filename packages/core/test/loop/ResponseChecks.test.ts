import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, type Budget, Mandate } from "@mandate/core"
import { type Script, Step } from "@mandate/testing"
import { Effect, Layer, Ref, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Models from "../support/Models.ts"

const good = { city: "Turin", pop: 850 }
const bad = { city: "Turin" }
const Work = Tool.make("work", { parameters: Schema.Struct({ n: Schema.Number }), success: Schema.Number })
const work = (n: number) => Step.call("work", { n })

/** A typed agent with a tool that counts what runs. */
const clerk = Effect.gen(function*() {
  const ran = yield* Ref.make<ReadonlyArray<number>>([])
  const builder = AgentBuilder.make("clerk")
    .withOutput(Schema.Struct({ city: Schema.String, pop: Schema.Number }))
    .withTools(Toolkit.make(Work), { work: ({ n }) => Effect.as(Ref.update(ran, (all) => [...all, n]), n) })
  return { ran, builder }
})

const layers = (steps: Script.Steps) => Layer.mergeAll(Mandate.layerMemory, Models.layer({ clerk: steps }))

describe("Checks after a response, the first that applies ends the run", () => {
  const checks: ReadonlyArray<
    readonly [
      what: string,
      steps: Script.Steps,
      reasks: number,
      maxSteps: number,
      budget: Budget.Budget,
      status: object
    ]
  > = [
    ["a refusal comes before tokens", [Step.contentFilter()], 1, 9, { maxTokens: 14 }, {
      _tag: "Blocked",
      guardrail: "provider",
      reason: "content-filter"
    }],
    ["an answer comes before tokens", [Step.report(good)], 1, 9, { maxTokens: 14 }, {
      _tag: "Completed",
      answer: good
    }],
    [
      "an answer comes before tool calls",
      [Step.calls(work(1), work(2), Step.report(good))],
      1,
      9,
      { maxToolCalls: 1 },
      {
        _tag: "Completed",
        answer: good
      }
    ],
    ["an answer comes before steps", [Step.text(JSON.stringify(good))], 1, 1, {}, { _tag: "Completed", answer: good }],
    ["tokens come before tool calls", [Step.calls(work(1), work(2))], 1, 9, { maxTokens: 14, maxToolCalls: 1 }, {
      _tag: "BudgetExceeded",
      limit: "tokens"
    }],
    ["tokens come before steps", [work(1)], 1, 1, { maxTokens: 14 }, { _tag: "BudgetExceeded", limit: "tokens" }],
    ["tokens come before a re-ask", [Step.report(bad)], 1, 9, { maxTokens: 14 }, {
      _tag: "BudgetExceeded",
      limit: "tokens"
    }],
    ["tool calls come before steps", [Step.calls(work(1), work(2))], 1, 1, { maxToolCalls: 1 }, {
      _tag: "BudgetExceeded",
      limit: "toolCalls"
    }],
    ["calls of the last step do not run", [work(1)], 1, 1, {}, { _tag: "StepLimitReached", maxSteps: 1 }],
    ["a re-ask is a step", [Step.report(bad)], 1, 1, {}, { _tag: "StepLimitReached", maxSteps: 1 }],
    ["a limit that is just met ends nothing", [work(1), Step.report(good)], 1, 2, { maxTokens: 15, maxToolCalls: 1 }, {
      _tag: "Completed",
      answer: good
    }]
  ]
  for (const [what, steps, reasks, maxSteps, budget, expected] of checks) {
    it.effect(what, () =>
      Effect.gen(function*() {
        const { builder, ran } = yield* clerk
        const agent = yield* builder.withReasks(reasks).withMaxSteps(maxSteps).withBudget(budget).build()
        const { status } = yield* agent.run("Go")

        assert.deepStrictEqual({ ...status } as object, expected)
        assert.deepStrictEqual(yield* Ref.get(ran), steps.length > 1 ? [1] : [])
      }).pipe(Effect.provide(layers(steps))))
  }
})
