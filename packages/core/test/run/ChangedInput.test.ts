import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Answer, ResultCache, TypedAgent } from "@mandate/core"
import { Script, Step } from "@mandate/testing"
import { Effect, Schema } from "effect"
import * as Toolkit from "effect/ai/Toolkit"
import { backings } from "../support/Backings.ts"
import * as Trees from "../support/Trees.ts"
import * as Waiting from "../support/Waiting.ts"

const Pay = Waiting.gated("pay", {})
const old = Schema.Struct({ topic: Schema.String })
const other = Schema.Struct({ subject: Schema.String })
// Nothing of a filter is in the JSON Schema, so the shape is the same.
const stricter = Schema.Struct({ topic: Schema.String.check(Schema.makeFilter((topic) => topic !== "tides")) })

const scripts: Script.Scripts = {
  lead: Script.each([Step.calls(Step.task("clerk", { topic: "tides" })), (request) => Step.text(said(request))]),
  clerk: Script.each([Step.calls(Step.call("pay")), (request) => Step.calls(Step.report(Trees.asked(request)))])
}

const said = (request: Parameters<typeof Trees.outputs>[0]) => JSON.stringify(Trees.outputs(request))

describe.each(backings)("a child that waits, in $name", ({ make }) => {
  it.effect.each([["", false], [" of a subagent with a cache", true]] as const)(
    "goes on with the input it was started with when the schema of inputs%s would not take it by now",
    ([, isCached]) =>
      Effect.gen(function*() {
        const store = yield* make
        const { model, next } = yield* Waiting.processes(store, scripts)
        const paid: Array<string> = []
        const lead = (input: Schema.Codec<{}, {}>) => {
          const clerk = TypedAgent.make("clerk", { description: "Pays", input, report: Schema.String })
            .withTools(Toolkit.make(Pay), { pay: () => Effect.sync(() => paid.push("paid") > 0 ? "paid" : "") })
          return AgentBuilder.make("lead").withSubagents([isCached ? clerk.withCache() : clerk])
        }
        const build = (input: Schema.Codec<{}, {}>) => Effect.provide(lead(input).build(), ResultCache.layerMemory())
        yield* next(Effect.flatMap(build(old), (agent) => agent.run("Go", { threadId: "t" })))
        const { status } = yield* next(
          Effect.flatMap(build(stricter), (agent) => agent.resume("t", [Answer.approve("0.0:child~0.0:approval0")]))
        )

        assert.deepStrictEqual(status, {
          _tag: "Completed",
          answer: JSON.stringify([{ report: "Task for clerk:\n{\"topic\":\"tides\"}" }])
        })
        assert.deepStrictEqual(paid, ["paid"])
        assert.lengthOf(yield* model.requests, 4)
        assert.strictEqual((yield* store.load("t#0/0.0#0"))?.row.state, "Settled")
      })
  )

  it.effect("is not gone on with by an agent whose subagent takes other inputs, which says so", () =>
    Effect.gen(function*() {
      const store = yield* make
      const { model, next } = yield* Waiting.processes(store, {
        ...scripts,
        clerk: Script.optional([Step.call("pay"), Step.report("paid")])
      })
      const lead = (input: Schema.Codec<{}, {}>) => {
        const clerk = TypedAgent.make("clerk", { description: "Pays", input, report: Schema.String })
          .withTools(Toolkit.make(Pay), { pay: () => Effect.succeed("paid") })
        return AgentBuilder.make("lead").withSubagents([clerk]).build()
      }
      yield* next(Effect.flatMap(lead(old), (agent) => agent.run("Go", { threadId: "t" })))
      const before = yield* store.load("t#0")
      const refused = yield* next(
        Effect.flatMap(
          lead(other),
          (agent) => Effect.flip(agent.resume("t", [Answer.approve("0.0:child~0.0:approval0")]))
        )
      )
      const after = yield* store.load("t#0")
      const calls = yield* model.calls
      const resumed = yield* next(
        Effect.flatMap(lead(old), (agent) => agent.resume("t", [Answer.approve("0.0:child~0.0:approval0")]))
      )

      assert.deepStrictEqual(refused.reason, {
        _tag: "AgentChanged",
        threadId: "t",
        differences: ["the schemas of the subagent \"clerk\""]
      })
      assert.deepStrictEqual([after, calls], [before, 2])
      assert.strictEqual(resumed.status._tag, "Completed")
    }))
})
