import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Answer, TypedAgent } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Deferred, Effect, Exit, Fiber, Layer, Scope } from "effect"
import * as Toolkit from "effect/ai/Toolkit"
import { backings } from "../support/Backings.ts"
import * as Models from "../support/Models.ts"
import * as Trees from "../support/Trees.ts"
import * as Waiting from "../support/Waiting.ts"

const tools = Toolkit.make(Waiting.gated("pay", {}))
const child = TypedAgent.text("child", { description: "Pays" }).withTools(tools, { pay: () => Effect.succeed("paid") })
const lead = AgentBuilder.make("lead").withSubagents([child])
const approve = [Answer.approve("0.0:child~0.0:approval0")]

describe.each(backings)("a runtime that is closed while a verb writes its first, in $name", ({ make, pass }) => {
  it.effect.each(["open", "answer"])(
    "starts no drive any more, and leaves the run to be recovered: %s",
    (operation) =>
      Effect.gen(function*() {
        const inner = yield* make
        const arrived = Deferred.makeUnsafe<void>()
        const latch = Deferred.makeUnsafe<void>()
        const held = Trees.around(inner, (name, done) =>
          name === operation
            ? Effect.tap(done, () => Effect.andThen(Deferred.succeed(arrived, undefined), Deferred.await(latch)))
            : done)
        const model = yield* ScriptedModel.make({
          lead: [Step.calls(Step.textTask("child", "x")), Step.text("done")],
          child: Script.runs([Step.calls(Step.call("pay")), Step.text("worked")])
        })
        const resumes = operation === "answer"
        if (resumes) {
          yield* Waiting.processesOf(inner, model).next(
            Effect.flatMap(lead.build(), (agent) => agent.run("Go", { threadId: "t" }))
          )
        }
        const before = yield* model.calls

        const scope = yield* Scope.make()
        const context = yield* Layer.buildWithScope(Trees.runtimeOf(Models.layerOf(model), held), scope)
        const agent = yield* Effect.provideContext(lead.build(), context)
        const running = yield* Effect.forkChild(
          Effect.flip(resumes ? agent.resume("t", approve) : agent.run("Go", { threadId: "t" })),
          { startImmediately: true }
        )
        yield* Deferred.await(arrived)
        yield* Scope.close(scope, Exit.void)
        yield* Deferred.succeed(latch, undefined)
        const { reason } = yield* Fiber.join(running)

        assert.deepStrictEqual<unknown>(reason, { _tag: "IncompleteRun", threadId: "t" })
        assert.strictEqual(yield* model.calls, before)
        const last = yield* Waiting.processesOf(inner, model).next(Effect.gen(function*() {
          const other = yield* lead.build()
          const recovering = yield* Effect.forkChild(other.recover("t"), { startImmediately: true })
          yield* pass("1 minute")
          const recovered = yield* Fiber.join(recovering)
          return resumes ? recovered : yield* other.resume("t", approve)
        }))
        assert.deepStrictEqual(last.status, { _tag: "Completed", answer: "done" })
      })
  )
})
