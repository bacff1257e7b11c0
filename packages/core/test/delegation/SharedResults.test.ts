import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, DelegateRuntime, ResultCache, TypedAgent } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Fiber, Layer, Schema } from "effect"
import { TestClock } from "effect/testing"
import * as Postures from "../support/Postures.ts"
import * as Trees from "../support/Trees.ts"

const { posture } = Postures

const call = DelegateRuntime.run({ posture: "scout", task: "Look" })
const begun = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.forkChild(effect, { startImmediately: true })
const requestsOf = (agent: string) => Effect.flatMap(ScriptedModel.ScriptedModel, (model) => model.requestsOf(agent))
const slowly = (report: Parameters<typeof Step.report>[0]) =>
  Script.each([Step.delay("5 seconds", Step.report(report))])

describe("the result that equal calls share", () => {
  it.effect("P5 is a value of its own for each: what one changes, no other sees", () => {
    const runtime = Postures.runtime([posture("scout", { report: "anything" })], {
      scout: slowly({ value: { tags: ["first"] } })
    }, { schemas: { anything: Schema.Json } })
    return Effect.gen(function*() {
      const running = [yield* begun(call), yield* begun(call), yield* begun(call)]
      yield* TestClock.adjust("5 seconds")
      const results = yield* Effect.forEach(running, Fiber.join)
      const tags = results.map((one) => "result" in one ? (one.result as { readonly tags: Array<string> }).tags : [])
      for (const [index, list] of tags.entries()) list.push(`changed by ${index}`)

      assert.deepStrictEqual(results.map(({ status }) => status), ["success", "cache_hit", "cache_hit"])
      assert.deepStrictEqual(tags, [0, 1, 2].map((index) => ["first", `changed by ${index}`]))
    }).pipe(Effect.provide(runtime))
  })

  it.effect("P5 is worked for by a call whose own schema does not decode it", () => {
    const runtime = (schema: Schema.Codec<any, any>, report: Parameters<typeof Step.report>[0]) =>
      Postures.runtime([posture("scout", { report: "answer" })], { scout: slowly(report) }, {
        schemas: { answer: schema }
      })
    // Nothing of a filter of one's own is data, so the calls are equal.
    const only = (type: string) => Schema.Struct({ n: Schema.Json.check(Schema.makeFilter((n) => typeof n === type)) })
    return Effect.gen(function*() {
      const old = yield* begun(Effect.provide(call, runtime(only("string"), { n: "one" })))
      const now = yield* begun(Effect.provide(call, runtime(only("number"), { n: 1 })))
      yield* TestClock.adjust("5 seconds")
      assert.isUndefined(now.pollUnsafe())
      yield* TestClock.adjust("5 seconds")

      assert.deepInclude(yield* Fiber.join(old), { status: "success", result: { n: "one" } })
      assert.deepInclude(yield* Fiber.join(now), { status: "success", result: { n: 1 } })
    }).pipe(Effect.provide(ResultCache.layerMemory()))
  })
})

describe("a call inside of another one", () => {
  it.effect("P5 waits for an equal call that has its slot, since nothing holds that up", () =>
    Effect.gen(function*() {
      const lead = yield* AgentBuilder.make("lead").withPostures().withSubagents([], { maxDepth: 2 }).build()
      const running = yield* begun(lead.run("Go", { threadId: "t" }))
      yield* TestClock.adjust("5 seconds")

      assert.strictEqual((yield* Fiber.join(running)).status._tag, "Completed")
      assert.lengthOf(yield* requestsOf("scout"), 1)
      const ends = Trees.tagged(yield* Trees.durableEvents("t"), "DelegateComplete")
      assert.deepStrictEqual(ends.map(({ posture, status }) => `${posture} ${status}`).sort(), [
        "guide success",
        "scout cache_hit",
        "scout success"
      ])
    }).pipe(Effect.provide(Postures.runtime([posture("guide", { allowedTools: ["delegate"] }), posture("scout")], {
      lead: [
        Step.calls(...["guide", "scout"].map((name) => Step.delegate({ posture: name, task: "Look" }))),
        Step.text("done")
      ],
      guide: [
        Step.delay("1 second", Step.calls(Step.delegate({ posture: "scout", task: "Look" }))),
        Step.text("led")
      ],
      scout: Script.each([Step.delay("4 seconds", Step.text("seen"))])
    }))))
})

describe("a result that is used again by an agent's model", () => {
  // {"report":"xxx"} in 512 bytes, and in one more.
  const ofBytes = (bytes: number) => "x".repeat(bytes - JSON.stringify({ report: "" }).length)
  const lead = AgentBuilder.make("lead").withPostures().withSubagents([], { maxReportBytes: 512 })
  const runtime = (report: string) =>
    Postures.runtime([posture("scout")], {
      lead: Script.optional([Step.calls(Step.delegate({ posture: "scout", task: "Look" })), Step.text("done")]),
      scout: Script.each([Step.text(report)])
    })

  it.effect("passes where it just fits", () =>
    Effect.gen(function*() {
      yield* call
      yield* Effect.flatMap(lead.build(), (agent) => agent.run("Go"))

      const [, after] = yield* requestsOf("lead")
      assert.deepStrictEqual(Trees.outputs(after!.request), [{ report: ofBytes(512) }])
      assert.lengthOf(yield* requestsOf("scout"), 1)
    }).pipe(Effect.provide(runtime(ofBytes(512)))))

  it.effect("fails the run where it is too large and the agent's policy says so", () =>
    Effect.gen(function*() {
      yield* call
      const agent = yield* lead.withChildFailure({ refused: "fail-run" }).build()
      const error = yield* Effect.flip(agent.run("Go", { threadId: "t" }))

      assert.deepStrictEqual(error.reason, {
        _tag: "ChildFailed",
        failure: { _tag: "ReportTooLarge", bytes: 513, maxReportBytes: 512 },
        path: ["scout"],
        threadId: "t"
      } as never)
      assert.lengthOf(yield* requestsOf("scout"), 1)
    }).pipe(Effect.provide(runtime(ofBytes(513)))))
})

describe("a report that is too large for the model that asked for it", () => {
  it.effect("P5 is kept as the success that it is, for those that may read it", () => {
    const scout = TypedAgent.text("scout", { description: "Scouts" }).withCache()
    return Effect.gen(function*() {
      const bounded = (maxReportBytes: number) =>
        Effect.flatMap(
          AgentBuilder.make("lead").withSubagents([scout], { maxReportBytes }).build(),
          (agent) => agent.run("Go")
        )
      for (const bytes of [512, 512, 2000]) yield* bounded(bytes)

      const heard = (yield* requestsOf("lead")).filter(({ call }) => call.step === 1)
      assert.deepStrictEqual(heard.map(({ request }) => Trees.reasons(request)), [
        ["ReportTooLarge"],
        ["ReportTooLarge"],
        [undefined]
      ])
      assert.lengthOf(yield* requestsOf("scout"), 1)
    }).pipe(Effect.provide(Layer.merge(
      Trees.runtime({
        lead: Script.each([Step.calls(Step.textTask("scout", "Look")), Step.text("done")]),
        scout: Script.each([Step.text("x".repeat(1000))])
      }),
      ResultCache.layerMemory()
    )))
  })
})
