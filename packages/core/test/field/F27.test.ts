import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Answer, type RunResult, TypedAgent } from "@mandate/core"
import { Script, Step } from "@mandate/testing"
import { Effect, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { type Backing, backings } from "../support/Backings.ts"
import * as Results from "../support/Results.ts"
import * as Waiting from "../support/Waiting.ts"
import { ways } from "../support/Ways.ts"

const Look = Tool.make("look", { parameters: Schema.Record(Schema.String, Schema.Json), success: Schema.String })

const clerkOf = (ran: Array<unknown>, maxRepeats?: number) => {
  const clerk = AgentBuilder.make("clerk").withTools(Toolkit.make(Look), {
    look: (args) => Effect.as(Effect.sync(() => ran.push(args)), "nothing yet")
  })
  return maxRepeats === undefined ? clerk : clerk.withMaxRepeats(maxRepeats)
}

const look = (args: object = {}) => Step.call("look", args as never)

/** What comes of a run of these steps. */
const run = Effect.fnUntraced(function*(backing: Backing, steps: Script.Steps, maxRepeats?: number, way = ways[0]![1]) {
  const ran: Array<unknown> = []
  const { model, next } = yield* Waiting.processes(yield* backing.place, {
    clerk: Script.runs(steps, [Step.text("hi")])
  })
  const agent = clerkOf(ran, maxRepeats).build()
  const { status } = (yield* next(
    Effect.flatMap(agent, (agent) => way(agent, "Go", "t"))
  )) as RunResult.RunResult<string>
  const [settled] = yield* next(Effect.flatMap(agent, (agent) => agent.history("t")))
  const second = yield* next(Effect.flatMap(agent, (agent) => agent.run("And now?", { threadId: "t" })))
  const requests = yield* model.requestsOf("clerk")
  assert.strictEqual(second.status._tag, "Completed")
  return {
    status,
    ran: ran.length,
    responses: requests.length - 1,
    results: Results.all(settled?.messages ?? []).map((seen) => Results.reason(seen) ?? String(seen.value))
  }
})

const many = (step: Step.Step, count: number) => Array.from({ length: count }, () => step)
const stuck = { _tag: "StepLimitReached", maxSteps: 32, repeated: "look" } as const
const notRun = "not run: a call was repeated more often than is allowed"
const gave = (count: number): ReadonlyArray<string> => Array.from({ length: count }, () => "nothing yet")

describe.each(backings)("F27 A call that is repeated, in $name", (backing) => {
  it.effect("F27 goes on to the step limit where there is no bound", () =>
    Effect.gen(function*() {
      const { ran, status } = yield* run(backing, many(look(), 32))

      assert.deepStrictEqual(status, { _tag: "StepLimitReached", maxSteps: 32 })
      assert.strictEqual(ran, 31)
    }))

  it.effect.each(ways.flatMap(([what, way]) => [1, 2, 5].map((bound) => ({ what, way, bound }))))(
    "F27 runs $bound times, is an error once, and then ends the run ($what)",
    ({ bound, way }) =>
      Effect.gen(function*() {
        const { ran, responses, results, status } = yield* run(backing, many(look({ a: 1 }), bound + 2), bound, way)

        assert.deepStrictEqual(status, stuck)
        assert.strictEqual(ran, bound)
        assert.strictEqual(responses, bound + 2)
        assert.deepStrictEqual(results, [...gave(bound), "RepeatedCall", notRun])
      })
  )

  it.effect("F27 is the same call whatever the order of its keys, its blanks and its id", () =>
    Effect.gen(function*() {
      const { results, status } = yield* run(backing, [
        Step.calls(Step.rawCall("look", "{\"a\":1,\"b\":[2]}", { id: "x" })),
        Step.calls(Step.rawCall("look", " { \"b\": [ 2.0 ], \"a\": 1e0 } ")),
        Step.calls("Once more", Step.rawCall("look", "{\"b\":[2],\"\\u0061\":1}"))
      ], 1)

      assert.deepStrictEqual(status, stuck)
      assert.deepStrictEqual(results, [...gave(1), "RepeatedCall", notRun])
    }))

  it.effect("F27 is counted with other calls in between, and beside it", () =>
    Effect.gen(function*() {
      const { results, status } = yield* run(backing, [
        Step.calls(look({ a: 1 }), look({ a: 2 })),
        Step.calls(look({ a: 3 }), look({ a: 1 })),
        Step.calls(look({ a: 1 }), look({ a: 4 })),
        look({ a: 2 }),
        Step.calls(look({ a: 5 }), look({ a: 1 }))
      ], 2)

      assert.deepStrictEqual(status, stuck)
      assert.deepStrictEqual(results, [...gave(4), "RepeatedCall", ...gave(2), notRun, notRun])
    }))

  it.effect("F27 is an error as often as one response makes it, before any response ends the run", () =>
    Effect.gen(function*() {
      const { results, status } = yield* run(backing, [
        Step.calls(...Array.from({ length: 5 }, () => look())),
        Step.text("I see.")
      ], 2)

      assert.deepStrictEqual(status, { _tag: "Completed", answer: "I see." })
      assert.deepStrictEqual(results, [...gave(2), "RepeatedCall", "RepeatedCall", "RepeatedCall"])
    }))

  it.effect("F27 is another call with other arguments, and of another tool", () =>
    Effect.gen(function*() {
      const { ran, status } = yield* run(backing, [
        ...Array.from({ length: 10 }, (_, n) => look({ n })),
        Step.call("peek", { n: 1 }),
        Step.text("done")
      ], 1)

      assert.deepStrictEqual(status, { _tag: "Completed", answer: "done" })
      assert.strictEqual(ran, 10)
    }))

  it.effect("F27 is counted of tools that there are not, and of arguments that are not JSON", () =>
    Effect.gen(function*() {
      const unknown = yield* run(backing, many(Step.call("peek", { n: 1 }), 3), 1)
      const broken = yield* run(backing, many(Step.calls(Step.rawCall("look", "{no")), 3), 1)

      assert.deepStrictEqual(unknown.status, { ...stuck, repeated: "peek" })
      assert.deepStrictEqual(unknown.results, ["UnknownTool", "RepeatedCall", notRun])
      assert.deepStrictEqual(broken.results, ["InvalidArguments", "RepeatedCall", notRun])
    }))

  it.effect("F27 asks no person, counts what the model wrote, and counts the same after a resume", () =>
    Effect.gen(function*() {
      const Pay = Waiting.gated("pay", { euros: Schema.Int })
      const paid: Array<number> = []
      const clerk = AgentBuilder.make("clerk").withMaxRepeats(2).withTools(Toolkit.make(Pay), {
        pay: ({ euros }) => Effect.sync(() => `paid ${paid.push(euros)}`)
      })
      const { next } = yield* Waiting.processes(yield* backing.place, {
        clerk: many(Step.call("pay", { euros: 1 }), 4)
      })
      const resume = (answer: Answer.Answer) =>
        next(Effect.flatMap(clerk.build(), (agent) => agent.resume("t", [answer])))
      yield* next(Effect.flatMap(clerk.build(), (agent) => agent.run("Go", { threadId: "t" })))
      yield* resume(Answer.edit("0.0:approval0", { euros: 7 }))
      const { status } = yield* resume(Answer.approve("1.0:approval0"))

      assert.deepStrictEqual(status, { ...stuck, repeated: "pay" })
      assert.deepStrictEqual(paid, [7, 1])
    }))

  it.effect("F27 of a child is an error that its parent reads, and holds for the child's own bound", () =>
    Effect.gen(function*() {
      const helper = TypedAgent.text("helper", { description: "Helps" }).withMaxRepeats(1).withTools(
        Toolkit.make(Look),
        {
          look: () => Effect.succeed("nothing yet")
        }
      )
      const lead = AgentBuilder.make("lead").withSubagents([helper])
      const { model, next } = yield* Waiting.processes(yield* backing.place, {
        lead: [Step.calls(Step.textTask("helper", "Look")), Step.text("done")],
        helper: many(look(), 3)
      })
      yield* next(Effect.flatMap(lead.build(), (agent) => agent.run("Go")))
      const [seen] = Results.last((yield* model.requestsOf("lead")).at(-1)?.request)

      assert.deepStrictEqual(seen?.value, {
        error: {
          reason: "StepLimitReached",
          message: "The subagent repeated one call of the tool \"look\" and gave no report"
        }
      })
    }))

  it.effect("F27 of a task starts no child over the bound", () =>
    Effect.gen(function*() {
      const helper = TypedAgent.text("helper", { description: "Helps" })
      const lead = AgentBuilder.make("lead").withMaxRepeats(1).withSubagents([helper])
      const { next } = yield* Waiting.processes(yield* backing.place, {
        lead: many(Step.calls(Step.textTask("helper", "Look")), 3),
        helper: Script.each([Step.text("seen")])
      })
      const { status, usage } = yield* next(Effect.flatMap(lead.build(), (agent) => agent.run("Go")))

      assert.deepStrictEqual(status, { ...stuck, repeated: "task" })
      assert.strictEqual(usage.tree.childRuns, 1)
    }))

  it.effect.each([0, -1, 1.5, Number.NaN, "3", null])(
    "F27 has a bound that is not valid: %s",
    (maxRepeats) =>
      Effect.gen(function*() {
        const { next } = yield* Waiting.processes(yield* backing.place, {})
        const error = yield* next(Effect.flip(clerkOf([], maxRepeats as number).build()))

        assert.deepStrictEqual(error.problems.map(({ message }) => message), [
          `maxRepeats must be a positive whole number, not ${
            typeof maxRepeats === "string" ? "a string" : String(maxRepeats)
          }`
        ])
      })
  )
})
