import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Answer, ToolContext } from "@mandate/core"
import { Script, Step } from "@mandate/testing"
import { Effect, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { type Backing, backings } from "../support/Backings.ts"
import { tampered } from "../support/TamperedStore.ts"
import * as Waiting from "../support/Waiting.ts"

type Handler = Effect.Effect<string, never, ToolContext.ToolContext>

const Act = Toolkit.make(Tool.make("act", { success: Schema.String }))
const yesNo = (question: string) => ToolContext.ask(question, { answer: Schema.Boolean })
const text = (question: string) => ToolContext.ask(question, { answer: Schema.String })

/** A clerk with one tool. Each verb runs in a process of its own, with the handler of that deploy. */
const setUp = Effect.fnUntraced(function*({ make }: Backing, calls = 1) {
  const store = yield* make
  const { model, next } = yield* Waiting.processes(store, {
    clerk: Script.optional([
      Step.calls(...Array.from({ length: calls }, () => Step.call("act"))),
      (request) => Step.text(JSON.stringify(request.messages.slice(2)))
    ])
  })
  const clerk = (act: Handler) => AgentBuilder.make("clerk").withTools(Act, { act: () => act }).build()
  return {
    store,
    run: (act: Handler) => next(Effect.flatMap(clerk(act), (agent) => agent.run("Go", { threadId: "t" }))),
    resume: (act: Handler, ...answers: ReadonlyArray<Answer.Answer>) =>
      next(Effect.flatMap(clerk(act), (agent) => agent.resume("t", answers))),
    resumeOn: (edited: Parameters<typeof tampered>[1], act: Handler, ...answers: ReadonlyArray<Answer.Answer>) =>
      Waiting.processesOf(tampered(store, edited), model).next(
        Effect.flatMap(clerk(act), (agent) => agent.resume("t", answers))
      )
  }
})

const reply = (n: number, value: unknown, call = "0.0") => Answer.replyUnknown(`${call}:question${n}`, value)

const pending = ({ status }: { readonly status: { readonly _tag: string } }) =>
  "pending" in status
    ? (status.pending as ReadonlyArray<{ readonly id: string; readonly request: { readonly question?: string } }>)
      .map(({ id, request }) => `${id} ${request.question}`)
    : status._tag

describe.each(backings)("F11 An answer, in $name", (backing) => {
  it.effect("F11 to a question that is not asked any more is not the answer to the next one", () =>
    Effect.gen(function*() {
      const did: Array<string> = []
      let isLow = true
      const act = Effect.gen(function*() {
        if (isLow && (yield* yesNo("Stock is low. Reorder?"))) did.push("reordered")
        if (yield* yesNo("Wipe the customer's data?")) did.push("wiped")
        return "done"
      })
      const { resume, run, store } = yield* setUp(backing)
      const first = pending(yield* run(act))
      isLow = false
      const second = pending(yield* resume(act, reply(0, true)))
      const keys = (yield* store.load("t#0"))?.records.map(({ key }) => key)
      const last = pending(yield* resume(act, reply(1, false)))

      assert.deepStrictEqual([first, second, last], [
        ["0.0:question0 Stock is low. Reorder?"],
        ["0.0:question1 Wipe the customer's data?"],
        "Completed"
      ])
      assert.deepStrictEqual(did, [])
      assert.includeMembers(keys ?? [], ["i/0.0:question0", "a/0.0:question0", "i/0.0:question1"])
    }))

  const ask = (...questions: ReadonlyArray<string>): Handler =>
    Effect.map(Effect.forEach(questions, text), (answers) => answers.join(", "))

  // What the handler asks at first and after a deploy, and what a person is asked after two answers.
  it.effect.each<readonly [string, ReadonlyArray<string>, ReadonlyArray<string>, unknown]>([
    ["stays with a reworded question's old text", ["A?", "B?"], ["A!", "B?"], ["0.0:question2 A!"]],
    ["follows its question to another place", ["A?", "B?"], ["B?", "A?"], "Completed"],
    ["waits while a question before it is new", ["A?", "B?"], ["A?", "X?", "B?"], ["0.0:question2 X?"]],
    ["is left where its question is gone", ["A?", "B?"], ["B?"], "Completed"],
    ["is given once each to equal questions", ["A?", "A?"], ["A?", "A?", "A?"], ["0.0:question2 A?"]]
  ])("F11 %s", ([, before, after, expected]) =>
    Effect.gen(function*() {
      const { resume, run } = yield* setUp(backing)
      yield* run(ask(...before))
      yield* resume(ask(...before), reply(0, `1 ${before[0]}`))
      const told: Array<ReadonlyArray<string>> = []
      const changed = Effect.map(
        Effect.forEach(after, (question) =>
          Effect.tap(text(question), (answer) => Effect.sync(() => told.push([question, answer])))),
        String
      )
      const outcome = yield* resume(changed, reply(1, `2 ${before[1]}`))

      assert.deepStrictEqual<unknown>(pending(outcome), expected)
      for (const [question, answer] of told) {
        assert.include(answer, question)
      }
    }))

  it.effect.each<readonly [string, Schema.Codec<unknown, unknown>, unknown]>([
    ["another type", Schema.Int, ["0.0:question1 How many?"]],
    ["a bound", Schema.String.check(Schema.isMaxLength(3)), ["0.0:question1 How many?"]],
    ["another description", Schema.String.annotate({ description: "the number", title: "N" }), "Completed"],
    ["a transformation of the same JSON", Schema.Trim, "Completed"]
  ])("F11 is held to its answer schema: %s", ([, answer, expected]) =>
    Effect.gen(function*() {
      const { resume, run } = yield* setUp(backing)
      yield* run(Effect.map(ToolContext.ask("How many?", { answer: Schema.String }), String))

      const outcome = yield* resume(Effect.map(ToolContext.ask("How many?", { answer }), String), reply(0, "7"))

      assert.deepStrictEqual<unknown>(pending(outcome), expected)
    }))

  it.effect("F11 that was given inside of once is not the answer to an equal question after it", () =>
    Effect.gen(function*() {
      const told: Array<string> = []
      const act = Effect.gen(function*() {
        const inside = yield* ToolContext.once("trip", Schema.String, text("Where?"))
        const outside = yield* text("Where?")
        const day = yield* text("When?")
        told.push(`${inside}, ${outside}, ${day}`)
        return "done"
      })
      const { resume, run } = yield* setUp(backing)
      const asked = [
        yield* run(act),
        yield* resume(act, reply(0, "Bonn")),
        yield* resume(act, reply(1, "Ulm")),
        yield* resume(act, reply(2, "Monday"))
      ].map(pending)

      assert.deepStrictEqual<unknown>(asked, [
        ["0.0:question0 Where?"],
        ["0.0:question1 Where?"],
        ["0.0:question2 When?"],
        "Completed"
      ])
      assert.deepStrictEqual(told, ["Bonn, Ulm, Monday"])
    }))

  it.effect("F11 that was given inside of a once of an earlier version stays there", () =>
    Effect.gen(function*() {
      const told: Array<string> = []
      const act = Effect.gen(function*() {
        const inside = yield* ToolContext.once("trip", Schema.String, text("Where?"))
        told.push(`${inside}, ${yield* text("Where?")}`)
        return "done"
      })
      const { resume, resumeOn, run } = yield* setUp(backing)
      yield* run(act)
      yield* resume(act, reply(0, "Bonn"))
      const record = JSON.stringify({ value: "Bonn", activeMillis: 0, nextQuestion: 1 })
      const outcome = yield* resumeOn({ runId: "t#0", record: "s/0.0/trip", value: record }, act, reply(1, "Ulm"))

      assert.strictEqual(pending(outcome), "Completed")
      assert.deepStrictEqual(told, ["Bonn, Ulm"])
    }))

  it.effect("F11 is its own call's, where several ask the same", () =>
    Effect.gen(function*() {
      const told: Array<string> = []
      const act = Effect.gen(function*() {
        const { callKey } = yield* ToolContext.ToolContext
        const answer = yield* text("Where?")
        told.push(`${callKey} ${answer}`)
        return answer
      })
      const { resume, run } = yield* setUp(backing, 2)
      yield* run(act)
      yield* resume(act, reply(0, "second", "0.1"))
      yield* resume(act, reply(0, "first"))

      assert.deepStrictEqual(told, ["0.1 second", "0.0 first"])
    }))

  it.effect("F11 that does not decode is asked for again, and the one after it is its question's", () =>
    Effect.gen(function*() {
      const Even = Schema.FiniteFromString.check(Schema.makeFilter((n) => n % 2 === 0))
      const act = Effect.gen(function*() {
        const even = yield* ToolContext.ask("Even?", { answer: Even })
        return `${even} ${yield* text("Sure?")}`
      })
      const { resume, run } = yield* setUp(backing)
      const asked = [
        yield* run(act),
        yield* resume(act, reply(0, "3")),
        yield* resume(act, reply(1, "4")),
        yield* resume(act, reply(2, "yes"))
      ].map(pending)

      assert.deepStrictEqual<unknown>(asked, [
        ["0.0:question0 Even?"],
        ["0.0:question1 Even?"],
        ["0.0:question2 Sure?"],
        "Completed"
      ])
    }))
})

describe("F11 Whatever a handler asks each time it is entered", () => {
  const Deploys = Schema.Array(Schema.Array(Schema.Literals(["A?", "B?", "C?"])).check(Schema.isMaxLength(4)))
    .check(Schema.isMinLength(2), Schema.isMaxLength(6))

  it.effect.prop(
    "F11 every answer it gets was given to that question",
    [Deploys],
    ([deploys]) =>
      Effect.gen(function*() {
        const { resume, run } = yield* setUp(backings[0]!)
        let version = 0
        const taken: Array<readonly [string, string]> = []
        const act = Effect.suspend(() =>
          Effect.map(
            Effect.forEach(
              deploys[Math.min(version++, deploys.length - 1)]!,
              (question) => Effect.tap(text(question), (answer) => Effect.sync(() => taken.push([question, answer])))
            ),
            String
          )
        )
        let { status } = yield* run(act)
        while (status._tag === "Suspended") {
          const [asked] = status.pending
          const question = asked?.request._tag === "Question" ? asked.request.question : ""
          status = (yield* resume(act, Answer.reply(asked!.id, Schema.String, `to ${question}`))).status
        }

        assert.strictEqual(status._tag, "Completed")
        for (const [question, answer] of taken) assert.strictEqual(answer, `to ${question}`)
      }),
    { arbitrary: { runs: 40 } }
  )
})
