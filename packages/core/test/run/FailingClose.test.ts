import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, RunStore, TypedAgent } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Fiber } from "effect"
import { backings } from "../support/Backings.ts"
import * as Trees from "../support/Trees.ts"
import * as Waiting from "../support/Waiting.ts"

const worker = TypedAgent.text("worker", { description: "Works" })
const lead = AgentBuilder.make("lead").withSubagents([worker])
const timed = lead.withBudget({ timeout: "1 minute" })

const scripts = (worker: ReadonlyArray<Step.Step>): Script.Scripts => ({
  lead: Script.optional([Step.calls(Step.textTask("worker", "x")), Step.text("done")]),
  worker: Script.optional(worker)
})

const failing = (store: RunStore.RunStore["Service"], operation: string) => {
  let isFirst = true
  return Trees.around(store, (name, done) =>
    Effect.suspend(() => {
      if (name !== operation || !isFirst) return done
      isFirst = false
      return Effect.fail(new RunStore.StoreError({ operation }))
    }))
}

const ends = [
  ["a deadline", timed, () => Effect.void],
  ["a cancel", lead, (agent) => agent.cancel("t")],
  ["the cancel of a child", lead, (agent) => agent.cancel("t", { child: "t#0/0.0" })]
] as const satisfies ReadonlyArray<
  readonly [string, typeof lead, (agent: Effect.Success<ReturnType<typeof lead.build>>) => Effect.Effect<void, unknown>]
>

describe.each(backings)("a run whose end cannot be written, in $name", ({ make, pass }) => {
  it.effect.each(ends.flatMap((end) => ["seize", "close"].map((operation) => [...end, operation] as const)))(
    "is given up, and anybody goes on with it: %s",
    ([, builder, end, operation]) =>
      Effect.gen(function*() {
        const store = yield* make
        const model = yield* ScriptedModel.make(scripts([Step.delay("10 minutes", Step.text("worked"))]))
        const result = yield* Waiting.processesOf(failing(store, operation), model).next(Effect.gen(function*() {
          const agent = yield* builder.build()
          const running = yield* Effect.forkChild(Effect.flip(agent.run("Go", { threadId: "t" })), {
            startImmediately: true
          })
          yield* pass("1 second")
          yield* Effect.ignore(end(agent))
          yield* pass("1 minute")
          const exit = running.pollUnsafe()
          yield* Fiber.interrupt(running)

          assert.deepStrictEqual<unknown>(
            exit?._tag === "Success" && exit.value.reason,
            { _tag: "StoreFailed", threadId: "t", operation }
          )
          // The first process is there, and renews its leases.
          return yield* Waiting.processesOf(store, model).next(Effect.gen(function*() {
            const other = yield* lead.build()
            const recovering = yield* Effect.forkChild(other.recover("t"), { startImmediately: true })
            yield* pass("1 hour")
            return yield* Fiber.join(recovering)
          }))
        }))

        assert.strictEqual(result.status._tag, builder === timed ? "BudgetExceeded" : "Completed")
      })
  )
})

describe.each(backings)("a deadline that comes when another process has the run, in $name", ({ make, pass }) => {
  it.effect("ends the drive here, and what was about to start below it", () =>
    Effect.gen(function*() {
      const inner = yield* make
      const slow = Trees.around(inner, (name, done) =>
        name === "seize" || name === "create" ? Effect.andThen(Effect.sleep("10 seconds"), done) : done)
      const model = yield* ScriptedModel.make({
        ...scripts([Step.hang()]),
        lead: Script.optional([Step.delay("55 seconds", Step.calls(Step.textTask("worker", "x")))])
      })
      const exit = yield* Waiting.processesOf(slow, model).next(Effect.gen(function*() {
        const agent = yield* timed.build()
        const started = yield* agent.start("Go", { threadId: "t" })
        const waiting = yield* Effect.forkChild(Effect.flip(started.await), { startImmediately: true })
        yield* pass("67 seconds")
        yield* Waiting.processesOf(inner, model).next(Effect.gen(function*() {
          const other = yield* timed.build()
          yield* Effect.forkChild(other.recover("t", { force: true }), { startImmediately: true })
          yield* pass("1 second")
        }))
        yield* pass("1 minute")
        yield* Fiber.interrupt(waiting)
        return yield* Fiber.await(waiting)
      }))

      assert.strictEqual(exit._tag, "Success")
    }))
})
