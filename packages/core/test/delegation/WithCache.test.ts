import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, ResultCache, type RunConfig, ToolCatalog, TypedAgent } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Fiber, Layer, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { TestClock } from "effect/testing"
import * as Trees from "../support/Trees.ts"

const scout = TypedAgent.make("scout", {
  description: "Scouts",
  input: Schema.Struct({ topic: Schema.String, at: Schema.optional(Schema.Date) }),
  report: Schema.Struct({ at: Schema.Date })
})
const reports = Script.each([Step.calls(Step.report({ at: "2026-01-02T00:00:00.000Z" }))])
const report = { at: new Date("2026-01-02") }

type Agent = TypedAgent.TypedAgent<any, any, ToolCatalog.ToolCatalog>

const counting = (description: string, success: Schema.Codec<number, number>): Agent =>
  scout.withTools(Toolkit.make(Tool.make("count", { description, success })), { count: () => Effect.succeed(1) })
const helped = (instructions: string): Agent =>
  scout.withSubagents([TypedAgent.text("helper", { description: "Helps" }).withInstructions(instructions)])
const taking = (topic: Schema.Codec<string, string>): Agent =>
  TypedAgent.make("scout", {
    description: "Scouts",
    input: Schema.Struct({ topic }),
    report: Schema.Struct({ at: Schema.Date })
  })

// Two definitions each that differ in one thing alone.
const differing: ReadonlyArray<readonly [string, Agent, Agent]> = [
  ["model settings", scout.withModel("fast", { temperature: 0 }), scout.withModel("fast", { temperature: 1 })],
  ["input schema", taking(Schema.String), taking(Schema.String.check(Schema.isMinLength(2)))],
  ["tools' descriptions", counting("Counts", Schema.Int), counting("Counts all", Schema.Int)],
  ["tools' results", counting("Counts", Schema.Int), counting("Counts", Schema.Finite)],
  ["bounds", helped("Help."), helped("Help.").withSubagents([], { maxTasksPerTurn: 2 })],
  ["policy for failures", helped("Help."), helped("Help.").withChildFailure({ refused: "fail-run" })],
  ["subagents' behaviour", helped("Help."), helped("Help more.")],
  ["tools of the catalog", scout, scout.withCatalogTools(["read"])],
  ["re-asks", scout, scout.withReasks(2)],
  ["budget", scout, scout.withBudget({ maxTokens: 10_000 })]
]

const calls = Effect.flatMap(ScriptedModel.ScriptedModel, (model) => model.calls)

const runtime = (scripts: Script.Scripts) => Layer.merge(Trees.runtime(scripts), ResultCache.layerMemory())

describe("withCache", () => {
  it.effect("gives an equal input the report of before, decoded anew, with nothing used", () =>
    Effect.gen(function*() {
      const bound = yield* scout.withCache().bind()
      const first = yield* bound.run({ topic: "tides" })
      const second = yield* bound.run({ topic: "tides" })
      const other = yield* bound.run({ topic: "winds" })
      const named = yield* bound.run({ topic: "tides" }, { threadId: "t" })

      assert.deepStrictEqual([first._tag, second._tag, other._tag, named._tag], Array(4).fill("Reported"))
      if (first._tag !== "Reported" || second._tag !== "Reported") return
      assert.deepStrictEqual(second.report, report)
      assert.notStrictEqual(second.report.at, first.report.at)
      assert.notStrictEqual(second.child.threadId, first.child.threadId)
      assert.strictEqual(second.usage.tree.modelCalls, 0)
      assert.strictEqual(yield* calls, 3)
    }).pipe(Effect.provide(runtime({ scout: reports }))))

  it.effect("tells definitions apart by all that is data, and by the version of the policy", () =>
    Effect.gen(function*() {
      const run = (agent: typeof scout) =>
        Effect.flatMap(agent.withCache({ version: "1" }).bind(), (bound) => bound.run({ topic: "tides" }))
      for (const agent of [scout, scout, scout.withInstructions("Be brief."), scout.withMaxSteps(3)]) yield* run(agent)
      yield* Effect.flatMap(scout.withCache({ version: "2" }).bind(), (bound) => bound.run({ topic: "tides" }))

      assert.strictEqual(yield* calls, 4)
    }).pipe(Effect.provide(runtime({ scout: reports }))))

  it.effect.each(differing)("tells definitions apart by their %s", ([, one, other]) =>
    Effect.gen(function*() {
      for (const agent of [one, other, one, other]) {
        yield* Effect.flatMap(agent.withCache().bind(), (bound) => bound.run({ topic: "tides" }))
      }

      assert.strictEqual(yield* calls, 2)
    }).pipe(Effect.provide(Layer.merge(runtime({ scout: reports }), ToolCatalog.layer))))

  it.effect("keeps a report as long as the policy says, and nothing but reports", () =>
    Effect.gen(function*() {
      const bound = yield* scout.withCache({ timeToLive: "1 minute" }).bind()
      const tags = [
        (yield* bound.run({ topic: "fail" }).pipe(Effect.result))._tag,
        (yield* bound.run({ topic: "fail" }))._tag,
        (yield* bound.run({ topic: "fail" }))._tag
      ]
      const before = yield* calls
      yield* TestClock.adjust("1 minute")
      yield* bound.run({ topic: "fail" })

      assert.deepStrictEqual([...tags, before, yield* calls], ["Failure", "Reported", "Reported", 2, 3])
    }).pipe(Effect.provide(runtime({
      scout: Script.runs(
        [Step.fail("authentication")],
        [Step.calls(Step.report({ at: "2026-01-02T00:00:00.000Z" }))],
        [Step.calls(Step.report({ at: "2026-01-02T00:00:00.000Z" }))]
      )
    }))))

  it.effect("serves the tasks of a parent's model too, each as a call without a child", () =>
    Effect.gen(function*() {
      const lead = yield* AgentBuilder.make("lead").withSubagents([scout.withCache()]).build()
      const first = yield* lead.run("Go")
      const second = yield* lead.run("Again")

      assert.deepStrictEqual([first.usage.tree.childRuns, second.usage.tree.childRuns], [1, 0])
      const heard = (yield* Effect.flatMap(ScriptedModel.ScriptedModel, (model) => model.requestsOf("lead")))
        .filter(({ call }) => call.step === 1)
      const output = { report: { at: "2026-01-02T00:00:00.000Z" } }
      assert.deepStrictEqual(heard.map(({ request }) => Trees.outputs(request)), [[output, output], [output]])
      yield* Trees.noViolations
    }).pipe(Effect.provide(runtime({
      lead: Script.byInput((input) => [
        Step.calls(...(input === "Go" ? ["x", "x"] : ["x"]).map((topic) => Step.task("scout", { topic }))),
        Step.text("done")
      ]),
      scout: reports
    }))))

  it.effect("gives no tenant's report to another, nor to a call that has none", () =>
    Effect.gen(function*() {
      const agent = scout.withCache()
      const [bound, lead] = [yield* agent.bind(), yield* AgentBuilder.make("lead").withSubagents([agent]).build()]
      yield* bound.run({ topic: "x" })
      for (const tenant of ["acme", "globex", "acme"]) yield* bound.run({ topic: "x" }, { tenant })
      for (const tenant of ["acme", "initech", "initech"]) yield* lead.run("Go", { tenant })
      yield* lead.run("Go")

      // One for each of: nobody, acme, globex, initech.
      const model = yield* ScriptedModel.ScriptedModel
      assert.lengthOf(yield* model.requestsOf("scout"), 4)
    }).pipe(Effect.provide(runtime({
      lead: Script.each([Step.calls(Step.task("scout", { topic: "x" })), Step.text("done")]),
      scout: reports
    }))))

  it.effect("refuses what a run would refuse, whatever report an equal call gave", () =>
    Effect.gen(function*() {
      const bound = yield* scout.withCache().bind()
      yield* bound.run({ topic: "tides" })
      const configs: ReadonlyArray<readonly [string, RunConfig.RunConfig]> = [
        ["budget", { budget: { maxTokens: 0 } }],
        ["treeBudget", { treeBudget: { maxChildRuns: -1 } }],
        ["childRetention", { childRetention: 1.5 }],
        ["tenant", { tenant: "" }]
      ]
      for (const [field, config] of configs) {
        const { reason } = yield* Effect.flip(bound.run({ topic: "tides" }, config))
        assert.deepInclude(reason, { _tag: "InvalidInput", field })
      }
      const valid = { budget: { maxTokens: 1 }, childRetention: 1 }

      assert.strictEqual((yield* bound.run({ topic: "tides" }, valid))._tag, "Reported")
      assert.strictEqual(yield* calls, 1)
    }).pipe(Effect.provide(runtime({ scout: reports }))))

  it.effect("waits for an equal call with its own budget alone: one that may take longer holds up none", () =>
    Effect.gen(function*() {
      const bound = yield* scout.withCache().bind()
      const run = (config?: RunConfig.RunConfig) =>
        Effect.forkChild(bound.run({ topic: "tides" }, config), { startImmediately: true })
      const slow = [yield* run(), yield* run()]
      const quick = yield* run({ budget: { timeout: "5 seconds" } })
      const asked = yield* calls
      yield* TestClock.adjust("5 seconds")
      const ended = quick.pollUnsafe()

      assert.isDefined(ended)
      const outcome = yield* Fiber.join(quick)
      assert.deepInclude(outcome, { _tag: "NotReported", failure: { _tag: "BudgetExceeded", limit: "time" } })
      assert.deepStrictEqual([asked, yield* calls], [2, 2])
      yield* Fiber.interruptAll(slow)
    }).pipe(Effect.provide(runtime({ scout: Script.each([Step.hang()]) }))))

  it.effect("refuses a policy that is not valid", () =>
    Effect.gen(function*() {
      const { problems } = yield* Effect.flip(scout.withCache({ timeToLive: 0, version: " " }).bind())

      assert.deepStrictEqual(problems.map(({ message }) => message), [
        "the cache policy: timeToLive must be a positive duration, not 0",
        "the cache policy: version must be a string that is not blank, not a string"
      ])
    }).pipe(Effect.provide(runtime({}))))
})
