/**
 * Streams of scripted responses.
 *
 * @since 0.1.0
 */
import type { Message, ModelError, ModelResponse } from "@mandate/core"
import * as Stream from "effect/Stream"
import type { StepOutcome } from "./StepOutcome.ts"

/**
 * Streams an outcome: a response whole, any other its text as deltas and then
 * its failure, its end without a finish, or nothing more.
 *
 * **Details**
 *
 * Text and reasoning come word by word, argument text in pieces of eight
 * characters. Every part comes whole after its deltas.
 *
 * @category running
 * @since 0.1.0
 */
export const of = (
  outcome: StepOutcome
): Stream.Stream<ModelResponse.ModelStreamPart, ModelError.ModelError> => {
  switch (outcome._tag) {
    case "Response":
      return Stream.fromIterable(whole(outcome.response))
    case "Unfinished":
      return Stream.fromIterable(words(outcome.text))
    case "Failure":
      return Stream.concat(Stream.fromIterable(words(outcome.text)), Stream.fail(outcome.error))
    case "Hanging":
      return Stream.concat(Stream.fromIterable(words(outcome.text)), Stream.never)
  }
}

const whole = (
  { finishReason, parts, ...rest }: ModelResponse.ModelResponse
): ReadonlyArray<ModelResponse.ModelStreamPart> => [
  ...parts.flatMap((part) => [...deltas(part), { type: "part" as const, part }]),
  { type: "finish", finishReason, ...rest }
]

const words = (text: string): ReadonlyArray<ModelResponse.ModelStreamPart> =>
  pieces(text, word).map((delta) => ({ type: "text-delta", delta }))

const deltas = (part: Message.AssistantPart): ReadonlyArray<ModelResponse.ModelStreamPart> => {
  switch (part.type) {
    case "text":
      return words(part.text)
    case "reasoning":
      return pieces(part.text, word).map((delta) => ({ type: "reasoning-delta", delta }))
    case "tool-call":
      return pieces(part.arguments, eight).map((delta) => ({
        type: "tool-input-delta",
        id: part.id,
        name: part.name,
        delta
      }))
    default:
      return []
  }
}

const word = /\s*\S+\s*|\s+/gu
const eight = /.{1,8}/gsu

const pieces = (text: string, pattern: RegExp): ReadonlyArray<string> => text.match(pattern) ?? []
