import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, type DelegationConfig, TypedAgent } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Arbitrary, Effect, Fiber, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { TestClock } from "effect/testing"
import * as Trees from "../support/Trees.ts"

const whole = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

const several = <S extends Schema.Codec<any>>(schema: S, minLength: number, maxLength: number) =>
  Arbitrary.array(Arbitrary.schema(schema), { minLength, maxLength })

const runs = (count: number) => ({ arbitrary: { runs: count } })

// Moves time until the run has ended.
const ended = Effect.fnUntraced(function*<A, E>(run: Effect.Effect<A, E>) {
  const running = yield* Effect.forkChild(run, { startImmediately: true })
  yield* TestClock.adjust("1 hour")
  assert.isDefined(running.pollUnsafe(), "the run has not ended")
  return yield* Fiber.join(running)
})

const worker = TypedAgent.text("worker", { description: "Works" })

describe("maxConcurrentChildren", () => {
  it.effect.prop(
    "is never exceeded, is reached, and calls over it are served in call order",
    { bound: whole(1, 5), steps: Arbitrary.array(several(whole(1, 40), 1, 8), { minLength: 1, maxLength: 3 }) },
    ({ bound, steps }) => {
      const live = { now: 0, peak: 0 }
      const order: Array<string> = []
      const work = (name: string, millis: number): Step.Step => () => {
        order.push(name)
        live.peak = Math.max(live.peak, ++live.now)
        return Effect.as(Effect.ensuring(Effect.sleep(millis), Effect.sync(() => live.now--)), Step.text(name))
      }
      const names = steps.map((delays, step) => delays.map((_, index) => `${step}.${index}`))
      return Effect.gen(function*() {
        const agent = yield* AgentBuilder.make("top")
          .withSubagents([worker], { maxConcurrentChildren: bound, maxTasksPerTurn: 100 })
          .build()
        yield* ended(agent.run("Go", { threadId: "t" }))

        assert.strictEqual(live.peak, Math.min(bound, Math.max(...steps.map(({ length }) => length))))
        assert.deepStrictEqual(order, names.flat())
        const started = Trees.tagged(yield* Trees.durableEvents("t"), "TaskStarted").map(({ key }) => key as string)
        assert.deepStrictEqual(started, names.flat())
      }).pipe(Effect.provide(Trees.runtime({
        top: [
          ...names.map((tasks) => Step.calls(...tasks.map((name) => Step.textTask("worker", name)))),
          Step.text("done")
        ],
        worker: Script.byInput((name) => {
          const [step = 0, index = 0] = name.split(".").map(Number)
          return [work(name, steps[step]?.[index] ?? 0)]
        })
      })))
    },
    runs(60)
  )

  it.effect("is a bound of one run: two runs of an agent have slots of their own", () =>
    Effect.gen(function*() {
      const agent = yield* AgentBuilder.make("top").withSubagents([worker], { maxConcurrentChildren: 1 }).build()
      yield* agent.start("Go", { threadId: "a" })
      yield* agent.start("Go", { threadId: "b" })
      const model = yield* ScriptedModel.ScriptedModel
      yield* model.awaitCalls(4)

      assert.lengthOf(yield* model.requestsOf("worker"), 2)
      yield* TestClock.adjust("1 minute")
      assert.lengthOf(yield* model.requestsOf("worker"), 4)
    }).pipe(Effect.provide(Trees.runtime({
      top: Script.each([Step.calls(Step.textTask("worker", "1"), Step.textTask("worker", "2")), Step.text("done")]),
      worker: Script.each([Step.delay("1 second", Step.text("done"))])
    }))))
})

describe("maxTasksPerTurn", () => {
  const Look = Tool.make("look", { success: Schema.String })
  const typed = TypedAgent.make("typed", {
    description: "Counts",
    input: Schema.Struct({ millis: Schema.Number }),
    report: Schema.Number
  })
  const calls = {
    runs: (millis: number) => Step.task("typed", { millis }),
    "names nobody": () => Step.textTask("stranger", "x"),
    "has no input": () => Step.task("typed", {}),
    "is no task": () => Step.call("look")
  }
  const Kind = Schema.Literals(["runs", "names nobody", "has no input", "is no task"])
  const Call = Schema.Struct({ kind: Kind, millis: whole(1, 40) })
  const own = {
    runs: undefined,
    "names nobody": "UnknownSubagent",
    "has no input": "InvalidInput",
    "is no task": undefined
  }

  it.effect.prop(
    "refuses a call exactly when its position among the run's task calls is over it, whatever finished first",
    {
      bound: whole(1, 6),
      turns: Arbitrary.array(Arbitrary.array(several(Call, 1, 5), { minLength: 1, maxLength: 3 }), {
        minLength: 1,
        maxLength: 2
      })
    },
    ({ bound, turns }) =>
      Effect.gen(function*() {
        const agent = yield* AgentBuilder.make("top")
          .withTools(Toolkit.make(Look), { look: () => Effect.succeed("seen") })
          .withSubagents([typed, worker], { maxTasksPerTurn: bound })
          .build()
        for (const turn of turns) {
          const result = yield* ended(agent.run("Go", { threadId: "t" }))
          const model = yield* ScriptedModel.ScriptedModel
          const requests = (yield* model.requestsOf("top")).filter(({ call }) => call.runId === result.runId)

          let position = 0
          const expected = turn.map((batch) =>
            batch.map(({ kind }) => {
              if (kind === "is no task") return undefined
              return ++position > bound ? "TooManyTasks" : own[kind]
            })
          )
          assert.deepStrictEqual(requests.slice(1).map(({ request }) => Trees.reasons(request)), expected)
        }
        yield* Trees.noViolations
      }).pipe(Effect.provide(Trees.runtime({
        top: Script.runs(...turns.map((turn) => [
          ...turn.map((batch) => Step.calls(...batch.map(({ kind, millis }) => calls[kind](millis)))),
          Step.text("done")
        ])),
        typed: Script.program((request) => {
          const millis = Number(/\d+/.exec(Trees.asked(request))?.[0])
          return Step.delay(millis, Step.report(millis))
        })
      }))),
    runs(60)
  )

  it.effect("counts calls that did not run: those beside a refused report, and those of a cut response", () =>
    Effect.gen(function*() {
      const agent = yield* AgentBuilder.make("top")
        .withOutput(Schema.Struct({ done: Schema.Boolean }))
        .withReasks(2)
        .withSubagents([worker], { maxTasksPerTurn: 3 })
        .build()
      const result = yield* agent.run("Go", { threadId: "t" })

      const model = yield* ScriptedModel.ScriptedModel
      const last = (yield* model.requestsOf("top")).at(-1)!
      assert.deepStrictEqual(result.status, { _tag: "Completed", answer: { done: true } })
      assert.deepStrictEqual(Trees.reasons(last.request), [undefined, "TooManyTasks"])
      assert.lengthOf(yield* model.requestsOf("worker"), 1)
    }).pipe(Effect.provide(Trees.runtime({
      top: [
        Step.calls(Step.report({ done: "yes" }), Step.textTask("worker", "not run")),
        Step.cut(Step.textTask("worker", "not run")),
        Step.calls(Step.textTask("worker", "third"), Step.textTask("worker", "fourth")),
        Step.report({ done: true })
      ],
      worker: [Step.text("done")]
    }))))
})

describe("maxDepth", () => {
  it.effect.prop(
    "gives a child what its parent has left less one, and no more than the child's own",
    { top: Schema.UndefinedOr(whole(1, 4)), owns: several(Schema.UndefinedOr(whole(1, 4)), 5, 5) },
    ({ owns, top }) =>
      Effect.gen(function*() {
        const config = (own: number | undefined): DelegationConfig.DelegationConfig =>
          own === undefined ? {} : { maxDepth: own }
        const family = owns.reduceRight<ReadonlyArray<TypedAgent.TypedAgent<any, any>>>(
          (below, own, index) => {
            const self = TypedAgent.text(`level-${index + 1}`, { description: "Passes on" })
            return [below.length === 0 ? self : self.withSubagents(below, config(own))]
          },
          []
        )
        const agent = yield* AgentBuilder.make("top").withSubagents(family, config(top)).build()
        yield* agent.run("Go", { threadId: "t" })

        let left = top ?? 1
        let levels = 0
        for (const own of owns) {
          if (left < 1) break
          levels++
          left = Math.min(left - 1, own ?? Infinity)
        }
        const model = yield* ScriptedModel.ScriptedModel
        const depths = new Set((yield* model.requests).map(({ call }) => call.depth))
        assert.strictEqual(Math.max(...depths), levels)
      }).pipe(Effect.provide(Trees.runtime(
        Object.fromEntries(["top", ...owns.map((_, index) => `level-${index + 1}`)].map((id) => [
          id,
          Script.program((_, { depth, step }) =>
            step === 0 && depth < owns.length ? Step.textTask(`level-${depth + 1}`, "go") : Step.text("done")
          )
        ]))
      ))),
    runs(60)
  )
})

describe("a task call that is wrong in several ways", () => {
  it.effect("is refused for its subagent first, then for its depth, then for its input", () =>
    Effect.gen(function*() {
      const leaf = TypedAgent.text("leaf", { description: "Works" })
      const count = TypedAgent.make("count", {
        description: "Counts",
        input: Schema.Struct({ n: Schema.Int }),
        report: Schema.Int
      })
      const middle = TypedAgent.text("middle", { description: "Passes on" }).withSubagents([leaf, count])
      const agent = yield* AgentBuilder.make("top").withSubagents([middle]).build()
      yield* agent.run("Go", { threadId: "t" })

      const [, after] = yield* Effect.flatMap(ScriptedModel.ScriptedModel, (model) => model.requestsOf("middle"))
      assert.deepStrictEqual(Trees.reasons(after!.request), ["UnknownSubagent", "DepthExceeded", "DepthExceeded"])
    }).pipe(Effect.provide(Trees.runtime({
      top: [Step.calls(Step.textTask("middle", "Go")), Step.text("done")],
      middle: [
        Step.calls(
          Step.textTask("nobody", "Go"),
          Step.call("task", { subagent: "leaf" }),
          Step.task("count", { n: "1" })
        ),
        Step.text("alone")
      ]
    }))))
})

describe("every bound", () => {
  const names = ["maxConcurrentChildren", "maxTasksPerTurn", "maxDepth", "maxReportBytes", "childRetention"] as const
  const bad = [0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, -0, Number.MAX_SAFE_INTEGER + 1]

  const problemsOf = (config: DelegationConfig.DelegationConfig) =>
    Effect.gen(function*() {
      const middle = TypedAgent.text("middle", { description: "Passes on" }).withSubagents([worker], config)
      const errors = [
        yield* Effect.flip(AgentBuilder.make("top").withSubagents([worker], config).build()),
        yield* Effect.flip(AgentBuilder.make("top").withSubagents([middle]).build()),
        yield* Effect.flip(middle.bind())
      ]
      return errors.map(({ problems }) => problems.map(({ agent, kind, message }) => ({ agent, kind, message })))
    })

  for (const name of names) {
    it.effect.each(bad)(
      `${name} of %s is refused by build and bind, naming the bound and the agent`,
      (value) =>
        Effect.gen(function*() {
          const message = `${name} must be a positive whole number, not ${value}`
          assert.deepStrictEqual<unknown>(
            yield* problemsOf({ [name]: value }),
            ["top", "top > middle", "middle"].map((agent) => [{ agent, kind: "InvalidBound", message }])
          )
        }).pipe(Effect.provide(Trees.runtime({})))
    )
  }

  it.effect("is named when several are bad, the least maxReportBytes among them", () =>
    Effect.gen(function*() {
      const [first] = yield* problemsOf({ maxDepth: 0, maxReportBytes: 511, childRetention: -2 })

      assert.deepStrictEqual(first?.map(({ message }) => message).sort(), [
        "childRetention must be a positive whole number, not -2",
        "maxDepth must be a positive whole number, not 0",
        "maxReportBytes must be at least 512, not 511"
      ])
    }).pipe(Effect.provide(Trees.runtime({}))))
})
