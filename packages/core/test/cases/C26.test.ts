import { assert, describe, it } from "@effect/vitest"
import { type Agent, AgentBuilder, Answer, RunError, RunStore, TypedAgent } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Deferred, Effect, Fiber, Result, Schema, Stream } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { TestClock } from "effect/testing"
import { backings } from "../support/Backings.ts"
import * as Trees from "../support/Trees.ts"
import * as Waiting from "../support/Waiting.ts"

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

describe("C26 Runs side by side", () => {
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

describe.each(backings)("C26 One thread driven twice at once, in $name", ({ place }) => {
  it.effect.each(
    ["started", "resumed"]
  )(
    "C26 while a run that was %s is inside a model call, its thread is busy for every process",
    (how) =>
      Effect.gen(function*() {
        const entered = yield* Deferred.make<void>()
        const go = yield* Deferred.make<void>()
        const inside = (step: Step.Step) => () =>
          Effect.as(Effect.andThen(Deferred.succeed(entered, undefined), Deferred.await(go)), step)
        const editor = AgentBuilder.make("editor").withTools(Toolkit.make(Waiting.gated("publish", {})), {
          publish: () => Effect.succeed("published")
        })
        const twin = editor.withInstructions("Another value of the same agent")
        const home = yield* place
        const { model, next } = yield* Waiting.processes(home, {
          editor: Script.runs(
            [...(how === "resumed" ? [Step.call("publish")] : []), inside(Step.text("one"))],
            [Step.text("three")]
          )
        })
        const stored = Effect.provideService(Trees.stored("t"), RunStore.RunStore, yield* home)
        const approve = [Answer.approve("0.0:approval0")]
        const refusals = Effect.fnUntraced(function*(agent: Agent.Agent<string>) {
          const before = yield* stored
          const refused = yield* Effect.forEach([
            agent.run("Two", { threadId: "t" }),
            agent.start("Two", { threadId: "t" }),
            Stream.runDrain(agent.stream("Two", { threadId: "t" })),
            agent.resume("t", approve),
            agent.forget("t")
          ], Effect.flip)
          for (const error of refused) {
            assert.deepStrictEqual(error, new RunError.RunError({ reason: { _tag: "ThreadBusy", threadId: "t" } }))
          }
          assert.deepStrictEqual(yield* stored, before)
        })

        const start = Effect.fnUntraced(function*(agent: Agent.Agent<string>) {
          if (how === "started") return yield* agent.run("One", { threadId: "t" })
          yield* next(Effect.flatMap(editor.build(), (other) => other.run("One", { threadId: "t" })))
          return yield* agent.resume("t", approve)
        })
        const first = yield* next(Effect.gen(function*() {
          const agent = yield* editor.build()
          const running = yield* Effect.forkChild(start(agent), { startImmediately: true })
          yield* Deferred.await(entered)
          yield* refusals(agent)
          yield* Effect.flatMap(twin.build(), refusals)
          yield* next(Effect.flatMap(editor.build(), refusals))
          yield* Deferred.succeed(go, undefined)
          return yield* Fiber.join(running)
        }))
        assert.deepStrictEqual({ ...first.status }, { _tag: "Completed", answer: "one" })

        const history = yield* next(
          Effect.flatMap(
            editor.build(),
            (agent) => Effect.andThen(agent.run("Three", { threadId: "t" }), agent.history("t"))
          )
        )
        assert.deepStrictEqual(history.map(({ runId }) => runId as string), ["t#0", "t#1"])
        assert.deepStrictEqual(
          history.flatMap(({ messages }) => messages.map(({ role }) => role)),
          ["user", ...(how === "resumed" ? ["assistant", "tool"] : []), "assistant", "user", "assistant"]
        )
        assert.strictEqual(yield* model.calls, how === "resumed" ? 3 : 2)
      })
  )

  it.effect("C26 of one resume in each of three processes, started at once, one goes on and nothing happens twice", () =>
    Effect.gen(function*() {
      const ran: Array<string> = []
      const editor = AgentBuilder.make("editor").withTools(Toolkit.make(Waiting.gated("publish", {})), {
        publish: () => Effect.as(Effect.sync(() => ran.push("published")), "published")
      })
      const { model, next } = yield* Waiting.processes(yield* place, {
        editor: [Step.call("publish"), Step.text("one")]
      })
      yield* next(Effect.flatMap(editor.build(), (agent) => agent.run("One", { threadId: "t" })))

      const results = yield* Effect.forEach(
        [1, 2, 3],
        () =>
          next(
            Effect.flatMap(
              editor.build(),
              (agent) => Effect.result(agent.resume("t", [Answer.approve("0.0:approval0")]))
            )
          ),
        { concurrency: "unbounded" }
      )

      const won = results.filter(Result.isSuccess)
      assert.deepStrictEqual(won.map(({ success }) => ({ ...success.status })), [{ _tag: "Completed", answer: "one" }])
      for (const lost of results.filter(Result.isFailure)) {
        assert.include(["ThreadBusy", "NotSuspended"], lost.failure.reason._tag)
      }
      assert.deepStrictEqual(ran, ["published"])
      assert.strictEqual(yield* model.calls, 2)
    }))
})
