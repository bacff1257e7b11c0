import { assert, describe, it } from "@effect/vitest"
import {
  AgentBuilder,
  type BoundAgent,
  DelegateRuntime,
  PostureRegistry,
  ResultCache,
  ToolCatalog,
  TypedAgent
} from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Layer, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Postures from "../support/Postures.ts"
import * as Trees from "../support/Trees.ts"

const { posture } = Postures

const callsOf = (agent: string) =>
  Effect.flatMap(ScriptedModel.ScriptedModel, (model) => Effect.map(model.requestsOf(agent), ({ length }) => length))
const seen = Script.each([Step.text("seen")])

const extra = Toolkit.make(Tool.make("extra", { success: Schema.String }))
const withExtra = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.provide(effect, ToolCatalog.layerTools(extra, { extra: () => Effect.succeed("more") }))

describe("the result of a posture that may delegate", () => {
  const postures = [posture("scout", { allowedTools: ["read", "delegate"] }), posture("clerk")]
  const call = (more: { readonly posture?: string; readonly parentDepth?: number } = {}) =>
    Effect.map(DelegateRuntime.run({ posture: "scout", task: "Look", ...more }), ({ status }) => status)
  const edited = Effect.flatMap(
    PostureRegistry.PostureRegistry,
    ({ put }) => put(posture("clerk", { instructions: "You write less." }))
  )

  it.effect("P5 is for calls that may delegate as deep", () =>
    Effect.gen(function*() {
      const statuses = [yield* call(), yield* call({ parentDepth: 1 }), yield* call({ parentDepth: 1 }), yield* call()]

      assert.deepStrictEqual(statuses, ["success", "success", "cache_hit", "cache_hit"])
    }).pipe(Effect.provide(Postures.runtime(postures, { scout: seen }))))

  it.effect("P5 is for the postures and tools that were there", () =>
    Effect.gen(function*() {
      const statuses = [yield* call(), yield* call(), yield* withExtra(call()), yield* call()]
      yield* edited
      statuses.push(yield* call(), yield* call())

      assert.deepStrictEqual(statuses, ["success", "cache_hit", "success", "cache_hit", "success", "cache_hit"])
    }).pipe(Effect.provide(Postures.runtime(postures, { scout: seen }))))

  it.effect("P5 is for every depth and whatever else is there where a posture may not delegate", () =>
    Effect.gen(function*() {
      const statuses = [
        yield* call({ posture: "reader" }),
        yield* call({ posture: "reader", parentDepth: 1 }),
        yield* Effect.andThen(edited, call({ posture: "reader" })),
        yield* withExtra(call({ posture: "reader" }))
      ]

      assert.deepStrictEqual(statuses, ["success", "cache_hit", "cache_hit", "cache_hit"])
    }).pipe(
      Effect.provide(Postures.runtime([...postures, posture("reader", { allowedTools: ["read"] })], { reader: seen }))
    ))
})

describe("the report of a typed agent", () => {
  const clerk = TypedAgent.text("clerk", { description: "Writes" })
  const scout = TypedAgent.text("scout", { description: "Scouts" }).withSubagents([clerk]).withCache()
  const task = Step.calls(Step.call("task", { subagent: "scout", description: "Look" }))
  const runtime = (scripts: Script.Scripts) => Layer.merge(Trees.runtime(scripts), ResultCache.layerMemory())

  it.effect("is for calls that may delegate as deep", () =>
    Effect.gen(function*() {
      const lead = (maxDepth: number) =>
        Effect.flatMap(
          AgentBuilder.make("lead").withSubagents([scout], { maxDepth }).build(),
          (agent) => agent.run("Go")
        )
      for (const depth of [1, 2, 1, 2]) yield* lead(depth)

      assert.strictEqual(yield* callsOf("scout"), 2)
    }).pipe(Effect.provide(runtime({ lead: Script.each([task, Step.text("done")]), scout: seen }))))

  it.effect("is for the tools of the catalog that all below it were given", () => {
    const reader = TypedAgent.text("reader", { description: "Reads" }).withCatalogTools(["extra"])
    return Effect.gen(function*() {
      const bound = yield* TypedAgent.text("scout", { description: "Scouts" }).withSubagents([reader]).withCache()
        .bind()
      const run = bound.run({ description: "Look" })
      yield* run
      yield* run
      yield* withExtra(run)
      yield* run

      assert.strictEqual(yield* callsOf("scout"), 2)
    }).pipe(Effect.provide(Layer.mergeAll(runtime({ scout: seen }), ToolCatalog.layer)))
  })

  it.effect("is for the postures that were there, where any below it may delegate to them", () => {
    const lead = TypedAgent.text("lead", { description: "Leads" }).withPostures()
    return Effect.gen(function*() {
      const bound = yield* TypedAgent.text("scout", { description: "Scouts" }).withSubagents([lead]).withCache().bind()
      const run = bound.run({ description: "Look" })
      yield* run
      yield* run
      yield* Effect.flatMap(PostureRegistry.PostureRegistry, ({ put }) => put(posture("clerk")))
      yield* run

      assert.strictEqual(yield* callsOf("scout"), 2)
    }).pipe(Effect.provide(Layer.merge(Postures.runtime([], { scout: seen }), ResultCache.layerMemory())))
  })

  const clerks = TypedAgent.text("scout", { description: "Scouts" }).withPostures().withCache()
  const led = (scripts: Script.Scripts) => Layer.merge(Postures.runtime([], scripts), ResultCache.layerMemory())
  const runOf = <R>(agent: AgentBuilder.AgentBuilder<string, R>) =>
    Effect.flatMap(agent.build(), (built) => built.run("Go"))

  it.effect("is for calls that may delegate to postures as deep", () =>
    Effect.gen(function*() {
      for (const maxDepth of [1, 2, 1, 2]) {
        yield* runOf(AgentBuilder.make("lead").withSubagents([clerks], { maxDepth }))
      }

      assert.strictEqual(yield* callsOf("scout"), 2)
    }).pipe(Effect.provide(led({ lead: Script.each([task, Step.text("done")]), scout: seen }))))

  it.effect("is for calls that stand as deep, where it may delegate to postures", () =>
    Effect.gen(function*() {
      const middle = TypedAgent.text("middle", { description: "Leads" }).withSubagents([clerks])
      // One level is left to the scout in both.
      const high = AgentBuilder.make("lead").withSubagents([clerks], { maxDepth: 2 })
      const deep = AgentBuilder.make("chief").withSubagents([middle], { maxDepth: 3 })
      for (const agent of [high, deep, high, deep]) yield* runOf(agent)

      assert.strictEqual(yield* callsOf("scout"), 2)
    }).pipe(Effect.provide(led({
      lead: Script.each([task, Step.text("done")]),
      middle: Script.each([task, Step.text("done")]),
      chief: Script.each([Step.calls(Step.textTask("middle", "Go")), Step.text("done")]),
      scout: seen
    }))))

  it.effect("is for the postures that it may delegate to: all, some, or none", () =>
    Effect.gen(function*() {
      for (const options of [{}, { names: ["clerk"] }, { names: [] }, {}, { names: ["clerk"] }, { names: [] }]) {
        const bound = yield* TypedAgent.text("scout", { description: "Scouts" }).withPostures(options).withCache()
          .bind()
        yield* bound.run({ description: "Look" })
      }

      const requests = yield* Effect.flatMap(ScriptedModel.ScriptedModel, (model) => model.requestsOf("scout"))
      assert.deepStrictEqual(requests.map(({ request }) => request.tools.map(({ name }) => name)), [
        ["delegate"],
        ["delegate"],
        []
      ])
    }).pipe(
      Effect.provide(Layer.merge(Postures.runtime([posture("clerk")], { scout: seen }), ResultCache.layerMemory()))
    ))

  it.effect("is not waited for by a handler that works for that very call", () => {
    let self: BoundAgent.BoundAgent<{ readonly description: string }, string> | undefined
    const again = Toolkit.make(Tool.make("again", { success: Schema.String }))
    return Effect.gen(function*() {
      self = yield* TypedAgent.text("scout", { description: "Scouts" }).withTools(again, {
        again: () => Effect.as(Effect.orDie(self!.run({ description: "Look" })), "again")
      }).withCache().bind()
      const outcome = yield* self.run({ description: "Look" })

      assert.deepInclude(outcome, { _tag: "Reported", report: "both" })
      assert.deepInclude(yield* self.run({ description: "Look" }), { _tag: "Reported", report: "both" })
      assert.strictEqual(yield* callsOf("scout"), 3)
    }).pipe(Effect.provide(runtime({
      scout: Script.runs([Step.calls(Step.call("again")), Step.text("both")], [Step.text("one")])
    })))
  })
})
