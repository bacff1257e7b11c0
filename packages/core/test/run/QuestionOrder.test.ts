import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Answer, ToolContext } from "@mandate/core"
import { Script, Step } from "@mandate/testing"
import { Effect, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { backings } from "../support/Backings.ts"
import * as Waiting from "../support/Waiting.ts"

const Book = Toolkit.make(Tool.make("book", { success: Schema.String }))
const ask = (question: string) => ToolContext.ask(question, { answer: Schema.String })
const reply = (id: string, value: string) => [Answer.reply(id, Schema.String, value)]

/** An agent whose one tool is this handler, which it calls so many times at once. */
const setUp = Effect.fnUntraced(function*(
  { make }: (typeof backings)[number],
  times: number,
  book: () => Effect.Effect<string, never, ToolContext.ToolContext>
) {
  const clerk = AgentBuilder.make("clerk").withTools(Book, { book }).build()
  const { model, next } = yield* Waiting.processes(yield* make, {
    clerk: Script.optional([
      Step.calls(...Array.from({ length: times }, () => Step.call("book"))),
      Step.text("done")
    ])
  })
  return {
    model,
    run: next(Effect.flatMap(clerk, (agent) => agent.run("Go", { threadId: "t" }))),
    resume: (answers: ReadonlyArray<Answer.Answer>) =>
      next(Effect.flatMap(clerk, (agent) => agent.resume("t", answers)))
  }
})

const pending = ({ status }: { readonly status: { readonly _tag: string } }) =>
  "pending" in status ? (status.pending as ReadonlyArray<{ readonly id: string }>).map(({ id }) => String(id)) : []

describe.each(backings)("questions, in $name", (backing) => {
  it.effect("get each its own answer, with a value between them that asked nothing", () =>
    Effect.gen(function*() {
      const told: Array<string> = []
      const { resume, run } = yield* setUp(backing, 1, () =>
        Effect.gen(function*() {
          const from = yield* ask("From?")
          yield* ToolContext.once("hold", Schema.Void, Effect.void)
          const to = yield* ask("To?")
          told.push(`${from} to ${to}`)
          return "booked"
        }))
      yield* run
      const second = yield* resume(reply("0.0:question0", "Turin"))
      const last = yield* resume(reply("0.0:question1", "Rome"))

      assert.deepStrictEqual(pending(second), ["0.0:question1"])
      assert.strictEqual(last.status._tag, "Completed")
      assert.deepStrictEqual(told, ["Turin to Rome"])
    }))

  it.effect("that have no answer yet keep their handlers at rest while another's goes on", () =>
    Effect.gen(function*() {
      let entered = 0
      const { resume, run } = yield* setUp(
        backing,
        2,
        () => Effect.andThen(Effect.sync(() => entered++), ask("Where?"))
      )
      yield* run
      const before = entered
      const rest = yield* resume(reply("0.1:question0", "there"))

      assert.deepStrictEqual([before, entered], [2, 3])
      assert.deepStrictEqual(pending(rest), ["0.0:question0"])
    }))

  it.effect("are of whole characters when they are shown, in the process that asked too", () =>
    Effect.gen(function*() {
      const { run } = yield* setUp(backing, 1, () => ask("Which \ud83d?"))
      const { status } = yield* run

      const request = status._tag === "Suspended" ? status.pending[0]?.request : undefined
      assert.strictEqual(request?._tag === "Question" && request.question, "Which \ufffd?")
    }))
})
