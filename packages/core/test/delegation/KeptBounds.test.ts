import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, DelegationConfig, type Json, TypedAgent } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Arbitrary, Effect, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as Trees from "../support/Trees.ts"

const whole = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

const worker = TypedAgent.text("worker", { description: "Works" })

const bytesOf = (value: unknown) => new TextEncoder().encode(JSON.stringify(value)).length

describe("maxReportBytes", () => {
  const Piece = Schema.Literals(["a", "é", "漢", "😀", "\u0001", "\"", "\\", "\n", "\u2028", "/"])
  const pieces = Arbitrary.array(Arbitrary.schema(Piece), { minLength: 0, maxLength: 60 })

  const ReportError = Schema.Struct({
    error: Schema.Struct({ reason: Schema.Literal("InvalidReport"), message: Schema.NonEmptyString })
  })

  // Runs one task whose subagent reports `report`, and gives what the parent's model reads.
  const heard = Effect.fnUntraced(function*(maxReportBytes: number, child: TypedAgent.TypedAgent<any, any>) {
    const agent = yield* AgentBuilder.make("top").withSubagents([child], { maxReportBytes }).build()
    yield* agent.run("Go", { threadId: "t" })
    const model = yield* ScriptedModel.ScriptedModel
    const requests = yield* model.requestsOf("top")
    assert.lengthOf(Trees.tagged(yield* Trees.durableEvents("t"), "TaskStarted"), 1)
    return Trees.lastResults(requests[1]!.request)[0]!
  })

  const reporting = (step: Step.Step) =>
    Trees.runtime({ top: [Step.textTask("worker", "go"), Step.text("done")], worker: [step] })

  it.effect.prop(
    "counts every byte of the message as sent: a report of as many passes whole, one byte more is refused",
    { pieces, padding: whole(DelegationConfig.MinReportBytes, 900) },
    ({ padding, pieces }) => {
      const text = pieces.join("") + "x".repeat(padding)
      const size = bytesOf({ report: text })
      return Effect.gen(function*() {
        const passed = yield* heard(size, worker).pipe(Effect.provide(reporting(Step.text(text))))
        const refused = yield* heard(size - 1, worker).pipe(Effect.provide(reporting(Step.text(text))))

        assert.deepStrictEqual<unknown>(passed.output, { type: "json", value: { report: text } })
        assert.isFalse(passed.isError)
        const message = `The report would be ${size} bytes; at most ${size - 1} are allowed`
        assert.deepStrictEqual<unknown>(refused.output.value, { error: { reason: "ReportTooLarge", message } })
        assert.isTrue(refused.isError)
      })
    },
    { arbitrary: { runs: 60 } }
  )

  it.effect.prop(
    "holds for errors too, which are cut at a whole character",
    { pieces, max: whole(DelegationConfig.MinReportBytes, 700) },
    ({ max, pieces }) => {
      const field = `${pieces.join("")} ${"long ".repeat(20)}`
      const fields = Array.from({ length: 40 }, (_, index) => `${index} ${field}`)
      const child = TypedAgent.make("worker", {
        description: "Works",
        input: Schema.Struct({ task: Schema.String }),
        report: Schema.Struct(Object.fromEntries(fields.map((name) => [name, Schema.String])))
      }).withReasks(0)
      return Effect.gen(function*() {
        const { isError, output } = yield* heard(max, child)

        assert.isTrue(isError)
        assert.isAtMost(bytesOf(output.value), max)
        // One more character would not have fitted.
        assert.isAbove(bytesOf(output.value), max - 7)
        assert.notInclude(JSON.stringify(output.value), "\ufffd")
        assert.isTrue(Schema.is(ReportError)(output.value))
        assert.isTrue(JSON.stringify(output.value).isWellFormed())
      }).pipe(Effect.provide(Trees.runtime({
        top: [Step.task("worker", { task: "go" }), Step.text("done")],
        worker: [Step.report({ wrong: 1 } as Json.Json)]
      })))
    },
    { arbitrary: { runs: 40 } }
  )
})

describe("childRetention", () => {
  const helper = TypedAgent.text("helper", { description: "Helps" })
  const child = worker.withSubagents([helper])
  const Turn = Schema.Struct({
    tasks: Schema.Array(whole(1, 30)).check(Schema.isMinLength(1), Schema.isMaxLength(5)),
    asked: Schema.UndefinedOr(whole(1, 6))
  })

  it.effect.prop(
    "keeps the newest settled child threads of a thread with all below them, and a run can only lower it",
    { bound: whole(1, 4), turns: Arbitrary.array(Arbitrary.schema(Turn), { minLength: 1, maxLength: 4 }) },
    ({ bound, turns }) =>
      Effect.gen(function*() {
        const agent = yield* AgentBuilder.make("top")
          .withSubagents([child], { childRetention: bound, maxDepth: 2, maxConcurrentChildren: 2 })
          .build()
        let kept: ReadonlyArray<string> = []
        for (const [index, { asked, tasks }] of turns.entries()) {
          const config = asked === undefined ? {} : { childRetention: asked }
          const running = yield* Effect.forkChild(agent.run("Go", { threadId: "t", ...config }), {
            startImmediately: true
          })
          yield* TestClock.adjust("1 minute")
          yield* Fiber.join(running)

          const all = [...kept, ...tasks.map((_, task) => `t#${index}/0.${task}#0`)]
          kept = all.slice(-Math.min(bound, asked ?? bound))
          const below = (yield* Trees.stored("t")).filter(({ row }) => row.parentRunId !== null)
          assert.deepStrictEqual(
            below.map(({ row }) => row.runId),
            kept.flatMap((runId) => [runId, `${runId}/0.0#0`])
          )
        }
      }).pipe(Effect.provide(Trees.runtime({
        top: Script.runs(...turns.map(({ tasks }) => [
          Step.calls(...tasks.map((millis) => Step.textTask("worker", `${millis}`))),
          Step.text("done")
        ])),
        worker: Script.program((request, { step }) =>
          step === 0
            ? Step.delay(Number(Trees.asked(request)), Step.textTask("helper", "help"))
            : Step.text("done")
        ),
        helper: Script.program(() => Step.text("helped"))
      }))),
    { arbitrary: { runs: 40 } }
  )

  it.effect("is an invalid input of a run when it is no positive whole number", () =>
    Effect.gen(function*() {
      const agent = yield* AgentBuilder.make("top").withSubagents([worker]).build()
      for (const childRetention of [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY]) {
        const { reason } = yield* Effect.flip(agent.run("Go", { threadId: "t", childRetention }))
        assert.deepStrictEqual(reason, {
          _tag: "InvalidInput",
          field: "childRetention",
          issues: [`it must be a positive whole number, not ${childRetention}`]
        })
      }
      assert.lengthOf(yield* Trees.stored("t"), 0)
    }).pipe(Effect.provide(Trees.runtime({}))))

  it.effect("never prunes a child whose result its parent has not recorded yet", () =>
    Effect.gen(function*() {
      const agent = yield* AgentBuilder.make("top")
        .withSubagents([worker], { childRetention: 1, maxConcurrentChildren: 4 })
        .build()
      yield* agent.start("Go", { threadId: "t" })
      yield* TestClock.adjust("10 millis")

      const below = (yield* Trees.stored("t")).filter(({ row }) => row.parentRunId !== null)
      // The first is older than the last two, but it is not done.
      assert.deepStrictEqual(below.map(({ row }) => [row.runId, row.state]), [
        ["t#0/0.0#0", "Running"],
        ["t#0/0.2#0", "Settled"]
      ])
      yield* agent.cancel("t")
    }).pipe(Effect.provide(Trees.runtime({
      top: [Step.calls(...["hang", "1", "2"].map((name) => Step.textTask("worker", name)))],
      worker: Script.byInput((name) => [name === "hang" ? Step.hang() : Step.text(name)])
    }))))
})
