import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Mandate, type Message, TypedAgent } from "@mandate/core"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Layer, Schema } from "effect"
import * as Models from "../support/Models.ts"
import * as Results from "../support/Results.ts"
import { ways } from "../support/Ways.ts"

const City = Schema.Struct({ city: Schema.String, pop: Schema.Number })
const census = TypedAgent.make("census", {
  description: "Counts the people of a city",
  input: Schema.Struct({ city: Schema.String }),
  report: City
})
const lead = AgentBuilder.make("lead").withSubagents([census])
const clerk = AgentBuilder.make("clerk").withOutput(City)

const real = { city: "Turin", pop: 850 }
const other = { city: "Milan", pop: 1 }
const json = JSON.stringify(real)
const thought = JSON.stringify(other)

/** Texts that are the report, written the way models write it. */
const accepted: ReadonlyArray<readonly [what: string, text: string]> = [
  ["bare JSON", json],
  ["JSON among blanks", `\n  ${json}\t\n`],
  ["JSON over several lines", JSON.stringify(real, undefined, 2)],
  ["a fence marked json", `\`\`\`json\n${json}\n\`\`\``],
  ["a fence marked JSON", `\`\`\`JSON\n${json}\n\`\`\``],
  ["a fence without a mark", `\`\`\`\n${json}\n\`\`\``],
  ["a fence with Windows line ends", `\`\`\`json\r\n${json}\r\n\`\`\`\r\n`],
  ["a fence among blanks", `\n\n\`\`\`json\n\n${json}\n\n\`\`\`\n`]
]

/** Texts that hold the report, and something else as well. */
const refused: ReadonlyArray<readonly [what: string, text: string]> = [
  ["prose with no JSON", "About 850 thousand people live in Turin."],
  ["a thinking block before the JSON", `<think>${thought}</think>\n${json}`],
  ["a thinking block before a fence", `<think>\n${thought}\n</think>\n\`\`\`json\n${json}\n\`\`\``],
  ["a thinking block that is never closed", `<think>${thought}`],
  ["prose before the JSON", `Here it is: ${json}`],
  ["prose after the JSON", `${json}\nI hope this helps.`],
  ["prose before a fence", `Here it is:\n\`\`\`json\n${json}\n\`\`\``],
  ["prose after a fence", `\`\`\`json\n${json}\n\`\`\`\nI hope this helps.`],
  ["two fences", `\`\`\`json\n${thought}\n\`\`\`\n\`\`\`json\n${json}\n\`\`\``],
  ["two values", `${thought}\n${json}`],
  ["a fence that is never closed", `\`\`\`json\n${json}`],
  ["JSON of another shape", "{\"city\":\"Turin\"}"],
  ["JSON as a string of JSON", JSON.stringify(json)],
  ["an empty fence", "```json\n```"]
]

const thinking: Message.AssistantPart = { type: "reasoning", text: thought }

const layers = (scripts: Script.Scripts) => Layer.mergeAll(Mandate.layerMemory, Models.layer(scripts))

const delegated = (steps: Script.Steps) =>
  layers({ lead: [Step.taskOf(census, { city: "Turin" }), Step.text("done")], census: steps })

describe("C10 JSON in a fence or beside thinking", () => {
  for (const [way, run] of ways) {
    for (const [what, text] of accepted) {
      it.effect(`C10 ${what} is the report (${way})`, () =>
        Effect.gen(function*() {
          const outcome = yield* run(yield* census.bind(), { city: "Turin" })

          assert.deepStrictEqual(outcome._tag === "Reported" && { ...outcome.report }, real)
        }).pipe(Effect.provide(layers({ census: [Step.text(text)] }))))
    }

    it.effect(`C10 a reasoning part is never read, though it holds an object of the same shape (${way})`, () =>
      Effect.gen(function*() {
        const bound = yield* census.bind()
        const after = yield* run(bound, { city: "Turin" })
        const only = yield* run(bound, { city: "Turin" })

        assert.deepStrictEqual(after._tag === "Reported" && { ...after.report }, real)
        assert.deepStrictEqual(only._tag === "NotReported" && only.failure._tag, "InvalidReport")
      }).pipe(Effect.provide(layers({
        census: Script.runs(
          [Step.parts([thinking, { type: "text", text: json }], "stop")],
          [Step.parts([thinking], "stop"), Step.parts([thinking], "stop")]
        )
      }))))
  }

  for (const [what, text] of refused) {
    it.effect(`C10 ${what} is asked for again, then a schema failure that the parent goes on with`, () =>
      Effect.gen(function*() {
        const agent = yield* lead.build()
        const result = yield* agent.run("Go", { threadId: "t" })

        const model = yield* ScriptedModel.ScriptedModel
        const [, second] = yield* model.requestsOf("lead")
        const [seen] = Results.last(second?.request)
        assert.lengthOf(yield* model.requestsOf("census"), 2)
        assert.strictEqual(seen && Results.reason(seen), "InvalidReport")
        assert.notInclude(JSON.stringify(seen), "Milan")
        assert.deepStrictEqual({ ...result.status }, { _tag: "Completed", answer: "done" })
      }).pipe(Effect.provide(delegated([Step.text(text), Step.text(text)]))))
  }

  it.effect("C10 a model that is asked again may still give the report", () =>
    Effect.gen(function*() {
      const agent = yield* lead.build()
      yield* agent.run("Go", { threadId: "t" })

      const model = yield* ScriptedModel.ScriptedModel
      const [, second] = yield* model.requestsOf("lead")
      assert.deepStrictEqual(Results.last(second?.request), [Results.reported("task_census", real)])
    }).pipe(Effect.provide(delegated([
      Step.text(`<think>${thought}</think>${json}`),
      Step.text(`\`\`\`json\n${json}\n\`\`\``)
    ]))))

  it.effect("C10 an agent with a typed output reads its answer by the same rules", () =>
    Effect.gen(function*() {
      const agent = yield* clerk.build()
      const fenced = yield* agent.run("Go", { threadId: "fenced" })
      const led = yield* agent.run("Go", { threadId: "led" })

      assert.deepStrictEqual(fenced.status._tag === "Completed" && { ...fenced.status.answer }, real)
      assert.strictEqual(led.status._tag, "InvalidReport")
    }).pipe(Effect.provide(layers({
      clerk: Script.runs(
        [Step.text(`\`\`\`json\n${json}\n\`\`\``)],
        [Step.text(`Sure: ${json}`), Step.text(`Sure: ${json}`)]
      )
    }))))
})
