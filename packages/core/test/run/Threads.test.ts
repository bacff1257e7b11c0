import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Answer, type Mandate, type RunError, Threads, TypedAgent } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Schema, Stream } from "effect"
import * as Trees from "../support/Trees.ts"

const helper = TypedAgent.text("helper", { description: "Helps" })
const clerk = AgentBuilder.make("clerk").withSubagents([helper])

const scripts: Script.Scripts = {
  clerk: Script.optional(Script.each([Step.textTask("helper", "help"), Step.text("done")])),
  helper: Script.optional(Script.each([Step.text("helped")]))
}

describe("thread ids", () => {
  it.effect.each(["a", "a".repeat(128), "Az09_.:-", "t-1:2.3"])("%s is one", (threadId) =>
    Effect.gen(function*() {
      const agent = yield* clerk.build()
      const result = yield* agent.run("Go", { threadId })

      assert.strictEqual(result.threadId as string, threadId)
      assert.strictEqual(result.runId as string, `${threadId}#0`)
      assert.lengthOf(yield* agent.history(threadId), 1)
    }).pipe(Effect.provide(Trees.runtime(scripts))))

  it.effect.each(["", "a".repeat(129), "a b", "é", "a\n", "\na", "t#0", "a~b", "😀", "a\u0000"])(
    "%j is none: every way to start a run refuses it and stores nothing",
    (threadId) =>
      Effect.gen(function*() {
        const agent = yield* clerk.build()
        const bound = yield* helper.bind()
        const errors = yield* Effect.forEach([
          agent.run("Go", { threadId }),
          agent.start("Go", { threadId }),
          Stream.runDrain(agent.stream("Go", { threadId })),
          bound.run({ description: "Go" }, { threadId })
        ], (verb) => Effect.flip(Effect.asVoid(verb)))

        for (const { reason } of errors) {
          assert.deepStrictEqual(reason, {
            _tag: "InvalidInput",
            field: "thread id",
            issues: ["it must be 1 to 128 of the characters a-z A-Z 0-9 _ . : -"]
          })
        }
        assert.lengthOf(yield* Trees.stored(threadId), 0)
        const model = yield* ScriptedModel.ScriptedModel
        assert.strictEqual(yield* model.calls, 0)
      }).pipe(Effect.provide(Trees.runtime(scripts)))
  )

  it.effect.each<unknown>([undefined, null, 7, ["t"]])(
    "that are no text are refused by every verb: %j",
    (id) =>
      Effect.gen(function*() {
        const agent = yield* clerk.build()
        const threadId = id as string
        const errors = yield* Effect.forEach([
          // Without one a run gets a thread of its own.
          ...(id === undefined ? [] : [agent.run("Go", { threadId })]),
          agent.resume(threadId, [Answer.approve("0.0:approval0")]),
          agent.recover(threadId),
          agent.cancel(threadId),
          agent.status(threadId),
          agent.history(threadId),
          agent.forget(threadId),
          Threads.runs(threadId),
          Stream.runDrain(Threads.events(threadId))
        ], (verb) => Effect.flip(Effect.asVoid<unknown, RunError.RunError, Mandate.Mandate>(verb)))

        for (const error of errors) assert.strictEqual(error.message, "The thread id is not valid: it is not a text")
      }).pipe(Effect.provide(Trees.runtime({})))
  )

  it.effect.each<unknown>([null, 7, {}])(
    "of a child to cancel are refused that are no text: %j",
    (child) =>
      Effect.gen(function*() {
        const agent = yield* clerk.build()
        const error = yield* Effect.flip(agent.cancel("t", { child: child as string }))

        assert.strictEqual(error.message, "The child is not valid: it is not a text")
      }).pipe(Effect.provide(Trees.runtime({})))
  )

  it.effect("a child's thread is no place to run on or to recover", () =>
    Effect.gen(function*() {
      const agent = yield* clerk.build()
      yield* agent.run("Go", { threadId: "t" })
      const stored = yield* Trees.stored("t")
      const threadId = stored[1]!.row.threadId
      const bound = yield* helper.bind()
      const errors = yield* Effect.forEach([
        agent.run("Go", { threadId }),
        agent.start("Go", { threadId }),
        Stream.runDrain(agent.stream("Go", { threadId })),
        agent.recover(threadId),
        bound.run({ description: "Go" }, { threadId }),
        bound.recover(threadId)
      ], (verb) => Effect.flip(Effect.asVoid(verb)))

      assert.strictEqual(threadId, "t#0/0.0")
      for (const { reason } of errors) assert.deepStrictEqual(reason, { _tag: "ChildThread", threadId })
      assert.deepStrictEqual(yield* Trees.stored("t"), stored)
    }).pipe(Effect.provide(Trees.runtime(scripts))))
})

describe("a thread made for a run", () => {
  it.effect("is deleted with all below it when the run settles, however it settles", () =>
    Effect.gen(function*() {
      const agent = yield* clerk.build()
      const bound = yield* helper.bind()
      const completed = yield* agent.run("Go")
      const reported = yield* bound.run({ description: "help" })
      const handle = yield* agent.start("hang")
      const model = yield* ScriptedModel.ScriptedModel
      yield* model.awaitCalls(6)
      yield* handle.cancel
      const blocked = yield* agent.run("block")

      assert.strictEqual(completed.status._tag, "Completed")
      assert.strictEqual(reported._tag, "Reported")
      assert.strictEqual((yield* handle.await).status._tag, "Cancelled")
      assert.strictEqual(blocked.status._tag, "Blocked")
      const threads = [completed.threadId, reported.child.threadId, handle.threadId, blocked.threadId]
      assert.lengthOf(new Set(threads), 4)
      for (const threadId of threads) {
        assert.lengthOf(yield* Trees.stored(threadId), 0)
        assert.lengthOf(yield* Trees.durableEvents(threadId), 0)
        assert.strictEqual((yield* Effect.flip(agent.status(threadId))).reason._tag, "UnknownThread")
      }
    }).pipe(Effect.provide(Trees.runtime({
      clerk: Script.byInput((input) => {
        if (input === "block") return [Step.textTask("helper", "help"), Step.contentFilter()]
        return input === "hang" ? [Step.textTask("helper", "hang")] : [Step.textTask("helper", "help"), Step.text("ok")]
      }),
      helper: Script.byInput((input) => [input === "hang" ? Step.hang() : Step.text("helped")])
    }))))

  it.effect("stays while its run is open, and goes when the recovered run settles", () =>
    Effect.gen(function*() {
      const agent = yield* AgentBuilder.make("clerk").build()
      const { reason } = yield* Effect.flip(agent.run("Go"))
      const threadId = "threadId" in reason ? reason.threadId : ""
      const failed = yield* agent.status(threadId)
      const result = yield* agent.recover(threadId)

      assert.strictEqual(failed.status._tag, "Failed")
      assert.strictEqual(result.status._tag, "Completed")
      assert.lengthOf(yield* Trees.stored(threadId), 0)
    }).pipe(Effect.provide(Trees.runtime({ clerk: [Step.again(Step.fail("authentication"), Step.text("ok"))] }))))
})

describe("an input that is not valid", () => {
  it.effect.each<unknown>([undefined, null, 7, { text: "Go" }])(
    "is refused where the text for an agent is %j",
    (input) =>
      Effect.gen(function*() {
        const agent = yield* AgentBuilder.make("clerk").build()
        const errors = yield* Effect.forEach([
          agent.run(input as string, { threadId: "t" }),
          agent.start(input as string, { threadId: "t" }),
          Stream.runDrain(agent.stream(input as string, { threadId: "t" }))
        ], (effect) => Effect.flip(Effect.asVoid(effect)))

        for (const error of errors) assert.strictEqual(error.message, "The input is not valid: it is not a text")
        assert.deepStrictEqual(yield* Threads.list(), [])
      }).pipe(Effect.provide(Trees.runtime({})))
  )

  it.effect("is refused by its field before anything is stored", () =>
    Effect.gen(function*() {
      const agent = yield* clerk.build()
      const bound = yield* TypedAgent.make("counter", {
        description: "Counts",
        input: Schema.Struct({ count: Schema.Int }),
        report: Schema.Int
      }).bind()
      const fields = yield* Effect.forEach([
        Effect.asVoid(agent.run("Go", { threadId: "t", budget: { maxTokens: 0 } })),
        Effect.asVoid(agent.run("Go", { threadId: "t", budget: { timeout: "0 seconds" } })),
        Effect.asVoid(agent.run("Go", { threadId: "t", budget: { maxToolCalls: Number.POSITIVE_INFINITY } })),
        Effect.asVoid(bound.run({ count: 1.5 }, { threadId: "t" }))
      ], (run) =>
        Effect.map(Effect.flip(run), ({ reason }) => reason._tag === "InvalidInput" ? reason.field : reason._tag))

      assert.deepStrictEqual(fields, ["budget", "budget", "budget", "input"])
      assert.lengthOf(yield* Trees.stored("t"), 0)
    }).pipe(Effect.provide(Trees.runtime(scripts))))
})
