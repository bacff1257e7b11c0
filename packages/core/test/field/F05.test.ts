import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, type Message } from "@mandate/core"
import { Script, Step, StrictRules } from "@mandate/testing"
import { Effect } from "effect"
import { backings } from "../support/Backings.ts"
import * as Waiting from "../support/Waiting.ts"

const clerk = AgentBuilder.make("clerk")
const thinking: Message.ReasoningPart = {
  type: "reasoning",
  text: "Hm",
  providerMetadata: { anthropic: { signature: "sig" } }
}
const blank: Message.TextPart = { type: "text", text: " \n" }
const source: Message.SourcePart = { type: "source", id: "s", url: "https://example.com" }

/** Responses that hold reasoning and nothing that it led to. */
const responses: ReadonlyArray<readonly [what: string, step: Step.Step]> = [
  ["cut at its limit", Step.parts([thinking], "length")],
  ["paused after thinking", Step.parts([thinking], "pause")],
  ["of reasoning and blank text", Step.parts([blank, thinking, blank], "stop")],
  ["of reasoning and a source", Step.parts([thinking, source], "stop")],
  ["of reasoning twice", Step.parts([thinking, thinking], "other")]
]

const cases = backings.flatMap((backing) => responses.map(([what, step]) => ({ backing, what, step })))

describe("F05 A response of reasoning alone", () => {
  it.effect.each(cases)(
    "F05 $what is sent back neither when the model is asked again nor in a later run ($backing.name)",
    ({ backing, step }) =>
      Effect.gen(function*() {
        const { model, next } = yield* Waiting.processes(yield* backing.place, {
          clerk: Script.runs([step, Step.text("one")], [Step.text("two")])
        })
        yield* next(Effect.flatMap(clerk.build(), (agent) => agent.run("First", { threadId: "t" })))
        yield* next(Effect.flatMap(clerk.build(), (agent) => agent.run("Second", { threadId: "t" })))
        const requests = yield* model.requests

        assert.lengthOf(requests, 3)
        for (const { request } of requests) {
          assert.deepStrictEqual(StrictRules.check(request), [])
          assert.notInclude(JSON.stringify(request.messages), "reasoning")
        }
      })
  )

  it.effect("F05 at the end of a response is left out, and before a call it stays as it is", () =>
    Effect.gen(function*() {
      const text: Message.TextPart = { type: "text", text: "So far" }
      const { model, next } = yield* Waiting.processes(yield* backings[0]!.make, {
        clerk: Script.runs([Step.parts([thinking, text, thinking], "length"), Step.text("one")])
      })
      yield* next(Effect.flatMap(clerk.build(), (agent) => agent.run("First", { threadId: "t" })))
      const [, second] = yield* model.requests

      assert.deepStrictEqual<unknown>(second!.request.messages[1], { role: "assistant", content: [thinking, text] })
    }))
})
