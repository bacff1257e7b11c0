import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, RunStore } from "@mandate/core"
import { ScriptedModel, Step } from "@mandate/testing"
import { Effect, Fiber, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { backings } from "../support/Backings.ts"
import * as Trees from "../support/Trees.ts"
import * as Waiting from "../support/Waiting.ts"

const tools = Toolkit.make(Tool.make("work", { success: Schema.String }))

/** An agent whose tool never ends in its first life, and after a while in its second. */
const worker = () => {
  let lives = 0
  return AgentBuilder.make("top").withTools(tools, {
    work: () => Effect.suspend(() => lives++ === 0 ? Effect.never : Effect.as(Effect.sleep("5 seconds"), "worked"))
  })
}

/** A store whose first `reopen` fails after an effect. */
const failing = (store: RunStore.RunStore["Service"], before: Effect.Effect<unknown> = Effect.void) => {
  let isFirst = true
  return Trees.around(store, (name, done) =>
    Effect.suspend(() => {
      if (name !== "reopen" || !isFirst) return done
      isFirst = false
      return Effect.andThen(before, Effect.fail(new RunStore.StoreError({ operation: name })))
    }))
}

describe.each(backings)("recover by force that cannot write, in $name", ({ make, pass }) => {
  it.effect("gives up the drive that was here, and the thread to whoever takes it", () =>
    Effect.gen(function*() {
      const store = yield* make
      const agent = worker()
      const model = yield* ScriptedModel.make({ top: [Step.calls(Step.call("work")), Step.text("done")] })
      yield* Waiting.processesOf(failing(store), model).next(Effect.gen(function*() {
        const here = yield* agent.build()
        const handle = yield* here.start("Go", { threadId: "t" })
        const awaiting = yield* Effect.forkChild(Effect.flip(handle.await), { startImmediately: true })
        yield* pass("1 second")
        const refused = yield* Effect.flip(here.recover("t", { force: true }))
        yield* pass("1 second")
        const former = awaiting.pollUnsafe()
        // This process is there, and renews its leases.
        const recovered = yield* Waiting.processesOf(store, model).next(Effect.gen(function*() {
          const other = yield* agent.build()
          const recovering = yield* Effect.forkChild(other.recover("t"), { startImmediately: true })
          yield* pass("1 minute")
          return yield* Fiber.join(recovering)
        }))

        assert.strictEqual(refused.reason._tag, "StoreFailed")
        assert.deepStrictEqual<unknown>(former?._tag === "Success" && former.value.reason, {
          _tag: "ThreadBusy",
          threadId: "t"
        })
        assert.deepStrictEqual(recovered.status, { _tag: "Completed", answer: "done" })
      }))
    }))

  it.effect("leaves the thread with whoever has taken it since", () =>
    Effect.gen(function*() {
      const store = yield* make
      const agent = worker()
      const model = yield* ScriptedModel.make({ top: [Step.calls(Step.call("work")), Step.text("done")] })
      const other = yield* Effect.cached(Effect.exit(
        Waiting.processesOf(store, model).next(
          Effect.flatMap(agent.build(), (there) => there.recover("t", { force: true }))
        )
      ))
      const taken = Effect.andThen(Effect.forkDetach(other), Effect.sleep("1 second"))
      const exit = yield* Waiting.processesOf(failing(store, taken), model).next(Effect.gen(function*() {
        const here = yield* agent.build()
        yield* here.start("Go", { threadId: "t" })
        yield* pass("1 second")
        yield* Effect.forkChild(here.recover("t", { force: true }), { startImmediately: true })
        yield* pass("1 minute")
        return yield* other
      }))

      assert.strictEqual(exit._tag === "Success" && exit.value.status._tag, "Completed")
    }))
})
