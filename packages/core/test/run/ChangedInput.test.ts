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
const now = Schema.Struct({ subject: Schema.String })

const scripts: Script.Scripts = {
  lead: Script.each([Step.calls(Step.task("clerk", { topic: "tides" })), (request) => Step.text(said(request))]),
  clerk: Script.each([Step.calls(Step.call("pay")), (request) => Step.calls(Step.report(Trees.asked(request)))])
}

const said = (request: Parameters<typeof Trees.outputs>[0]) => JSON.stringify(Trees.outputs(request))

describe.each(backings)("a child that waits, in $name", ({ make }) => {
  it.effect.each([["", false], [" of a subagent with a cache", true]] as const)(
    "goes on with the input it was started with when the schema of inputs%s is another by now",
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
          Effect.flatMap(build(now), (agent) => agent.resume("t", [Answer.approve("0.0:child~0.0:approval0")]))
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
})
