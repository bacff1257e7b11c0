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

const accepted = /^[a-zA-Z0-9_-]{1,40}$/

const odd = [
  "functions.look:0",
  "functions.look:1",
  "functions_look_0",
  "a".repeat(80),
  "a".repeat(81),
  "with a blank",
  "with\tanother",
  "ü",
  "call|1",
  "\u0000"
]

const callOf = (id: string, providerExecuted?: boolean): Message.ToolCallPart => ({
  type: "tool-call",
  id,
  name: "look",
  arguments: "{}",
  ...(providerExecuted === undefined ? {} : { providerExecuted })
})

const idsOf = (message: Message.Message | undefined): ReadonlyArray<string> =>
  message?.role === "assistant" || message?.role === "tool"
    ? message.content.flatMap((part) => part.type === "tool-call" || part.type === "tool-result" ? [part.id] : [])
    : []

describe("F06 Ids of tool calls that not every provider takes", () => {
  it.effect.each(backings)(
    "F06 are sent as ones that it does, in this run and in later ones ($name)",
    ({ place }) =>
      Effect.gen(function*() {
        const steps = [Step.calls(...odd.map((id) => Step.call("look", {}, { id }))), Step.text("done")]
        const { model, next } = yield* Waiting.processes(yield* place, {
          clerk: Script.runs(steps, steps, [Step.text("last")])
        })
        for (let run = 0; run < 3; run++) {
          yield* next(Effect.flatMap(clerk.build(), (agent) => agent.run("Go", { threadId: "t" })))
        }
        const requests = yield* model.requests
        const { messages } = requests.at(-1)!.request

        for (const { request } of requests) assert.deepStrictEqual(StrictRules.check(request), [])
        const called = messages.filter(({ role }) => role === "assistant").flatMap(idsOf)
        assert.lengthOf(called, 2 * odd.length)
        assert.strictEqual(new Set(called).size, called.length)
        assert.deepStrictEqual(messages.filter(({ role }) => role === "tool").flatMap(idsOf), called)
        // What was sent once is sent again: the prefix of a conversation never changes.
        const second = requests[1]!.request.messages
        assert.deepStrictEqual(messages.slice(0, second.length), second)
      })
  )

  it.prop(
    "F06 are sent in the form that every provider takes, the same for a call and its result, wherever they are read",
    { ids: Schema.UniqueArray(Schema.String).check(Schema.isMaxLength(8)) },
    ({ ids }) => {
      const message: Message.Message = { role: "assistant", content: ids.map((id) => callOf(id)) }
      const results: Message.Message = {
        role: "tool",
        content: ids.map((id) => ({
          type: "tool-result",
          id,
          name: "look",
          output: { type: "text", value: "seen" },
          isError: false
        }))
      }
      const sent = idsOf(SentMessage.make(message))

      assert.isTrue(sent.every((id) => accepted.test(id)))
      assert.deepStrictEqual(idsOf(SentMessage.make(structuredClone(results) as Message.Message)), sent)
      assert.deepStrictEqual(
        sent.filter((_, index) => accepted.test(ids[index]!)),
        ids.filter((id) => accepted.test(id))
      )
    }
  )

  it("F06 stay as they are where the provider runs the call itself", () => {
    const message: Message.Message = { role: "assistant", content: [callOf("ws_".padEnd(54, "0"), true)] }
    assert.strictEqual(SentMessage.make(message), message)
  })
})
