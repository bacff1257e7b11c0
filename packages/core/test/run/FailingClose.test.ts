import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, RunStore, TypedAgent } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Fiber } from "effect"
import * as Toolkit from "effect/ai/Toolkit"
import { backings } from "../support/Backings.ts"
import * as TamperedStore from "../support/TamperedStore.ts"
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

describe.each(backings)("a cancel, in $name", ({ make, pass }) => {
  it.effect("of a run whose cancel fails meanwhile is tried by itself", () =>
    Effect.gen(function*() {
      let closes = 0
      const store = Trees.around(yield* make, (name, done) =>
        Effect.suspend(() =>
          name === "close" && closes++ === 0
            ? Effect.andThen(Effect.sleep("1 second"), Effect.fail(new RunStore.StoreError({ operation: name })))
            : done
        ))
      const model = yield* ScriptedModel.make(scripts([Step.hang()]))
      yield* Waiting.processesOf(store, model).next(Effect.gen(function*() {
        const agent = yield* lead.build()
        yield* agent.start("Go", { threadId: "t" })
        yield* pass("1 second")
        const first = yield* Effect.forkChild(Effect.flip(agent.cancel("t")), { startImmediately: true })
        yield* pass(500)
        const second = yield* Effect.forkChild(agent.cancel("t"), { startImmediately: true })
        yield* pass("1 minute")

        assert.strictEqual((yield* Fiber.join(first)).reason._tag, "StoreFailed")
        yield* Fiber.join(second)
        assert.deepStrictEqual((yield* agent.status("t")).status, { _tag: "Cancelled" })
      }))
    }))

  it.effect("of a child that has no drive yet keeps its parent from waiting for it, where it cannot be written", () =>
    Effect.gen(function*() {
      const store = Trees.around(
        failing(yield* make, "close"),
        (name, done) => name === "create" || name === "seize" ? Effect.tap(done, () => Effect.sleep("1 second")) : done
      )
      const model = yield* ScriptedModel.make(scripts([Step.text("worked")]))
      yield* Waiting.processesOf(store, model).next(Effect.gen(function*() {
        const agent = yield* lead.build()
        const running = yield* Effect.forkChild(Effect.flip(agent.run("Go", { threadId: "t" })), {
          startImmediately: true
        })
        yield* pass(500)
        const cancelling = yield* Effect.forkChild(Effect.flip(agent.cancel("t", { child: "t#0/0.0" })), {
          startImmediately: true
        })
        yield* pass("1 minute")
        const exit = running.pollUnsafe()
        const { reason } = yield* Fiber.join(cancelling)

        assert.strictEqual(reason._tag, "StoreFailed")
        assert.strictEqual(exit?._tag === "Success" && exit.value.reason._tag, "StoreFailed")
      }))
    }))

  it.effect("of a child that waits, which cannot be written, says so, and the child waits on", () =>
    Effect.gen(function*() {
      const payer = worker.withTools(Toolkit.make(Waiting.gated("pay", {})), { pay: () => Effect.succeed("paid") })
      const model = yield* ScriptedModel.make(scripts([Step.call("pay")]))
      const { next } = Waiting.processesOf(failing(yield* make, "close"), model)
      yield* next(Effect.gen(function*() {
        const agent = yield* AgentBuilder.make("lead").withSubagents([payer]).build()
        const before = yield* agent.run("Go", { threadId: "t" })
        const { reason } = yield* Effect.flip(agent.cancel("t", { child: "t#0/0.0" }))
        yield* pass("1 second")

        assert.strictEqual(reason._tag, "StoreFailed")
        assert.strictEqual(before.status._tag, "Suspended")
        assert.deepStrictEqual<unknown>((yield* agent.status("t")).status, before.status)
      }))
    }))

  it.effect("of a tree that cannot be read as a whole lets it go on", () =>
    Effect.gen(function*() {
      const edit = { runId: "t#0/0.0#0", column: "usage", value: "no json" } as const
      const store = TamperedStore.tampered(yield* make, edit)
      const model = yield* ScriptedModel.make({
        lead: [Step.calls(Step.textTask("worker", "x"), Step.textTask("worker", "y")), Step.text("done")],
        worker: Script.byInput((input) => [Step.delay(input === "x" ? 1 : "10 seconds", Step.text("worked"))])
      })
      yield* Waiting.processesOf(store, model).next(Effect.gen(function*() {
        const agent = yield* lead.build()
        const running = yield* Effect.forkChild(agent.run("Go", { threadId: "t" }), { startImmediately: true })
        yield* pass("1 second")
        const { reason } = yield* Effect.flip(agent.cancel("t"))
        yield* pass("1 minute")

        assert.deepInclude(reason, { _tag: "CorruptRun", runId: edit.runId })
        assert.deepStrictEqual((yield* Fiber.join(running)).status, { _tag: "Completed", answer: "done" })
      }))
    }))
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
