/**
 * Properties of what a client sends to its model.
 *
 * @since 0.1.0
 */
import { Message } from "@mandate/core"
import * as Effect from "effect/Effect"
import * as Asking from "./Asking.ts"
import { call, response, type Rule } from "./Responses.ts"
import type { SentPart } from "./Subject.ts"
import { holds, same } from "./Violation.ts"

const metadata = { acme: { signature: "s-1" } }

const conversation: ReadonlyArray<Message.Message> = [
  { role: "system", content: "Be brief." },
  Message.userText("How warm is it?"),
  {
    role: "assistant",
    content: [
      { type: "reasoning", text: "Two cities.", providerMetadata: metadata },
      { type: "text", text: "Both." },
      { ...call("call_1", "get_weather", { city: "Oslo" }), providerMetadata: metadata },
      call("call_2", "get_weather", { city: "Rome" }),
      { type: "tool-call", id: "call_3", name: "get_weather", arguments: "{\"city\": 42" },
      { type: "tool-call", id: "call_4", name: "get_weather", arguments: "[1]" }
    ]
  },
  {
    role: "tool",
    content: [
      {
        type: "tool-result",
        id: "call_1",
        name: "get_weather",
        output: { type: "json", value: { degrees: 7, "\u00e5": [null] } },
        isError: false
      },
      {
        type: "tool-result",
        id: "call_2",
        name: "get_weather",
        output: { type: "text", value: "no such city" },
        isError: true
      },
      { type: "tool-result", id: "call_3", name: "get_weather", output: { type: "text", value: "" }, isError: false },
      { type: "tool-result", id: "call_4", name: "get_weather", output: { type: "json", value: 4 }, isError: false }
    ]
  },
  { role: "assistant", content: [{ type: "text", text: "Seven degrees." }] },
  Message.userText("And tomorrow?")
]

const sent: ReadonlyArray<SentPart> = [
  { type: "text", role: "system", text: "Be brief." },
  { type: "text", role: "user", text: "How warm is it?" },
  { type: "reasoning", text: "Two cities.", providerMetadata: metadata },
  { type: "text", role: "assistant", text: "Both." },
  { type: "call", id: "call_1", name: "get_weather", arguments: { city: "Oslo" }, providerMetadata: metadata },
  { type: "call", id: "call_2", name: "get_weather", arguments: { city: "Rome" } },
  // Providers refuse a history that holds anything but an object here.
  { type: "call", id: "call_3", name: "get_weather", arguments: {} },
  { type: "call", id: "call_4", name: "get_weather", arguments: {} },
  { type: "result", id: "call_1", name: "get_weather", output: { degrees: 7, "\u00e5": [null] }, isError: false },
  { type: "result", id: "call_2", name: "get_weather", output: "no such city", isError: true },
  { type: "result", id: "call_3", name: "get_weather", output: "", isError: false },
  { type: "result", id: "call_4", name: "get_weather", output: 4, isError: false },
  { type: "text", role: "assistant", text: "Seven degrees." },
  { type: "text", role: "user", text: "And tomorrow?" }
]

/**
 * The properties of requests.
 *
 * @category constants
 * @since 0.1.0
 */
export const rules: ReadonlyArray<Rule> = [
  {
    name: "sends calls and their results back in their places, with the metadata they came with",
    check: Effect.fnUntraced(function*(subject, way) {
      const made = yield* subject.make([{ _tag: "Respond", response: response([{ type: "text", text: "ok" }]) }])
      yield* way.ask(made.client, Asking.request({ messages: conversation }))
      yield* same("what was sent", (yield* made.sent).map(({ parts }) => parts), [sent])
    })
  },
  {
    name: "offers the tools it is given, or none",
    check: Effect.fnUntraced(function*(subject, way) {
      const turn = { _tag: "Respond" as const, response: response([{ type: "text", text: "ok" }]) }
      const made = yield* subject.make([turn, turn])
      yield* way.ask(made.client, Asking.request())
      yield* way.ask(made.client, Asking.request({ tools: [], toolChoice: "none" }))
      yield* same("what was offered", (yield* made.sent).map(({ tools }) => tools), [["get_weather"], []])
    })
  },
  {
    name: "takes one call after the other, and asks the model once for each",
    check: Effect.fnUntraced(function*(subject, way) {
      const first = response([call("call_1", "get_weather", { city: "Oslo" })])
      const made = yield* subject.make([
        { _tag: "Respond", response: first },
        { _tag: "Respond", response: response([{ type: "text", text: "Seven degrees." }]) }
      ])
      const asked = yield* way.ask(made.client, Asking.request())
      const [made1] = Message.toolCalls(asked.parts)
      yield* holds("the first response holds no call", made1 !== undefined)
      const answered = yield* way.ask(
        made.client,
        Asking.request({
          messages: [
            Message.userText("How warm is it?"),
            { role: "assistant", content: asked.parts },
            {
              role: "tool",
              content: [{
                type: "tool-result",
                id: made1!.id,
                name: made1!.name,
                output: { type: "json", value: { degrees: 7 } },
                isError: false
              }]
            }
          ]
        })
      )
      yield* same("the second response", Message.text(answered.parts), "Seven degrees.")
      yield* same("the number of calls", (yield* made.sent).length, 2)
    })
  }
]
