import { assert, describe, it } from "@effect/vitest"
import {
  AgentBuilder,
  DelegateRuntime,
  MemoryRunStore,
  PromiseRuntime,
  type RunError,
  type RunStore,
  TypedAgent
} from "@mandate/core"
import { Script, ScriptedModel, Step, TestRuntime } from "@mandate/testing"
import { Effect, Layer, Schema, Stream } from "effect"
import { backings } from "../support/Backings.ts"
import * as Models from "../support/Models.ts"
import * as Postures from "../support/Postures.ts"
import * as Results from "../support/Results.ts"
import * as Waiting from "../support/Waiting.ts"

/** Texts that show nothing. */
const blanks: ReadonlyArray<readonly [what: string, text: string]> = [
  ["no text", ""],
  ["a space", " "],
  ["white space of ASCII", " \t\r\n\f\v"],
  ["white space of Unicode", "\u00a0\u1680\u2003\u2028\u2029\u202f\u205f\u3000\ufeff"],
  ["zero-width characters", "\u200b\u200c\u200d\u2060\ufeff\u00ad"],
  ["control characters", "\u0000\u001b\u0085"],
  ["letters and marks that show nothing", "\u3164\u115f\u1160\uffa0\u2800\u034f\ufe0f\u{e0020}"]
]

const clerk = AgentBuilder.make("clerk")
const scribe = TypedAgent.text("scribe", { description: "Writes" })
const renders = TypedAgent.make("renders", {
  description: "Renders its input",
  input: Schema.Struct({ text: Schema.String }),
  report: Schema.String
}).withInputText(({ text }) => text)

const refused = (error: RunError.RunError, field = "input") =>
  assert.deepStrictEqual<unknown>({ ...error.reason }, {
    _tag: "InvalidInput",
    field,
    issues: ["Expected text that is not blank"]
  })

const nothing = (store: RunStore.RunStore["Service"]) =>
  Effect.map(
    Effect.all([store.thread("t"), store.list({ after: "", limit: 10 })]),
    ([rows, threads]) => assert.deepStrictEqual<unknown>([rows, threads], [[], []])
  )

const cases = backings.flatMap((backing) => blanks.map(([what, text]) => ({ backing, what, text })))

describe("F09 A blank input", () => {
  it.effect.each(cases)(
    "F09 of an agent ($what) is refused by run, start and stream, and nothing is written ($backing.name)",
    ({ backing, text }) =>
      Effect.gen(function*() {
        const store = yield* backing.make
        const { next } = yield* Waiting.processes(store, {})
        const errors = yield* next(Effect.flatMap(clerk.build(), (agent) =>
          Effect.all([
            Effect.flip(agent.run(text)),
            Effect.flip(agent.run(text, { threadId: "t" })),
            Effect.flip(agent.start(text, { threadId: "t" })),
            Effect.flip(Stream.runDrain(agent.stream(text, { threadId: "t" })))
          ])))

        errors.forEach((error) => refused(error))
        yield* nothing(store)
      })
  )

  it.effect.each(cases)(
    "F09 of a bound subagent ($what), by its type or as JSON, is refused and nothing is written ($backing.name)",
    ({ backing, text }) =>
      Effect.gen(function*() {
        const store = yield* backing.make
        const { next } = yield* Waiting.processes(store, {})
        const errors = yield* next(Effect.gen(function*() {
          const described = yield* scribe.bind()
          const rendered = yield* renders.bind()
          return yield* Effect.all([
            Effect.flip(described.run({ description: text })),
            Effect.flip(described.json.run({ description: text })),
            Effect.flip(described.start({ description: text }, { threadId: "t" })),
            Effect.flip(rendered.run({ text })),
            Effect.flip(rendered.json.start({ text })),
            Effect.flip(Stream.runDrain(rendered.stream({ text }, { threadId: "t" })))
          ])
        }))

        errors.forEach((error) => refused(error))
        yield* nothing(store)
      })
  )

  it("F09 is refused by the promise runtime", async () => {
    const store = MemoryRunStore.make()
    const runtime = PromiseRuntime.make(Layer.merge(TestRuntime.layerStore(store, "one"), Models.layer({})))
    const agent = await runtime.build(clerk)
    const error = await agent.run("  \n", { threadId: "t" }).then(() => undefined, (error) => error)

    refused(error)
    await Effect.runPromise(nothing(store))
    await runtime.close()
  })

  it.effect("F09 leaves its thread as it was", () =>
    Effect.gen(function*() {
      const { next } = yield* Waiting.processes(MemoryRunStore.make(), {
        clerk: Script.runs([Step.text("one")], [Step.text("two")])
      })
      yield* next(Effect.flatMap(clerk.build(), (agent) => agent.run("First", { threadId: "t" })))
      const error = yield* next(Effect.flatMap(clerk.build(), (agent) => Effect.flip(agent.run("", { threadId: "t" }))))
      const second = yield* next(Effect.flatMap(clerk.build(), (agent) => agent.run("Second", { threadId: "t" })))
      const history = yield* next(Effect.flatMap(clerk.build(), (agent) => agent.history("t")))

      refused(error)
      assert.deepStrictEqual(second.status, { _tag: "Completed", answer: "two" })
      assert.lengthOf(history, 2)
    }))

  it.effect("F09 is not one that has an emoji, or text beside blanks", () =>
    Effect.gen(function*() {
      const texts = ["\u2764\ufe0f", "\u200b.", "\u{1f469}\u200d\u{1f4bb}", "\ud800", "0"]
      const { next } = yield* Waiting.processes(MemoryRunStore.make(), { clerk: Script.each([Step.text("yes")]) })
      const results = yield* next(
        Effect.flatMap(clerk.build(), (agent) => Effect.forEach(texts, (text) => agent.run(text)))
      )

      assert.deepStrictEqual(results.map(({ status }) => status._tag), texts.map(() => "Completed"))
    }))
})

describe("F09 A task that is blank", () => {
  it.effect.each(cases)(
    "F09 ($what) is an error that the parent reads, and no child starts ($backing.name)",
    ({ backing, text }) =>
      Effect.gen(function*() {
        const store = yield* backing.make
        const lead = AgentBuilder.make("lead").withSubagents([scribe, renders])
        const { model, next } = yield* Waiting.processes(store, {
          lead: [Step.calls(Step.textTask("scribe", text), Step.task("renders", { text })), Step.text("done")]
        })
        const result = yield* next(Effect.flatMap(lead.build(), (agent) => agent.run("Go", { threadId: "t" })))
        const seen = Results.last((yield* model.requestsOf("lead")).at(-1)?.request)

        assert.strictEqual(result.status._tag, "Completed")
        assert.strictEqual(result.usage.tree.childRuns, 0)
        assert.deepStrictEqual(seen.map(Results.reason), ["InvalidInput", "InvalidInput"])
        assert.include(JSON.stringify(seen), "Expected text that is not blank")
        assert.deepStrictEqual(yield* store.children("t#0"), [])
      })
  )

  it.effect.each(blanks.map(([what, text]) => ({ what, text })))(
    "F09 ($what) of a posture is refused, as a call from code and as a call of the tool",
    ({ text }) =>
      Effect.gen(function*() {
        const lead = AgentBuilder.make("lead").withPostures()
        const error = yield* Effect.flip(
          DelegateRuntime.run({ posture: "reviewer", task: text, context: { lines: 3 } })
        )
        const agent = yield* lead.build()
        const result = yield* agent.run("Go")
        const model = yield* ScriptedModel.ScriptedModel
        const seen = Results.last((yield* model.requestsOf("lead")).at(-1)?.request)

        assert.deepInclude(error.reason, { _tag: "InvalidRequest", field: "task" })
        assert.strictEqual(result.usage.tree.childRuns, 0)
        assert.deepStrictEqual(seen.map(Results.reason), ["InvalidInput"])
      }).pipe(Effect.provide(Postures.runtime([Postures.posture("reviewer")], {
        lead: [Step.call("delegate", { posture: "reviewer", task: text }), Step.text("done")]
      })))
  )
})
