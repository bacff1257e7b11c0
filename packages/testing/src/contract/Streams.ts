/**
 * Properties of responses that come in pieces.
 *
 * @since 0.1.0
 */
import { Message, type ModelResponse } from "@mandate/core"
import * as Effect from "effect/Effect"
import * as Asking from "./Asking.ts"
import { call, response, type Rule } from "./Responses.ts"
import { holds, same } from "./Violation.ts"

const whole = response(
  [
    { type: "reasoning", text: "They ask about two cities.", providerMetadata: { acme: { signature: "s-1" } } },
    { type: "text", text: "I look at both of them." },
    call("call_1", "get_weather", { city: "Oslo", note: "with some more words" }),
    call("call_2", "get_weather", {})
  ],
  { usage: { inputTokens: { total: 20, cacheRead: 7 }, outputTokens: { total: 9, reasoning: 4 } } }
)

/**
 * The properties of streams. They ask only in pieces.
 *
 * @category constants
 * @since 0.1.0
 */
export const rules: ReadonlyArray<Rule> = [
  {
    name: "gives in pieces what it gives whole",
    check: Effect.fnUntraced(function*(subject) {
      const made = yield* subject.make([{ _tag: "Respond", response: whole }, { _tag: "Respond", response: whole }])
      const generated = yield* Asking.generate.ask(made.client, Asking.request())
      const streamed = yield* Asking.stream.ask(made.client, Asking.request())
      yield* same("the streamed response", streamed, generated)
    })
  },
  {
    name: "ends with the finish, which comes once",
    check: Effect.fnUntraced(function*(subject) {
      const made = yield* subject.make([{ _tag: "Respond", response: whole }])
      const pieces = yield* Asking.pieces(made.client, Asking.request())
      yield* same("the last piece", pieces.at(-1)?.type, "finish")
      yield* same("the number of finishes", pieces.filter(({ type }) => type === "finish").length, 1)
    })
  },
  {
    name: "gives deltas that make up the parts, each before its part",
    check: Effect.fnUntraced(function*(subject) {
      const made = yield* subject.make([{ _tag: "Respond", response: whole }])
      const pieces = yield* Asking.pieces(made.client, Asking.request())
      const parts = pieces.flatMap((piece) => piece.type === "part" ? [piece.part] : [])
      yield* same("the text of the deltas", joined(pieces, "text-delta"), Message.text(parts))
      yield* same("the reasoning of the deltas", joined(pieces, "reasoning-delta"), "They ask about two cities.")
      for (const type of ["text", "reasoning"] as const) {
        const last = pieces.findLastIndex((piece) => piece.type === `${type}-delta`)
        const part = pieces.findIndex((piece) => piece.type === "part" && piece.part.type === type)
        yield* holds(`a delta of the ${type} comes after its part`, last < part)
      }
      const ids = new Set(parts.flatMap((part) => part.type === "tool-call" ? [part.id] : []))
      yield* holds(
        "a delta of arguments belongs to no call",
        pieces.every((piece) => piece.type !== "tool-input-delta" || ids.has(piece.id))
      )
    })
  }
]

const joined = (
  pieces: ReadonlyArray<ModelResponse.ModelStreamPart>,
  type: "text-delta" | "reasoning-delta"
): string => pieces.map((piece) => piece.type === type ? piece.delta : "").join("")
