import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Mandate, type Message, TypedAgent } from "@mandate/core"
import { type Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Layer, Ref, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Models from "../support/Models.ts"
import * as Results from "../support/Results.ts"

const Report = Schema.Struct({ city: Schema.String, pop: Schema.Number })
const good = { city: "Turin", pop: 850 }
const bad = { city: "Turin", pop: "secret-850" }
const Work = Tool.make("work", { parameters: Schema.Struct({ n: Schema.Number }), success: Schema.Number })
const helper = TypedAgent.text("helper", { description: "Helps" })

/** A typed agent with a tool that counts what runs, and a subagent. */
const clerk = Effect.gen(function*() {
  const ran = yield* Ref.make<ReadonlyArray<number>>([])
  const builder = AgentBuilder.make("clerk")
    .withOutput(Report)
    .withSubagents([helper])
    .withTools(Toolkit.make(Work), { work: ({ n }) => Effect.as(Ref.update(ran, (all) => [...all, n]), n) })
  return { ran, builder }
})

const layers = (steps: Script.Script) => Layer.mergeAll(Mandate.layerMemory, Models.layer({ clerk: steps }))
const work = (n: number) => Step.call("work", { n })
const requests = Effect.map(
  Effect.flatMap(ScriptedModel.ScriptedModel, (model) => model.requests),
  (all) => all.map(({ request }) => request)
)
const run = Effect.gen(function*() {
  const agent = yield* (yield* clerk).builder.build()
  return yield* agent.run("Go", { threadId: "t" })
})
const notRun = (name: string): Results.Seen => ({
  name,
  isError: true,
  value: "not run: a report was submitted beside this call"
})
const messageOf = (seen: Results.Seen | undefined) =>
  (seen!.value as { readonly error: { readonly message: string } }).error.message
const roles = (messages: ReadonlyArray<Message.Message> | undefined) => messages?.map(({ role }) => role)

describe("Typed answers", () => {
  it.effect("a typed agent is offered submit_report in every step, made from its schema, beside its tools", () =>
    Effect.gen(function*() {
      yield* run

      for (const { answer, tools } of yield* requests) {
        const submit = tools.find(({ name }) => name === "submit_report")
        assert.deepStrictEqual(tools.map(({ name }) => name), ["work", "task", "submit_report"])
        assert.deepStrictEqual(submit?.inputSchema["required"], ["city", "pop"])
        assert.isUndefined(answer)
      }
    }).pipe(Effect.provide(layers([work(1), Step.report(good)]))))

  it.effect("a text agent has no submit_report, and a call of it is a call of an unknown tool", () =>
    Effect.gen(function*() {
      const { status } = yield* (yield* AgentBuilder.make("clerk").build()).run("Go")

      const [first, second] = yield* requests
      assert.deepStrictEqual(first?.tools, [])
      assert.deepStrictEqual(Results.last(second).map(Results.reason), ["UnknownTool"])
      assert.deepStrictEqual({ ...status }, { _tag: "Completed", answer: "done" })
    }).pipe(Effect.provide(layers([Step.report(good), Step.text("done")]))))

  it.effect("the first report of a message counts: its siblings are not run, start nothing and do not count", () =>
    Effect.gen(function*() {
      const { builder, ran } = yield* clerk
      const agent = yield* builder.build()
      const { status, usage } = yield* agent.run("Go", { threadId: "t" })

      const [settled] = yield* agent.history("t")
      assert.deepStrictEqual({ ...status }, { _tag: "Completed", answer: good })
      assert.deepStrictEqual(Results.all(settled?.messages ?? []), [
        notRun("work"),
        notRun("task"),
        { name: "submit_report", isError: false, value: "accepted" },
        notRun("submit_report"),
        notRun("nothing")
      ])
      assert.include(JSON.stringify(settled?.messages[1]), "I am done")
      assert.deepStrictEqual(yield* Ref.get(ran), [])
      assert.strictEqual(usage.tree.toolCalls, 0)
      assert.lengthOf(yield* requests, 1)
      assert.deepStrictEqual(yield* (yield* Mandate.Mandate).store.children("t#0"), [])
    }).pipe(Effect.provide(layers([
      Step.calls(
        work(1),
        "I am done",
        Step.textTask("helper", "Help"),
        Step.report(good),
        Step.report({ city: "Milan", pop: 1 }),
        Step.call("nothing")
      )
    ]))))

  it.effect("a first report that does not decode is re-asked in its result, though a later one would decode", () =>
    Effect.gen(function*() {
      const { builder, ran } = yield* clerk
      const { status } = yield* (yield* builder.build()).run("Go")

      const [, second] = yield* requests
      const [first, refused, ...others] = Results.last(second)
      assert.deepStrictEqual({ ...status }, { _tag: "Completed", answer: good })
      assert.deepStrictEqual(first, notRun("work"))
      assert.strictEqual(refused && Results.reason(refused), "InvalidReport")
      assert.deepStrictEqual(others, [notRun("submit_report")])
      assert.deepStrictEqual(roles(second?.messages), ["user", "assistant", "tool"])
      assert.deepStrictEqual(yield* Ref.get(ran), [])
    }).pipe(Effect.provide(layers([
      Step.calls(work(1), Step.report(bad), Step.report({ city: "Milan", pop: 1 })),
      Step.report(good)
    ]))))

  const unusable: ReadonlyArray<readonly [what: string, step: Step.Step, path: string]> = [
    ["a report of another type", Step.report(bad), "pop"],
    ["a report that lacks a field", Step.report({ pop: 1 }), "city"],
    ["a report that is no JSON", Step.rawCall("submit_report", "{\"city\":"), "JSON"],
    ["a text of another shape", Step.text(JSON.stringify(bad)), "pop"],
    ["prose", Step.text("About 850"), "submit_report"],
    ["a blank text", Step.text("  \n"), "submit_report"],
    ["no parts", Step.parts([], "stop"), "submit_report"]
  ]
  for (const [what, step, path] of unusable) {
    it.effect(`${what} is asked for again, once, with what was expected`, () =>
      Effect.gen(function*() {
        const { status } = yield* run

        const [first, second] = yield* requests
        const added = second?.messages.slice(first?.messages.length).filter(({ role }) => role !== "assistant")
        assert.deepStrictEqual({ ...status }, { _tag: "Completed", answer: good })
        assert.deepStrictEqual(roles(added), [typeof step === "object" && step._tag === "Call" ? "tool" : "user"])
        assert.include(JSON.stringify(added), path)
        assert.notInclude(JSON.stringify(added), "secret")
      }).pipe(Effect.provide(layers([step, Step.report(good)]))))

    it.effect(`${what} is an invalid report when no re-ask is left, and quotes nothing`, () =>
      Effect.gen(function*() {
        const agent = yield* (yield* clerk).builder.withReasks(0).build()
        const { status } = yield* agent.run("Go", { threadId: "t" })

        const [settled] = yield* agent.history("t")
        assert.strictEqual(status._tag, "InvalidReport")
        assert.isNotEmpty(status._tag === "InvalidReport" && status.issues)
        assert.notInclude(JSON.stringify(status), "secret")
        assert.lengthOf(settled?.messages.filter(({ role }) => role === "user") ?? [], 1)
        assert.lengthOf(yield* requests, 1)
      }).pipe(Effect.provide(layers([step]))))
  }

  it.effect("the model is told the path of each problem, and what was expected there", () =>
    Effect.gen(function*() {
      const output = Schema.Struct({
        whole: Schema.Int,
        size: Schema.Number,
        kind: Schema.Literals(["town", "village"]),
        tags: Schema.Array(Schema.String),
        note: Schema.String
      })
      const agent = yield* AgentBuilder.make("clerk").withOutput(output).build()
      yield* agent.run("Go")

      const [, second] = yield* requests
      const [told] = Results.last(second)
      const lines = messageOf(told).split("\n").slice(1)
      const expected = { whole: "integer", size: "number", kind: "village", "tags[1]": "string", note: "Missing" }
      assert.deepStrictEqual(lines.map((line) => line.slice(2).split(":")[0]), Object.keys(expected))
      Object.values(expected).forEach((word, index) => assert.include(lines[index], word))
    }).pipe(Effect.provide(layers([
      Step.report({ whole: 1.5, size: "large", kind: "city", tags: ["a", 2] }),
      Step.report({ whole: 1, size: 1, kind: "town", tags: [], note: "" })
    ]))))

  it.effect("keys that the model made up are not quoted in what crosses to a parent", () =>
    Effect.gen(function*() {
      const counter = TypedAgent.make("clerk", {
        description: "Counts words",
        input: Schema.Struct({}),
        report: Schema.Struct({ counts: Schema.Record(Schema.String, Schema.Number) })
      })
      const outcome = yield* (yield* counter.withReasks(0).bind()).run({})

      assert.strictEqual(outcome._tag === "NotReported" && outcome.failure._tag, "InvalidReport")
      assert.include(JSON.stringify(outcome), "counts")
      assert.notInclude(JSON.stringify(outcome), "secret")
    }).pipe(Effect.provide(layers([Step.report({ counts: { "the secret is 4711": "one" } })]))))

  it.effect("a fenced report may hold a fence in a text of its own", () =>
    Effect.gen(function*() {
      const told = { city: "```Turin```", pop: 850 }
      assert.deepStrictEqual({ ...(yield* run).status }, { _tag: "Completed", answer: told })
    }).pipe(Effect.provide(layers([Step.text("```json\n{\"city\": \"```Turin```\", \"pop\": 850}\n```")]))))

  for (const blank of ["", " ", "\n\t", "\u00a0", "\u3000"]) {
    it.effect(`the blank text ${JSON.stringify(blank)} is no answer of a text agent`, () =>
      Effect.gen(function*() {
        const { status } = yield* (yield* AgentBuilder.make("clerk").build()).run("Go")

        const [, second] = yield* requests
        assert.deepStrictEqual({ ...status }, { _tag: "Completed", answer: "done" })
        assert.strictEqual(second?.messages.at(-1)?.role, "user")
      }).pipe(Effect.provide(layers([Step.text(blank), Step.text("done")]))))
  }

  it.effect("reasoning without a text is no answer of a text agent", () =>
    Effect.gen(function*() {
      const { status } = yield* (yield* AgentBuilder.make("clerk").withReasks(0).build()).run("Go")

      assert.strictEqual(status._tag, "InvalidReport")
    }).pipe(Effect.provide(layers([Step.parts([{ type: "reasoning", text: "I think it is done" }], "stop")]))))
})
