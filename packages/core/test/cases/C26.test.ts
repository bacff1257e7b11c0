import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, RunError, TypedAgent } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Deferred, Effect, Fiber, Schema, Stream } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { TestClock } from "effect/testing"
import * as Trees from "../support/Trees.ts"

const Look = Tool.make("look", { parameters: Schema.Struct({ at: Schema.String }), success: Schema.String })

const worker = TypedAgent.make("worker", {
  description: "Works",
  input: Schema.Struct({ name: Schema.String }),
  report: Schema.Struct({ name: Schema.String, found: Schema.String })
})
  .withInputText(({ name }) => name)
  .withTools(Toolkit.make(Look), {
    look: ({ at }) => Effect.as(Effect.sleep(1 + (at.length * 7) % 5), `found at ${at}`)
  })

const names = Array.from({ length: 20 }, (_, index) => `[worker ${"x".repeat(index)}]`)

// Answers out of its own request alone, and each run at a pace of its own.
const answering = Script.program((request, { step }) => {
  const name = Trees.asked(request)
  const found = String(Trees.outputs(request)[0])
  return Step.delay(
    1 + (name.length * 13) % 17,
    step === 0 ? Step.call("look", { at: name }) : Step.report({ name, found })
  )
})

const report = (name: string) => ({ name, found: `found at ${name}` })

const onlyItsOwn = Effect.gen(function*() {
  const model = yield* ScriptedModel.ScriptedModel
  const requests = yield* model.requestsOf("worker")
  assert.lengthOf(requests, names.length * 2)
  for (const { request } of requests) {
    const text = JSON.stringify(request.messages)
    assert.deepStrictEqual(names.filter((name) => text.includes(name)), [Trees.asked(request)])
  }
  yield* Trees.noViolations
})

describe("C26", () => {
  it.effect("C26 parallel runs of one bound agent keep to their own inputs and reports", () =>
    Effect.gen(function*() {
      const bound = yield* worker.bind()
      const running = yield* Effect.forkChild(
        Effect.forEach(names, (name) => bound.run({ name }), { concurrency: "unbounded" }),
        { startImmediately: true }
      )
      yield* TestClock.adjust("1 minute")
      const outcomes = yield* Fiber.join(running)

      assert.deepStrictEqual(
        outcomes.map((outcome) => outcome._tag === "Reported" ? outcome.report : outcome._tag),
        names.map(report)
      )
      assert.lengthOf(new Set(outcomes.map(({ child }) => child.threadId)), names.length)
      yield* onlyItsOwn
    }).pipe(Effect.provide(Trees.runtime({ worker: answering }))))

  it.effect("C26 parallel tasks for one subagent keep to their own inputs and reports", () =>
    Effect.gen(function*() {
      const agent = yield* AgentBuilder.make("top")
        .withSubagents([worker], { maxConcurrentChildren: 20, maxTasksPerTurn: 20 })
        .build()
      const running = yield* Effect.forkChild(agent.run("Go", { threadId: "t" }), { startImmediately: true })
      yield* TestClock.adjust("1 minute")
      yield* Fiber.join(running)

      const model = yield* ScriptedModel.ScriptedModel
      const [, last] = yield* model.requestsOf("top")
      assert.deepStrictEqual(Trees.outputs(last!.request), names.map((name) => ({ report: report(name) })))
      yield* onlyItsOwn
    }).pipe(Effect.provide(Trees.runtime({
      top: [Step.calls(...names.map((name) => Step.taskOf(worker, { name }))), Step.text("done")],
      worker: answering
    }))))

  it.effect("C26 a thread whose run is inside a model call is busy for everyone else, and nothing is changed", () =>
    Effect.gen(function*() {
      const entered = yield* Deferred.make<void>()
      const go = yield* Deferred.make<void>()
      yield* Effect.gen(function*() {
        const editor = AgentBuilder.make("editor")
        const agent = yield* editor.build()
        const twin = yield* editor.withInstructions("Another value of the same agent").build()
        const first = yield* Effect.forkChild(agent.run("One", { threadId: "t" }), { startImmediately: true })
        yield* Deferred.await(entered)
        const stored = yield* Trees.stored("t")

        const refused = yield* Effect.forEach(
          [agent, twin].flatMap((other) => [
            other.run("Two", { threadId: "t" }),
            other.start("Two", { threadId: "t" }),
            Stream.runDrain(other.stream("Two", { threadId: "t" })),
            other.forget("t")
          ]),
          Effect.flip
        )
        for (const error of refused) {
          assert.deepStrictEqual(error, new RunError.RunError({ reason: { _tag: "ThreadBusy", threadId: "t" } }))
        }
        assert.deepStrictEqual(yield* Trees.stored("t"), stored)

        yield* Deferred.succeed(go, undefined)
        assert.deepStrictEqual((yield* Fiber.join(first)).status, { _tag: "Completed", answer: "one" })
        yield* agent.run("Three", { threadId: "t" })
        const history = yield* agent.history("t")
        assert.deepStrictEqual(history.map(({ runId }) => runId as string), ["t#0", "t#1"])
        assert.deepStrictEqual(
          history.flatMap(({ messages }) => messages.map(({ role }) => role)),
          ["user", "assistant", "user", "assistant"]
        )
        yield* Trees.noViolations
      }).pipe(Effect.provide(Trees.runtime({
        editor: Script.runs(
          [() => Effect.as(Effect.andThen(Deferred.succeed(entered, undefined), Deferred.await(go)), Step.text("one"))],
          [Step.text("three")]
        )
      })))
    }))

  it.effect("C26 of many runs started at once on one thread exactly one proceeds at a time", () =>
    Effect.gen(function*() {
      const agent = yield* AgentBuilder.make("editor").build()
      const burst = Effect.forEach(
        names,
        (name) => Effect.result(agent.run(name, { threadId: "t" })),
        { concurrency: "unbounded" }
      )
      for (const round of [1, 2, 3]) {
        const running = yield* Effect.forkChild(burst, { startImmediately: true })
        yield* TestClock.adjust("1 minute")
        const results = yield* Fiber.join(running)
        const [won, lost] = [
          results.filter(({ _tag }) => _tag === "Success"),
          results.filter(({ _tag }) => _tag === "Failure")
        ]

        assert.lengthOf(won, 1)
        for (const one of lost) {
          assert.strictEqual(one._tag === "Failure" ? one.failure.reason._tag : undefined, "ThreadBusy")
        }
        assert.lengthOf(yield* agent.history("t"), round)
      }
      const model = yield* ScriptedModel.ScriptedModel
      const last = (yield* model.requests).at(-1)!
      assert.deepStrictEqual(
        last.request.messages.map(({ role }) => role),
        ["user", "assistant", "user", "assistant", "user"]
      )
      yield* Trees.noViolations
    }).pipe(Effect.provide(Trees.runtime({ editor: Script.each([Step.delay(10, Step.text("done"))]) }))))
})
