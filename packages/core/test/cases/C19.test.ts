import { assert, describe, it } from "@effect/vitest"
import { type Agent, AgentBuilder, Answer, DelegateRuntime, Mandate, RunStore, TypedAgent, Usage } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Arbitrary, Effect, Fiber, Layer, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { TestClock } from "effect/testing"
import { backings } from "../support/Backings.ts"
import * as Postures from "../support/Postures.ts"
import * as Sessions from "../support/Sessions.ts"
import * as Trees from "../support/Trees.ts"
import * as Waiting from "../support/Waiting.ts"

const Ping = Tool.make("ping", { success: Schema.String })
const tools = Toolkit.make(Ping)
const ping = { ping: () => Effect.succeed("pong") }

const grandchild = TypedAgent.text("grandchild", { description: "Helps" })
const good = TypedAgent.text("good", { description: "Works" }).withSubagents([grandchild])
const failing = TypedAgent.text("failing", { description: "Fails" }).withTools(tools, ping)
const endless = TypedAgent.text("endless", { description: "Never ends" }).withTools(tools, ping)
const top = AgentBuilder.make("top").withSubagents([good, failing, endless], { maxDepth: 2 })

const used = (input: number, output: number, step: Step.Step): Step.Step => Step.withUsage(step, { input, output })

const delegate = Step.calls(
  Step.textTask("good", "work"),
  Step.textTask("failing", "work"),
  Step.textTask("endless", "work")
)

// 10 + 100 + 20 + 30 + 7
const scripts = (last: Step.Step): Script.Scripts => ({
  top: [used(4, 2, delegate), last],
  good: [used(50, 10, Step.textTask("grandchild", "help")), used(35, 5, Step.text("fine"))],
  grandchild: [used(6, 1, Step.text("helped"))],
  failing: [used(12, 3, Step.call("ping")), Step.fail("authentication", { usage: { input: 5, output: 0 } })],
  endless: [used(20, 10, Step.call("ping")), Step.hang()]
})

const expected = {
  "t#0": { own: 10, tree: 167 },
  "t#0/0.0#0": { own: 100, tree: 107 },
  "t#0/0.0#0/0.0#0": { own: 7, tree: 7 },
  "t#0/0.1#0": { own: 20, tree: 20 },
  "t#0/0.2#0": { own: 30, tree: 30 }
}

const tokens = ({ own, tree }: Usage.RunUsage) => ({ own: Usage.tokens(own), tree: Usage.tokens(tree) })

const perRun = Effect.map(
  Trees.durableEvents("t"),
  (events) => Object.fromEntries(Trees.tagged(events, "RunSettled").map(({ runId, usage }) => [runId, tokens(usage)]))
)

// The child that never ends is cancelled once its siblings are done.
const cancelEndless = Effect.fnUntraced(function*(agent: Effect.Success<ReturnType<typeof top.build>>) {
  const model = yield* ScriptedModel.ScriptedModel
  yield* model.awaitCalls(8)
  yield* agent.cancel("t", { child: "t#0/0.2" })
})

describe("C19 The usage of a whole tree", () => {
  it.effect("C19 a tree's total counts reports, failures, cancelled children and grandchildren once each", () =>
    Effect.gen(function*() {
      const agent = yield* top.build()
      const running = yield* Effect.forkChild(agent.run("Go", { threadId: "t" }), { startImmediately: true })
      yield* cancelEndless(agent)
      const result = yield* Fiber.join(running)

      assert.strictEqual(result.status._tag, "Completed")
      assert.deepStrictEqual(tokens(result.usage), expected["t#0"])
      assert.deepStrictEqual(yield* perRun, expected)
      assert.deepStrictEqual((yield* agent.status("t")).usage, result.usage)
      assert.deepStrictEqual((yield* agent.history("t")).map(({ usage }) => usage), [result.usage])
      const tasks = Trees.tagged(yield* Trees.durableEvents("t"), "TaskSettled")
        .filter(({ depth }) => depth === 0)
        .map(({ failure, key, usage }) => [key, failure?._tag, Usage.tokens(usage)])
        .sort()
      assert.deepStrictEqual(tasks, [["0.0", undefined, 107], ["0.1", "ModelFailed", 20], ["0.2", "Cancelled", 30]])
      assert.deepStrictEqual(
        [result.usage.tree.modelCalls, result.usage.tree.toolCalls],
        // Calls that came back; three task calls, one more below, two pings.
        [2 + 2 + 1 + 1 + 1, 3 + 1 + 1 + 1]
      )
    }).pipe(Effect.provide(Trees.runtime(scripts(used(3, 1, Step.text("done")))))))

  it.effect("C19 the total is the same after the run failed and was recovered", () =>
    Effect.gen(function*() {
      const agent = yield* top.build()
      const running = yield* Effect.forkChild(Effect.flip(agent.run("Go", { threadId: "t" })), {
        startImmediately: true
      })
      yield* cancelEndless(agent)
      const error = yield* Fiber.join(running)
      const failed = yield* agent.status("t")
      const result = yield* agent.recover("t")

      assert.strictEqual(error.reason._tag, "ModelFailed")
      assert.strictEqual(failed.status._tag, "Failed")
      assert.deepStrictEqual(tokens(failed.usage), { own: 8, tree: 165 })
      assert.deepStrictEqual(tokens(result.usage), expected["t#0"])
      assert.deepStrictEqual(yield* perRun, expected)
    }).pipe(Effect.provide(
      Trees.runtime(scripts(Step.again(
        Step.fail("authentication", { usage: { input: 2, output: 0 } }),
        used(1, 1, Step.text("done"))
      )))
    )))

  it.effect("C19 a cancelled tree's total counts what every run used until then", () =>
    Effect.gen(function*() {
      const pinging = grandchild.withTools(tools, ping)
      const parent = TypedAgent.text("good", { description: "Works" }).withSubagents([pinging])
      const agent = yield* AgentBuilder.make("top").withSubagents([parent, failing, endless], { maxDepth: 2 }).build()
      const model = yield* ScriptedModel.ScriptedModel
      yield* agent.start("Go", { threadId: "t" })
      yield* model.awaitCalls(8)
      yield* agent.cancel("t")

      const status = yield* agent.status("t")
      assert.deepStrictEqual(status.status, { _tag: "Cancelled" })
      assert.deepStrictEqual(tokens(status.usage), { own: 6, tree: 6 + 60 + 7 + 20 + 30 })
      assert.deepStrictEqual(yield* perRun, {
        "t#0": { own: 6, tree: 123 },
        "t#0/0.0#0": { own: 60, tree: 67 },
        "t#0/0.0#0/0.0#0": { own: 7, tree: 7 },
        "t#0/0.1#0": { own: 20, tree: 20 },
        "t#0/0.2#0": { own: 30, tree: 30 }
      })
    }).pipe(Effect.provide(Trees.runtime({
      ...scripts(Step.text("")),
      top: [used(4, 2, delegate)],
      good: [used(50, 10, Step.textTask("grandchild", "help"))],
      grandchild: [used(6, 1, Step.call("ping")), Step.hang()]
    }))))

  it.effect("C19 ten parallel tool calls count as ten", () =>
    Effect.gen(function*() {
      const agent = yield* AgentBuilder.make("solo").withTools(tools, {
        ping: () => Effect.as(Effect.yieldNow, "pong")
      }).build()
      const { usage } = yield* agent.run("Go", { threadId: "t" })

      assert.deepStrictEqual([usage.own.toolCalls, usage.tree.toolCalls, usage.own.modelCalls], [10, 10, 2])
    }).pipe(Effect.provide(Trees.runtime({
      solo: [Step.calls(...Array.from({ length: 10 }, () => Step.call("ping"))), Step.text("done")]
    }))))

  const Child = Schema.Struct({
    before: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1000 })),
    last: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1000 })),
    ending: Schema.Literals(["reports", "fails", "is blocked", "runs out of steps"])
  })
  const endings = (last: number) => ({
    reports: used(last, 0, Step.text("fine")),
    fails: Step.fail("authentication", { usage: { input: last, output: 0 } }),
    "is blocked": used(last, 0, Step.contentFilter("no")),
    "runs out of steps": used(last, 0, Step.call("ping"))
  })

  it.effect.prop(
    "C19 whatever becomes of the children, the total is the sum of what all runs used",
    { children: Arbitrary.array(Arbitrary.schema(Child), { minLength: 1, maxLength: 12 }), own: Child },
    ({ children, own }) =>
      Effect.gen(function*() {
        const worker = TypedAgent.text("worker", { description: "Works" }).withTools(tools, ping).withMaxSteps(2)
        const agent = yield* AgentBuilder.make("top").withSubagents([worker]).build()
        const { usage } = yield* agent.run("Go", { threadId: "t" })

        const sum = children.reduce((total, { before, last }) => total + before + last, own.before + own.last)
        assert.deepStrictEqual(tokens(usage), { own: own.before + own.last, tree: sum })
        assert.strictEqual(usage.own.toolCalls, children.length)
      }).pipe(Effect.provide(Trees.runtime({
        top: [
          used(own.before, 0, Step.calls(...children.map((_, index) => Step.textTask("worker", `${index}`)))),
          used(0, own.last, Step.text("done"))
        ],
        worker: Script.byInput((input) => {
          const child = children[Number(input)]
          return child && [used(0, child.before, Step.call("ping")), endings(child.last)[child.ending]]
        })
      }))),
    { arbitrary: { runs: 40 } }
  )
})

describe.each(backings)("C19 A tree over several processes, in $name", ({ pass, place }) => {
  it.effect("C19 counts each run once after it waited, was resumed, crashed and was driven again", () =>
    Effect.gen(function*() {
      const gated = Toolkit.make(Waiting.gated("sign", {}))
      const signing = grandchild.withTools(gated, { sign: () => Effect.succeed("signed") })
      const working = TypedAgent.text("good", { description: "Works" }).withSubagents([signing])
      const parent = AgentBuilder.make("top").withSubagents([working, failing, endless], { maxDepth: 2 })
      const home = yield* place
      const { die, model, next } = yield* Waiting.processes(home, {
        ...scripts(Step.again(Step.hang(), used(3, 1, Step.text("done")))),
        grandchild: [used(2, 1, Step.call("sign")), used(3, 1, Step.text("helped"))]
      })
      const figures = Effect.provideService(perRun, RunStore.RunStore, yield* home)

      const first = yield* next(Effect.gen(function*() {
        const agent = yield* parent.build()
        const running = yield* Effect.forkChild(agent.run("Go", { threadId: "t" }), { startImmediately: true })
        yield* model.awaitCalls(7)
        yield* agent.cancel("t", { child: "t#0/0.2" })
        return yield* Fiber.join(running)
      }))
      assert.strictEqual(first.status._tag, "Suspended")
      assert.deepStrictEqual(yield* figures, { "t#0/0.1#0": expected["t#0/0.1#0"], "t#0/0.2#0": expected["t#0/0.2#0"] })
      yield* die(Effect.gen(function*() {
        const agent = yield* parent.build()
        yield* Effect.forkChild(agent.resume("t", [Answer.approve("0.0:child~0.0:child~0.0:approval0")]))
        yield* model.awaitCalls(10)
      }))
      const last = yield* next(Effect.gen(function*() {
        const agent = yield* parent.build()
        const recovering = yield* Effect.forkChild(agent.recover("t"), { startImmediately: true })
        yield* pass("1 minute")
        return yield* Fiber.join(recovering)
      }))
      const kept = yield* next(
        Effect.flatMap(parent.build(), (agent) => Effect.all([agent.status("t"), agent.history("t")]))
      )

      assert.deepStrictEqual({ ...last.status }, { _tag: "Completed", answer: "done" })
      assert.deepStrictEqual(tokens(last.usage), expected["t#0"])
      assert.deepStrictEqual(yield* figures, expected)
      const [status, history] = kept
      assert.deepStrictEqual([status.usage, ...history.map(({ usage }) => usage)], [last.usage, last.usage])
      assert.deepStrictEqual([last.usage.tree.modelCalls, last.usage.tree.toolCalls], [
        2 + 2 + 2 + 1 + 1,
        3 + 1 + 1 + 1 + 1
      ])
      assert.strictEqual(yield* model.calls, 11)
    }))
})

describe.each(backings)("C19 with postures, in $name", ({ place }) => {
  const delegate = (name: string) => Step.call("delegate", { posture: name, task: "Work" })

  it.effect("C19 a cached result counts 0, and the total stays the same over an approval and a new process", () =>
    Effect.gen(function*() {
      const { die, model, next } = yield* Waiting.processes(yield* place, {
        top: [
          used(4, 1, Step.calls(delegate("good"), delegate("failing"), delegate("endless"))),
          used(2, 1, Step.calls(delegate("good"), Step.call("pay", { euros: 1 }))),
          used(1, 1, Step.text("done"))
        ],
        good: [used(50, 10, Step.calls(delegate("grandchild"))), used(35, 5, Step.text("fine"))],
        grandchild: [used(6, 1, Step.text("helped"))],
        failing: [used(12, 3, Step.call("read")), Step.fail("authentication", { usage: { input: 5, output: 0 } })],
        endless: [used(20, 10, Step.call("read")), Step.hang()]
      })
      // A process has a cache of its own.
      const process = <A, E>(
        verb: (agent: Agent.Agent<string>) => Effect.Effect<A, E, Mandate.Mandate>
      ) =>
        Effect.flatMap(
          AgentBuilder.make("top").withPostures().withSubagents([], { maxDepth: 2 }).withCatalogTools(["pay"]).build(),
          verb
        ).pipe(Effect.provide(Layer.provideMerge(
          DelegateRuntime.layer(),
          Postures.parts(
            ["good", "grandchild", "failing", "endless"].map((name) =>
              Postures.posture(name, { allowedTools: ["delegate", "read"] })
            )
          )
        )))
      const first = yield* die(process((agent) =>
        Effect.gen(function*() {
          const running = yield* Effect.forkChild(agent.run("Go", { threadId: "t" }), { startImmediately: true })
          yield* model.awaitCalls(8)
          yield* agent.cancel("t", { child: "t#0/0.2" })
          return yield* Fiber.join(running)
        })
      ))
      yield* TestClock.adjust("1 minute")
      const events = yield* next(process((agent) =>
        Effect.gen(function*() {
          const { usage } = yield* agent.resume("t", [Answer.approve("1.1:approval0")])
          assert.deepStrictEqual(tokens(usage), { own: 10, tree: 167 })
          assert.deepStrictEqual((yield* agent.status("t")).usage, usage)
          const { store } = yield* Mandate.Mandate
          return yield* Effect.provideService(Trees.durableEvents("t"), RunStore.RunStore, store)
        })
      ))

      assert.strictEqual(first.status._tag, "Suspended")
      assert.deepStrictEqual(tokens(first.usage), { own: 8, tree: 165 })
      assert.strictEqual(yield* model.calls, 10)
      assert.deepStrictEqual([...Sessions.ends(events)].sort(), [
        "cache_hit",
        "cancelled",
        "error",
        "success",
        "success"
      ])
      assert.deepStrictEqual(
        Object.fromEntries(
          Trees.tagged(events, "DelegateComplete").map(({ subSessionId, tokensUsed }) => [subSessionId, tokensUsed])
        ),
        { "t#0/0.0": 100, "t#0/0.0#0/0.0": 7, "t#0/0.1": 20, "t#0/0.2": 30, "t#0/1.0": 0 }
      )
    }))
})
