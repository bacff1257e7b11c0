import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, RunStore } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Fiber, Stream } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { backings } from "../support/Backings.ts"
import * as Trees from "../support/Trees.ts"
import * as Waiting from "../support/Waiting.ts"

const worker = AgentBuilder.make("top").withTools(Toolkit.make(Tool.make("work")), {
  work: () => Effect.sleep("10 seconds")
})
const scripts = { top: Script.each([Step.calls(Step.call("work"))]) }

describe.each(backings)("what shows a run, in $name", ({ make, pass }) => {
  it.effect("ends when another process has cancelled it", () =>
    Effect.gen(function*() {
      const store = yield* make
      const model = yield* ScriptedModel.make(scripts)
      const [one, two] = [Waiting.processesOf(store, model), Waiting.processesOf(store, model)]
      const [events, streamed] = yield* one.next(Effect.gen(function*() {
        const agent = yield* worker.build()
        const started = yield* agent.start("Go", { threadId: "t" })
        const watching = yield* Effect.forkChild(Stream.runCollect(started.events), { startImmediately: true })
        const streaming = yield* Effect.forkChild(Stream.runCollect(agent.stream("Go", { threadId: "s" })), {
          startImmediately: true
        })
        yield* pass("1 second")
        yield* two.next(Effect.flatMap(worker.build(), (other) => Effect.andThen(other.cancel("t"), other.cancel("s"))))
        yield* pass("1 minute")
        yield* Effect.all([Fiber.interrupt(watching), Fiber.interrupt(streaming)])
        return [yield* Fiber.await(watching), yield* Fiber.await(streaming)] as const
      }))

      assert.strictEqual(events._tag, "Success")
      const last = streamed._tag === "Success" ? streamed.value.at(-1) : undefined
      assert.deepStrictEqual(last?._tag === "RunFinished" ? last.result.status : last, { _tag: "Cancelled" })
    }))

  it.effect("ends when its store is down, as the run does", () =>
    Effect.gen(function*() {
      let isDown = false
      const store = Trees.around(yield* make, (name, done) =>
        isDown && name !== "renew" && name !== "release"
          ? Effect.fail(new RunStore.StoreError({ operation: name }))
          : done)
      const model = yield* ScriptedModel.make(scripts)
      const exit = yield* Waiting.processesOf(store, model).next(Effect.gen(function*() {
        const agent = yield* worker.build()
        const streaming = yield* Effect.forkChild(
          Effect.flip(Stream.runDrain(agent.stream("Go", { threadId: "t" }))),
          { startImmediately: true }
        )
        yield* pass("1 second")
        isDown = true
        yield* pass("1 minute")
        yield* Fiber.interrupt(streaming)
        return yield* Fiber.await(streaming)
      }))

      assert.strictEqual(exit._tag === "Success" && exit.value.reason._tag, "StoreFailed")
    }))
})
