import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Answer, type Message } from "@mandate/core"
import { Script, Step, StrictRules } from "@mandate/testing"
import { Effect, Schema } from "effect"
import * as Toolkit from "effect/ai/Toolkit"
import { backings } from "../support/Backings.ts"
import * as Waiting from "../support/Waiting.ts"

const payer = AgentBuilder.make("payer").withTools(
  Toolkit.make(Waiting.gated("pay", { amount: Schema.Int })),
  { pay: ({ amount }) => Effect.succeed(`paid ${amount}`) }
)

const call = (metadata: Message.ProviderMetadata): Message.ToolCallPart => ({
  type: "tool-call",
  id: "call_1",
  name: "pay",
  arguments: "{\"amount\":1}",
  providerMetadata: metadata
})

const thinking: Message.ReasoningPart = {
  type: "reasoning",
  text: "One is due.",
  providerMetadata: {
    anthropic: { signature: "sig-1" },
    openai: { itemId: "rs_1", reasoningEncryptedContent: "enc-1" }
  }
}

/** What a provider notes at a call, and what is left of it once its arguments are others. */
const notes: ReadonlyArray<
  readonly [provider: string, given: Message.ProviderMetadata, left: Message.ProviderMetadata | undefined]
> = [
  ["Anthropic", { anthropic: { caller: { type: "direct" } } }, { anthropic: { caller: { type: "direct" } } }],
  ["OpenAI", { openai: { itemId: "fc_1" } }, undefined],
  ["OpenAI, with more than the id", { openai: { itemId: "fc_1", phase: "final" } }, { openai: { phase: "final" } }],
  ["Azure", { azure: { itemId: "fc_1" }, other: "x" }, { other: "x" }],
  ["Google", { google: { thoughtSignature: "sig-2" } }, { google: { thoughtSignature: "sig-2" } }]
]

const cases = backings.flatMap((backing) =>
  notes.map(([provider, given, left]) => ({ backing, provider, given, left }))
)

describe("F04 An approval with other arguments", () => {
  it.effect.each(cases)(
    "F04 keeps reasoning and signatures of the response, and not the id of the call's item ($provider, in $backing.name)",
    ({ backing, given, left }) =>
      Effect.gen(function*() {
        const text: Message.TextPart = {
          type: "text",
          text: "Paying",
          providerMetadata: { openai: { itemId: "msg_1" } }
        }
        const { model, next } = yield* Waiting.processes(yield* backing.place, {
          payer: Script.runs([Step.parts([thinking, text, call(given)], "tool-calls"), Step.text("done")])
        })
        yield* next(Effect.flatMap(payer.build(), (agent) => agent.run("Pay", { threadId: "t" })))
        const { status } = yield* next(
          Effect.flatMap(payer.build(), (agent) => agent.resume("t", [Answer.edit("0.0:approval0", { amount: 2 })]))
        )
        const { request } = (yield* model.requests).at(-1)!

        assert.deepStrictEqual(status, { _tag: "Completed", answer: "done" })
        const { providerMetadata: _, ...plain } = call(given)
        const edited = { ...plain, arguments: "{\"amount\":2}" }
        assert.deepStrictEqual<unknown>(
          request.messages[1]!.content,
          [thinking, text, left === undefined ? edited : { ...edited, providerMetadata: left }]
        )
        assert.deepStrictEqual(StrictRules.check(request), [])
      })
  )
})
