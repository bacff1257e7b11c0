import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, type Message } from "@mandate/core"
import { Script, Step, StrictRules } from "@mandate/testing"
import { Effect, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as SentMessage from "../../src/values/SentMessage.ts"
import { backings } from "../support/Backings.ts"
import * as Waiting from "../support/Waiting.ts"

const clerk = AgentBuilder.make("clerk").withTools(
  Toolkit.make(Tool.make("look", { success: Schema.String })),
  { look: () => Effect.succeed("seen") }
)

const text = (text: string): Message.TextPart => ({ type: "text", text })
const thinking: Message.ReasoningPart = {
  type: "reasoning",
  text: "\n",
  providerMetadata: { anthropic: { signature: "s" } }
}
const call: Message.ToolCallPart = { type: "tool-call", id: "c", name: "look", arguments: "{}" }

describe("F07 Blank parts of a response", () => {
  it.effect.each(backings)(
    "F07 are left out wherever they stand, and thinking is not changed ($name)",
    ({ place }) =>
      Effect.gen(function*() {
        const parts = [text("\n\n"), thinking, text("Looking now"), text(""), call, text("\u200b")]
        const { model, next } = yield* Waiting.processes(yield* place, {
          clerk: Script.runs([Step.parts(parts, "tool-calls"), Step.text("one")], [Step.text("two")])
        })
        yield* next(Effect.flatMap(clerk.build(), (agent) => agent.run("Go", { threadId: "t" })))
        yield* next(Effect.flatMap(clerk.build(), (agent) => agent.run("Again", { threadId: "t" })))
        const requests = yield* model.requests

        for (const { request } of requests) assert.deepStrictEqual(StrictRules.check(request), [])
        for (const { request } of requests.slice(1)) {
          assert.deepStrictEqual<unknown>(request.messages[1]!.content, [thinking, text("Looking now"), call])
        }
      })
  )

  it.effect("F07 still count in the text of an answer, whose pieces they part", () =>
    Effect.gen(function*() {
      const { next } = yield* Waiting.processes(yield* backings[0]!.make, {
        clerk: [Step.parts([text("High"), text(" "), text("water")], "stop")]
      })
      const { status } = yield* next(Effect.flatMap(clerk.build(), (agent) => agent.run("Go")))

      assert.deepStrictEqual(status, { _tag: "Completed", answer: "High water" })
    }))

  it.prop(
    "F07 are never sent, whatever a response holds",
    { picks: Schema.Array(Schema.Literals([0, 1, 2, 3, 4])).check(Schema.isMaxLength(6)) },
    ({ picks }) => {
      const kinds: ReadonlyArray<Message.AssistantPart> = [text(" "), text(""), text("a"), thinking, call]
      const parts = picks.map((pick) => kinds[pick]!)
      const sent = SentMessage.make({ role: "assistant", content: parts })
      const content = sent?.role === "assistant" ? sent.content : []

      assert.strictEqual(sent !== undefined, SentMessage.hasContent(parts))
      assert.isTrue(content.every((part) => part.type !== "text" || part.text.trim() !== ""))
      assert.notStrictEqual(content.at(-1)?.type, "reasoning")
      assert.deepStrictEqual(
        content.filter(({ type }) => type === "tool-call").length,
        parts.filter(({ type }) => type === "tool-call").length
      )
    }
  )
})
