import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, type Message } from "@mandate/core"
import { Script, Step, StrictRules } from "@mandate/testing"
import { Arbitrary, Effect, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as ProviderCalls from "../../src/loop/ProviderCalls.ts"
import { backings } from "../support/Backings.ts"
import * as Waiting from "../support/Waiting.ts"

const clerk = AgentBuilder.make("clerk").withTools(
  Toolkit.make(Tool.make("look", { success: Schema.String })),
  { look: () => Effect.succeed("seen") }
)
const thinking: Message.ReasoningPart = { type: "reasoning", text: "Hm" }
const search: Message.ToolCallPart = {
  type: "tool-call",
  id: "srvtoolu_1",
  name: "web_search",
  arguments: "{}",
  providerExecuted: true
}
const found: Message.ToolResultPart = {
  type: "tool-result",
  id: "srvtoolu_1",
  name: "web_search",
  output: { type: "text", value: "found" },
  isError: false,
  providerExecuted: true
}
const look: Message.ToolCallPart = { type: "tool-call", id: "c1", name: "look", arguments: "{}" }
const text: Message.TextPart = { type: "text", text: "done" }

/** Responses of a run, and the parts of each that a later run sends; nothing for a message that is gone. */
const turns: ReadonlyArray<
  readonly [
    what: string,
    responses: ReadonlyArray<Step.Step>,
    sent: ReadonlyArray<ReadonlyArray<Message.AssistantPart>>
  ]
> = [
  ["a call cut before its result", [Step.parts([thinking, search], "length"), Step.parts([text], "stop")], [[text]]],
  [
    "a paused call that is given up",
    [Step.parts([thinking, search], "pause"), Step.parts([text], "stop")],
    [[text]]
  ],
  [
    "a paused call whose result follows",
    [Step.parts([thinking, search], "pause"), Step.parts([found, text], "stop")],
    [[thinking, search], [found, text]]
  ],
  [
    "a call whose result follows those of tools",
    [Step.parts([search, look], "tool-calls"), Step.parts([found, text], "stop")],
    [[search, look], [found, text]]
  ],
  ["a result of no call", [Step.parts([found, text], "stop")], [[text]]]
]

const cases = backings.flatMap((backing) =>
  turns.map(([what, responses, sent]) => ({ backing, what, responses, sent }))
)

describe("F05 What a provider began itself", () => {
  it.effect.each(cases)(
    "F05 is sent back in later runs only with what it led to: $what ($backing.name)",
    ({ backing, responses, sent }) =>
      Effect.gen(function*() {
        const { model, next } = yield* Waiting.processes(yield* backing.place, {
          clerk: Script.runs(responses, [Step.text("two")])
        })
        yield* next(Effect.flatMap(clerk.build(), (agent) => agent.run("First", { threadId: "t" })))
        yield* next(Effect.flatMap(clerk.build(), (agent) => agent.run("Second", { threadId: "t" })))
        const requests = yield* model.requests

        for (const { request } of requests) assert.deepStrictEqual(StrictRules.check(request), [])
        assert.deepStrictEqual<unknown>(
          requests.at(-1)!.request.messages.flatMap((message) => message.role === "assistant" ? [message.content] : []),
          sent
        )
      })
  )

  it.effect("F05 is sent back as it is while the provider goes on with it", () =>
    Effect.gen(function*() {
      const { model, next } = yield* Waiting.processes(yield* backings[0]!.make, {
        clerk: [Step.parts([thinking, search], "pause"), Step.parts([found, text], "stop")]
      })
      yield* next(Effect.flatMap(clerk.build(), (agent) => agent.run("Go")))
      const [, second] = yield* model.requests

      assert.deepStrictEqual<unknown>(second!.request.messages.at(-1), {
        role: "assistant",
        content: [thinking, search]
      })
    }))

  const part = Schema.Literals(["user", "search", "found", "text"])
  it.prop(
    "F05 is never sent by half, and what is whole is sent as it is",
    { kinds: Arbitrary.array(Arbitrary.schema(part), { maxLength: 12 }) },
    ({ kinds }) => {
      const given = kinds.map((kind): Message.Message =>
        kind === "user"
          ? { role: "user", content: [text] }
          : { role: "assistant", content: [kind === "search" ? search : kind === "found" ? found : text] }
      )
      const sent = ProviderCalls.paired(given)
      const broken = (messages: ReadonlyArray<Message.Message>) =>
        StrictRules.check({ messages, tools: [], toolChoice: "auto", settings: {} })
          .filter(({ rule }) => rule === "provider-calls")

      assert.deepStrictEqual(broken(sent), [])
      if (broken(given).length === 0) sent.forEach((message, index) => assert.strictEqual(message, given[index]))
    }
  )
})
