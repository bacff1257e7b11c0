import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Answer, MemoryRunStore, ToolContext, TypedAgent } from "@mandate/core"
import { Script, Step } from "@mandate/testing"
import { Effect, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { backings } from "../support/Backings.ts"
import * as Waiting from "../support/Waiting.ts"

const Pay = Waiting.gated("pay", { note: Schema.optionalKey(Schema.Unknown) })
const Wonder = Tool.make("wonder", { success: Schema.String })
const approval = "0.0:approval0"
const question = "0.1:question0"

/** A run that waits for an approval and for the answer to a question that takes anything. */
const waiting = Effect.fnUntraced(function*({ make }: (typeof backings)[number]) {
  const store = yield* make
  const { next } = yield* Waiting.processes(store, {
    clerk: Script.optional([Step.calls(Step.call("pay"), Step.call("wonder")), Step.text("done")])
  })
  const clerk = AgentBuilder.make("clerk").withTools(Toolkit.make(Pay, Wonder), {
    pay: () => Effect.succeed("paid"),
    wonder: () => Effect.as(ToolContext.ask("What?", { answer: Schema.Unknown }), "known")
  })
  yield* next(Effect.flatMap(clerk.build(), (agent) => agent.run("Go", { threadId: "t" })))
  return {
    store,
    resume: (answers: unknown) =>
      next(Effect.flatMap(clerk.build(), (agent) => agent.resume("t", answers as ReadonlyArray<Answer.Answer>)))
  }
})

// What somebody sends who does not go by the types: the field that is named, or the answer's own value.
const unreadable: ReadonlyArray<readonly [string, unknown, string]> = [
  ["a rejection without a reason", [{ _tag: "Reject", id: approval }], "reason"],
  ["a rejection with no text as its reason", [{ _tag: "Reject", id: approval, reason: 7 }], "reason"],
  ["arguments that are not there", [{ _tag: "Edit", id: approval }], "arguments"],
  ["arguments that have no JSON", [Answer.edit(approval, { note: new Date(0) })], "arguments"],
  ["a reply that is not there", [{ _tag: "Reply", id: question }], "value"],
  ["a reply that has no JSON", [Answer.replyUnknown(question, 1n)], "value"],
  ["a kind that there is not", [{ _tag: "__proto__", id: approval }], "[0]._tag"],
  ["an id that is no text", [{ _tag: "Approve", id: 7 }], "[0].id"],
  ["no answer", [null], "[0]"],
  ["no list", { _tag: "Approve", id: approval }, "the value"]
]

describe.each(backings)("answers that come as JSON, in $name", (backing) => {
  it.effect.each(unreadable)(
    "are refused whole with %s, and nothing is written",
    ([, answers, field]) =>
      Effect.gen(function*() {
        const { resume, store } = yield* waiting(backing)
        const before = [yield* store.load("t#0"), yield* store.events("t", 0)]
        const beside = Array.isArray(answers) && answers[0]?.id === question ? approval : question
        const other = beside === question ? Answer.replyUnknown(question, null) : Answer.approve(approval)
        const refused = yield* Effect.flip(resume(Array.isArray(answers) ? [...answers, other] : answers))

        const reason = refused._tag === "RunError" ? refused.reason : undefined
        assert.include(["InvalidAnswer", "InvalidInput"], reason?._tag)
        const issues = reason !== undefined && "issues" in reason ? reason.issues : []
        assert.isTrue(issues[0]?.startsWith(`${field}: `), issues[0])
        assert.match(refused.message, /^(The answer to "\S+" is|The answers are) not valid: /)
        assert.deepStrictEqual([yield* store.load("t#0"), yield* store.events("t", 0)], before)
        const mended = yield* resume([Answer.reject(approval, "no"), Answer.replyUnknown(question, null)])
        assert.deepStrictEqual(mended.status, { _tag: "Completed", answer: "done" })
      })
  )

  it.effect("are stored without what an answer does not have", () =>
    Effect.gen(function*() {
      const { resume, store } = yield* waiting(backing)
      yield* resume([{ ...Answer.approve(approval), by: "somebody" }])

      const stored = (yield* store.load("t#0"))?.records.find(({ key }) => key === `a/${approval}`)
      assert.deepStrictEqual(JSON.parse(stored?.json ?? ""), { _tag: "Approve", id: approval })
    }))
})

describe("an answer that edits calls", () => {
  it.effect("changes them everywhere, and takes the id of the provider's item from those calls alone", () =>
    Effect.gen(function*() {
      const noted = { providerMetadata: { p: { itemId: "i" } } }
      const search = { id: "s", name: "search", providerExecuted: true } as const
      const call = (id: string, cents: number) =>
        ({ type: "tool-call", id, name: "refund", arguments: JSON.stringify({ cents }), ...noted }) as const
      const tool = Tool.make("refund", {
        parameters: Schema.Struct({ cents: Schema.Int }),
        success: Schema.String,
        needsApproval: true
      })
      const clerk = TypedAgent.text("clerk", { description: "Refunds" }).withTools(Toolkit.make(tool), {
        refund: ({ cents }) => Effect.succeed(`refunded ${cents}`)
      })
      const { model, next } = yield* Waiting.processes(MemoryRunStore.make(), {
        clerk: [
          Step.parts([
            { type: "tool-call", ...search, arguments: "{\"of\":1}", ...noted },
            { type: "tool-result", ...search, output: { type: "json", value: 1 }, isError: false, ...noted },
            call("a", 10),
            call("b", 20),
            call("c", 30)
          ], "tool-calls"),
          Step.text("done")
        ]
      })
      yield* next(Effect.flatMap(clerk.bind(), (bound) => bound.run({ description: "x" }, { threadId: "t" })))
      const answers = [
        Answer.edit("0.0:approval0", { cents: 1 }),
        Answer.approve("0.1:approval0"),
        Answer.edit("0.2:approval0", { cents: 3 })
      ]
      yield* next(Effect.flatMap(clerk.bind(), (bound) => bound.resume("t", answers)))

      const { messages } = (yield* model.requests).at(-1)!.request
      const parts = messages.flatMap((message) => message.role === "assistant" ? message.content : [])
      assert.deepStrictEqual(
        parts.flatMap((part) => part.type === "tool-call" ? [part.arguments] : []),
        [{ of: 1 }, { cents: 1 }, { cents: 20 }, { cents: 3 }].map((value) => JSON.stringify(value))
      )
      assert.deepStrictEqual(
        parts.map((part) => part.providerMetadata),
        [noted, noted, {}, noted, {}].map(({ providerMetadata }: { providerMetadata?: object }) => providerMetadata)
      )
      assert.include(JSON.stringify(messages), "refunded 3")
    }))
})
