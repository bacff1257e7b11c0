import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, type Message, type ModelRequest } from "@mandate/core"
import { Script, Step, StrictRules } from "@mandate/testing"
import { Effect, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import type { CompiledAgent } from "../../src/loop/Drive.ts"
import * as RequestForm from "../../src/loop/RequestForm.ts"
import * as SentMessage from "../../src/values/SentMessage.ts"
import { backings } from "../support/Backings.ts"
import * as Waiting from "../support/Waiting.ts"

const clerk = AgentBuilder.make("clerk").withTools(
  Toolkit.make(Tool.make("look", { success: Schema.String })),
  { look: () => Effect.succeed("seen") }
)
const text = (text: string): Message.TextPart => ({ type: "text", text })
const callOf = (id: string, args = "{}"): Message.ToolCallPart => ({
  type: "tool-call",
  id,
  name: "look",
  arguments: args
})
const argumentsOf = (args: string) => {
  const sent = SentMessage.make({ role: "assistant", content: [callOf("c", args)] })
  const [part] = sent?.role === "assistant" ? sent.content : []
  return part?.type === "tool-call" ? part.arguments : undefined
}
const outputOf = (output: Message.ToolOutput) => {
  const part: Message.ToolResultPart = { type: "tool-result", id: "c", name: "look", output, isError: false }
  const sent = SentMessage.make({ role: "tool", content: [part] })
  return sent?.role === "tool" ? sent.content[0]!.output : undefined
}

describe("F03 The schema of a native answer", () => {
  const answerOf = (schema: ModelRequest.ModelTool["inputSchema"]) =>
    RequestForm.make(
      { settings: {}, answer: { native: { name: "answer", schema } } } as unknown as CompiledAgent,
      [],
      []
    ).answer?.schema

  it("F03 has properties at an object root, and items in every array", () => {
    assert.deepStrictEqual(answerOf({ type: "object" }), { type: "object", properties: {} })
    assert.deepStrictEqual(answerOf({ type: "array" }), { type: "array", items: {} })
    assert.deepStrictEqual(answerOf({ type: "object", properties: { a: { type: "array", items: null } } }), {
      type: "object",
      properties: { a: { type: "array", items: {} } }
    })
  })

  it("F03 stays the same object where it is complete", () => {
    const schema = { type: "object", properties: {} }
    assert.strictEqual(answerOf(schema), schema)
  })
})

describe("F06 An id that a model repeats in the form in which it was sent", () => {
  it.effect.each(backings)("F06 becomes another one ($name)", ({ place }) =>
    Effect.gen(function*() {
      const odd = "functions.look:0"
      const shown = SentMessage.callId(callOf(odd))
      const step = (id: string) => Step.calls(Step.call("look", {}, { id }))
      const { model, next } = yield* Waiting.processes(yield* place, {
        clerk: Script.runs(
          [step(odd), step(shown), Step.text("one")],
          [step(shown), step(odd), Step.text("two")]
        )
      })
      yield* next(Effect.flatMap(clerk.build(), (agent) => agent.run("Go", { threadId: "t" })))
      yield* next(Effect.flatMap(clerk.build(), (agent) => agent.run("Go", { threadId: "t" })))

      for (const { request } of yield* model.requests) assert.deepStrictEqual(StrictRules.check(request), [])
    }))

  it("F06 of a provider's own call keeps up to 64 letters that it knows, with its result, and no others", () => {
    const own = (id: string): Message.Message => ({
      role: "assistant",
      content: [{ ...callOf(id), providerExecuted: true }, {
        type: "tool-result",
        id,
        name: "look",
        output: { type: "text", value: "seen" },
        isError: false
      }]
    })
    const kept = own("ws_".padEnd(64, "0"))
    assert.strictEqual(SentMessage.make(kept), kept)
    for (const id of ["functions.search:0", "a b", "a".repeat(65)]) {
      const sent = SentMessage.make(own(id))
      const ids = sent?.role === "assistant" ? sent.content.map((part) => "id" in part ? part.id : "") : []
      assert.match(ids[0]!, /^call_[0-9a-f]{16}$/)
      assert.strictEqual(ids[1], ids[0])
    }
  })
})

describe("F07 Blank texts outside of responses", () => {
  it("F07 in the content of a result are left out", () => {
    assert.deepStrictEqual(outputOf({ type: "content", value: [text(" "), text("ok"), text("")] }), {
      type: "content",
      value: [text("ok")]
    })
    for (const value of [[], [text("")], [text("\n"), text("\u200b")]]) {
      assert.deepStrictEqual(outputOf({ type: "content", value }), { type: "text", value: "(no content)" })
    }
  })

  it("F07 do not remove a user's message that was stored, so that the assistant's is not the first", () => {
    for (const content of [[], [text("")], [text(" "), text("\n")]]) {
      assert.deepStrictEqual(SentMessage.make({ role: "user", content }), {
        role: "user",
        content: [text("(no text)")]
      })
    }
  })
})

describe("C46 Arguments with half of a pair as an escape", () => {
  const deep = 200_000
  const nested = (item: string) => `{"a":${"[".repeat(deep)}${item}${"]".repeat(deep)}}`

  it.each<readonly [what: string, given: string, sent: string]>([
    [
      "keep the digits of their numbers",
      String.raw`{"n":9007199254740993,"q":"\ud800"}`,
      "{\"n\":9007199254740993,\"q\":\"\ufffd\"}"
    ],
    ["keep an escaped backslash", String.raw`{"q":"\\ud800"}`, String.raw`{"q":"\\ud800"}`],
    ["are mended after an escaped backslash", String.raw`{"q":"\\\uD800"}`, "{\"q\":\"\\\\\ufffd\"}"],
    [
      "keep pairs beside halves",
      String.raw`{"q":"\ud83d\ude00\ude00\ud83d"}`,
      "{\"q\":\"\\ud83d\\ude00\ufffd\ufffd\"}"
    ],
    ["keep a first half's pair", String.raw`{"q":"\ud800\ud83d\ude00"}`, "{\"q\":\"\ufffd\\ud83d\\ude00\"}"]
  ])("C46 %s", (_, given, sent) => {
    assert.strictEqual(argumentsOf(given), sent)
  })

  it("C46 are mended however deep they are", () => {
    assert.isTrue(argumentsOf(nested(String.raw`"\ud800"`)) === nested("\"\ufffd\""))
  })

  it.prop(
    "C46 have none once they are parsed, and are otherwise the same",
    { pieces: Schema.Array(Schema.Literals(["\\ud83d", "\\ude00", "\\uDBFF", "\\\\", "\\u0041", "x", "\\n"])) },
    ({ pieces }) => {
      const given = `{"q":"${pieces.join("")}"}`
      const sent = argumentsOf(given)!
      assert.deepStrictEqual(JSON.parse(sent), { q: (JSON.parse(given) as { q: string }).q.toWellFormed() })
    }
  )
})
