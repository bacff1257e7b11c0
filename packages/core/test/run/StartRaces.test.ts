import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, RunStore } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Fiber } from "effect"
import { backings } from "../support/Backings.ts"
import * as Trees from "../support/Trees.ts"
import * as Waiting from "../support/Waiting.ts"

const clerk = AgentBuilder.make("clerk")
const asked = ["First", "said First", "Second"]

/** A store whose first `open` waits for an effect, and what is read after it through `read`. */
const racing = (
  inner: RunStore.RunStore["Service"],
  meanwhile: Effect.Effect<unknown>,
  read: (name: string, done: Effect.Effect<unknown>) => Effect.Effect<unknown, RunStore.StoreError>
) => {
  let isOpen = false
  return Trees.around(inner, (name, done) => {
    if (isOpen) return read(name, done)
    if (name !== "open") return done
    isOpen = true
    return Effect.andThen(meanwhile, done)
  })
}

describe.each(backings)("a run that starts while another of its thread starts and ends, in $name", ({ make, pass }) => {
  const setUp = Effect.gen(function*() {
    const store = yield* make
    const model = yield* ScriptedModel.make({
      clerk: Script.byInput((input) => [Step.text(`said ${input}`)])
    })
    const other = Waiting.processesOf(store, model)
    const first = Effect.orDie(
      other.next(Effect.flatMap(clerk.build(), (agent) => agent.run("First", { threadId: "t" })))
    )
    const last = Effect.map(
      model.requests,
      (requests) =>
        requests.at(-1)!.request.messages.flatMap(({ content }) =>
          typeof content === "string" ? [content] : content.flatMap((part) => part.type === "text" ? [part.text] : [])
        )
    )
    return { first, last, model, other, store }
  })

  it.effect("goes on from what that one left", () =>
    Effect.gen(function*() {
      const { first, last, model, store } = yield* setUp
      const here = Waiting.processesOf(racing(store, first, (_, done) => done), model)
      const { runId } = yield* here.next(
        Effect.flatMap(clerk.build(), (agent) => agent.run("Second", { threadId: "t" }))
      )

      assert.strictEqual(runId as string, "t#1")
      assert.deepStrictEqual(yield* last, asked)
    }))

  it.effect("leaves its thread to others when it cannot read what that one left", () =>
    Effect.gen(function*() {
      const { first, last, model, other, store } = yield* setUp
      const failing = racing(store, first, (name, done) =>
        name === "thread" ? Effect.fail(new RunStore.StoreError({ operation: name })) : done)
      yield* Waiting.processesOf(failing, model).next(Effect.gen(function*() {
        const { reason } = yield* Effect.flatMap(
          clerk.build(),
          (agent) =>
            Effect.flip(agent.run("Second", { threadId: "t" }))
        )
        // This process is there, and renews its leases.
        const recovering = yield* Effect.forkChild(
          other.next(Effect.flatMap(clerk.build(), (agent) =>
            agent.recover("t"))),
          { startImmediately: true }
        )
        yield* pass("1 minute")

        assert.strictEqual(reason._tag, "StoreFailed")
        assert.deepStrictEqual((yield* Fiber.join(recovering)).status, { _tag: "Completed", answer: "said Second" })
        assert.deepStrictEqual(yield* last, asked)
      }))
    }))
})
