import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Answer, MemoryRunStore, ToolContext, TypedAgent } from "@mandate/core"
import { Step } from "@mandate/testing"
import { Effect, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { backings } from "../support/Backings.ts"
import * as Waiting from "../support/Waiting.ts"

const Book = Tool.make("book", { success: Schema.String })
const Seats = Schema.Struct({ count: Schema.Int, until: Schema.DateFromString })

const ids = (outcome: { readonly _tag: string; readonly pending?: ReadonlyArray<{ readonly id: string }> }) =>
  outcome.pending?.map(({ id }) => String(id))

/** A subagent whose one tool is this handler, run in one process after the other. */
const setUp = Effect.fnUntraced(function*(
  handler: () => Effect.Effect<string, never, ToolContext.ToolContext>,
  ...more: ReadonlyArray<Step.Step>
) {
  const clerk = TypedAgent.text("clerk", { description: "Books" }).withTools(Toolkit.make(Book), { book: handler })
  const { next } = yield* Waiting.processes(MemoryRunStore.make(), {
    clerk: [Step.calls(Step.call("book")), ...more]
  })
  return {
    run: next(Effect.flatMap(clerk.bind(), (bound) => bound.run({ description: "x" }, { threadId: "t" }))),
    resume: (...answers: ReadonlyArray<Answer.Answer>) =>
      next(Effect.flatMap(clerk.bind(), (bound) => bound.resume("t", answers)))
  }
})

describe("a question", () => {
  it.effect("is asked once each, in order, and what stands in once is done once", () =>
    Effect.gen(function*() {
      const did: Array<string> = []
      const note = (what: string) => Effect.sync(() => did.push(what))
      const { resume, run } = yield* setUp(
        () =>
          Effect.gen(function*() {
            yield* note("entered")
            yield* ToolContext.once("hold", Schema.Void, Effect.asVoid(note("held")))
            const { count, until } = yield* ToolContext.ask("How many?", { answer: Seats })
            const isSure = yield* ToolContext.ask("Sure?", { answer: Schema.Boolean })
            return `${count} until ${until.getUTCFullYear()}, ${isSure}`
          }),
        Step.text("booked")
      )

      const first = yield* run
      assert.deepStrictEqual(ids(first), ["0.0:question0"])
      const refused = yield* Effect.flip(resume(Answer.replyUnknown("0.0:question0", { count: "two" })))
      assert.deepStrictEqual(refused._tag === "RunError" && refused.reason, {
        _tag: "InvalidAnswer",
        threadId: "t",
        id: "0.0:question0",
        issues: ["count: Expected number", "until: Missing key"]
      })
      const second = yield* resume(
        Answer.reply("0.0:question0", Seats, { count: 2, until: new Date("2030-01-01T00:00:00Z") })
      )
      assert.deepStrictEqual(ids(second), ["0.0:question1"])
      const third = yield* resume(Answer.reply("0.0:question1", Schema.Boolean, true))

      assert.deepStrictEqual(third._tag === "Reported" && third.report, "booked")
      assert.deepStrictEqual(did, ["entered", "held", "entered", "entered"])
    }))

  it.effect("is asked again where its answer does not decode, though its JSON Schema takes it", () =>
    Effect.gen(function*() {
      const Count = Schema.NumberFromString.check(Schema.isInt())
      const did: Array<string> = []
      const { resume, run } = yield* setUp(
        () =>
          Effect.gen(function*() {
            const count = yield* ToolContext.ask("How many?", { answer: Count })
            const isSure = yield* ToolContext.ask("Sure?", { answer: Schema.Boolean })
            did.push(`${count}, ${isSure}`)
            return "booked"
          }),
        Step.text("booked")
      )
      const outcomes = [
        yield* run,
        yield* resume(Answer.replyUnknown("0.0:question0", "1.5")),
        yield* resume(Answer.replyUnknown("0.0:question1", "many")),
        yield* resume(Answer.reply("0.0:question2", Count, 2))
      ]
      const last = yield* resume(Answer.reply("0.0:question3", Schema.Boolean, true))

      assert.deepStrictEqual(
        outcomes.map((outcome) =>
          outcome._tag === "Suspended" &&
          outcome.pending.map(({ id, request }) => [id, request._tag === "Question" && request.question].join(" "))
        ),
        [
          ["0.0:question0 How many?"],
          ["0.0:question1 How many?"],
          ["0.0:question2 How many?"],
          ["0.0:question3 Sure?"]
        ]
      )
      assert.strictEqual(last._tag, "Reported")
      assert.deepStrictEqual(did, ["2, true"])
    }))

  it.effect.each<readonly [string, Schema.Codec<unknown, unknown>, string, string]>([
    ["a UUID", Schema.String.check(Schema.isUUID()), "123e4567-e89b-42d3-a456-426614174000", "7"],
    ["a text without blanks around it", Schema.Trimmed, "blue", " blue"],
    ["a template", Schema.TemplateLiteral(["seat-", Schema.Int]), "seat-7", "row-7"],
    ["a large number", Schema.BigInt, "12", "twelve"]
  ])(
    "takes an answer that its schema has a pattern for, and no other: %s",
    ([, answer, good, bad]) =>
      Effect.gen(function*() {
        const { resume, run } = yield* setUp(
          () => Effect.map(ToolContext.ask("Which?", { answer }), String),
          Step.text("booked")
        )
        yield* run
        const refused = yield* Effect.flip(resume(Answer.replyUnknown("0.0:question0", bad)))
        const last = yield* resume(Answer.replyUnknown("0.0:question0", good))

        assert.strictEqual(refused._tag === "RunError" && refused.reason._tag, "InvalidAnswer")
        assert.deepStrictEqual(last._tag === "Reported" && last.report, "booked")
      })
  )

  it.effect("keeps its number beside one that stands in once", () =>
    Effect.gen(function*() {
      const ask = (question: string) => ToolContext.ask(question, { answer: Schema.String })
      const two = Effect.map(Effect.all([ask("From?"), ask("To?")]), (both) => both.join(" to "))
      const { resume, run } = yield* setUp(
        () =>
          Effect.gen(function*() {
            const way = ToolContext.once("way", Schema.String, two)
            const trip = yield* Effect.andThen(ToolContext.once("trip", Schema.String, way), way)
            const day = yield* ask("When?")
            return `${trip}, ${day}, ${yield* ask("Sure?")}`
          }),
        (request) => Step.text(JSON.stringify(request.messages.at(-1)?.content))
      )
      const reply = (n: number, value: string) => resume(Answer.reply(`0.0:question${n}`, Schema.String, value))
      yield* run
      const pending = yield* Effect.forEach(
        ["Bonn", "Ulm", "Monday"],
        (value, n) => Effect.map(reply(n, value), ids)
      )
      const last = yield* reply(3, "yes")

      assert.deepStrictEqual(pending, [["0.0:question1"], ["0.0:question2"], ["0.0:question3"]])
      assert.include(last._tag === "Reported" ? last.report : "", "Bonn to Ulm, Monday, yes")
    }))

  it.effect("cannot be caught, retried or outlived in the handler, and its finalizers run", () =>
    Effect.gen(function*() {
      const did: Array<string> = []
      const { run } = yield* setUp(() =>
        ToolContext.ask("Well?", { answer: Schema.String }).pipe(
          Effect.catchCause(() => Effect.sync(() => String(did.push("caught")))),
          Effect.retry({ times: 3 }),
          Effect.tap(() => Effect.sync(() => did.push("went on"))),
          Effect.ensuring(Effect.sync(() => did.push("finalizer")))
        )
      )

      assert.deepStrictEqual(ids(yield* run), ["0.0:question0"])
      assert.deepStrictEqual(did, ["finalizer"])
    }))

  it.effect("suspends the run even when its handler cannot be interrupted and goes on", () =>
    Effect.gen(function*() {
      const { run } = yield* setUp(() =>
        Effect.uninterruptible(
          Effect.catchCause(ToolContext.ask("Well?", { answer: Schema.String }), () => Effect.succeed("made up"))
        )
      )

      assert.deepStrictEqual(ids(yield* run), ["0.0:question0"])
    }))

  it.effect("waits beside calls that go on, and the run suspends when all have ended", () =>
    Effect.gen(function*() {
      const clerk = TypedAgent.text("clerk", { description: "Books" }).withTools(Toolkit.make(Book), {
        book: () => ToolContext.ask("Well?", { answer: Schema.String })
      })
      const parent = AgentBuilder.make("parent").withSubagents([clerk])
        .withTools(Toolkit.make(Book), { book: () => Effect.succeed("booked") })
      const store = MemoryRunStore.make()
      const { next } = yield* Waiting.processes(store, {
        parent: [Step.calls(Step.textTask("clerk", "x"), Step.call("book"))],
        clerk: [Step.calls(Step.call("book"))]
      })

      const { status } = yield* next(Effect.flatMap(parent.build(), (agent) => agent.run("Go", { threadId: "t" })))

      assert.deepStrictEqual(ids(status), ["0.0:child~0.0:question0"])
      const keys = (yield* store.load("t#0"))?.records.map(({ key }) => key)
      assert.deepStrictEqual(keys, ["m/0", "t/0.1"])
    }))
})

describe.each(backings)("what stands in once, in $name", ({ make }) => {
  it.effect("is done once each, whatever its name is made of", () =>
    Effect.gen(function*() {
      const names = ["", "a/b", "a\u0000b", "a\ud800", "a\udc00", "a\ufffd", "a\"b", "a\\\"b", "__proto__"]
      const did: Array<string> = []
      const clerk = AgentBuilder.make("clerk").withTools(Toolkit.make(Book), {
        book: () =>
          Effect.gen(function*() {
            const values = yield* Effect.forEach(
              names,
              (name, n) => ToolContext.once(name, Schema.Number, Effect.sync(() => did.push(name) && n))
            )
            yield* ToolContext.ask("Sure?", { answer: Schema.Boolean })
            return values.join(" ")
          })
      })
      const { next } = yield* Waiting.processes(yield* make, {
        clerk: [
          Step.calls(Step.call("book")),
          (request) => Step.text(JSON.stringify(request.messages.at(-1)?.content))
        ]
      })
      yield* next(Effect.flatMap(clerk.build(), (agent) => agent.run("Go", { threadId: "t" })))
      const { status } = yield* next(
        Effect.flatMap(
          clerk.build(),
          (agent) => agent.resume("t", [Answer.reply("0.0:question0", Schema.Boolean, true)])
        )
      )

      assert.deepStrictEqual(did, names)
      assert.include(status._tag === "Completed" ? status.answer : "", "0 1 2 3 4 5 6 7 8")
    }))
})

describe.each(backings)("half a surrogate pair, in $name", ({ make }) => {
  it.effect("becomes U+FFFD in what is answered and in what stands in once, from the first reading on", () =>
    Effect.gen(function*() {
      const read: Array<string> = []
      const clerk = AgentBuilder.make("clerk").withTools(Toolkit.make(Book), {
        book: () =>
          Effect.gen(function*() {
            read.push(yield* ToolContext.once("word", Schema.String, Effect.succeed("a\ud800")))
            read.push(yield* ToolContext.ask("Well?", { answer: Schema.String }))
            return "booked"
          })
      })
      const { next } = yield* Waiting.processes(yield* make, {
        clerk: [Step.calls(Step.call("book")), Step.text("done")]
      })
      yield* next(Effect.flatMap(clerk.build(), (agent) => agent.run("Go", { threadId: "t" })))
      const answer = Answer.reply("0.0:question0", Schema.String, "b\udc00")
      yield* next(Effect.flatMap(clerk.build(), (agent) => agent.resume("t", [answer])))

      assert.deepStrictEqual(read, ["a\ufffd", "a\ufffd", "b\ufffd"])
    }))
})

describe.each(backings)("a question that is being written, in $name", ({ make }) => {
  const ask = (question: string) => ToolContext.ask(question, { answer: Schema.String })
  it.effect.each(
    [
      [
        "a second one is asked",
        () => Effect.map(Effect.all([ask("One?"), ask("Two?")], { concurrency: "unbounded" }), (both) => both.join())
      ],
      [
        "something beside it fails",
        () => Effect.andThen(Effect.raceFirst(ask("One?"), Effect.die("broken")), ask("Two?"))
      ],
      ["something beside it is faster", () => Effect.race(ask("One?"), Effect.succeed("no answer"))]
    ] as const
  )("stays when %s meanwhile", ([, handler]) =>
    Effect.gen(function*() {
      const clerk = AgentBuilder.make("clerk").withTools(Toolkit.make(Book), { book: handler })
      const store = yield* make
      const { next } = yield* Waiting.processes(store, { clerk: [Step.calls(Step.call("book"))] })
      const { status } = yield* next(Effect.flatMap(clerk.build(), (agent) => agent.run("Go", { threadId: "t" })))

      assert.deepStrictEqual(ids(status), ["0.0:question0"])
      const keys = (yield* store.load("t#0"))?.records.map(({ key }) => key)
      assert.deepStrictEqual(keys, ["m/0", "i/0.0:question0"])
    }))
})
