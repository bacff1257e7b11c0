import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Answer, TypedAgent } from "@mandate/core"
import { Script, Step } from "@mandate/testing"
import { Cause, Effect, Exit, Stream } from "effect"
import * as Toolkit from "effect/ai/Toolkit"
import { backings } from "../support/Backings.ts"
import * as Waiting from "../support/Waiting.ts"

const tools = Toolkit.make(Waiting.gated("pay", {}))
const child = TypedAgent.text("child", { description: "Pays" }).withTools(tools, { pay: () => Effect.succeed("paid") })
const lead = AgentBuilder.make("lead").withSubagents([child])
const approve = [Answer.approve("0.0:child~0.0:approval0")]
const closed =
  "The runtime is closed: provide the layer of Mandate around what runs agents, not only around what builds them"

describe.each(backings)("a runtime that was closed before, in $name", ({ make }) => {
  it.effect("refuses each verb that would drive a run, says why, and writes nothing", () =>
    Effect.gen(function*() {
      const store = yield* make
      const { model, next } = yield* Waiting.processes(store, {
        lead: Script.runs([Step.calls(Step.textTask("child", "x")), Step.text("done")]),
        child: Script.runs([Step.calls(Step.call("pay")), Step.text("worked")])
      })
      const [agent, bound] = yield* next(Effect.all([lead.build(), child.bind()]))
      yield* next(Effect.flatMap(lead.build(), (living) => living.run("Go", { threadId: "t" })))
      const asked = yield* model.calls

      const verbs: Readonly<Record<string, Effect.Effect<unknown, unknown>>> = {
        run: agent.run("Go", { threadId: "new" }),
        start: agent.start("Go", { threadId: "new" }),
        stream: Stream.runDrain(agent.stream("Go", { threadId: "new" })),
        resume: agent.resume("t", approve),
        recover: agent.recover("t", { force: true }),
        "run a subagent": bound.run({ description: "x" }, { threadId: "new" })
      }
      for (const [verb, effect] of Object.entries(verbs)) {
        const exit = yield* Effect.exit(effect)
        assert.strictEqual(
          Exit.isFailure(exit) && Cause.squash(exit.cause) instanceof Error && String(Cause.squash(exit.cause)),
          `Error: ${closed}`,
          verb
        )
      }

      assert.strictEqual(yield* model.calls, asked)
      yield* next(Effect.gen(function*() {
        const other = yield* lead.build()
        const unknown = yield* Effect.flip(other.status("new"))
        const { status } = yield* other.resume("t", approve)
        assert.strictEqual(unknown.reason._tag, "UnknownThread")
        assert.deepStrictEqual(status, { _tag: "Completed", answer: "done" })
      }))
    }))
})
