/**
 * Programs that stand in for a language model.
 */
import type { Message } from "@mandate/core"
import type { Result } from "effect"

/** A tool call that a program makes. */
export interface Call {
  readonly tool: string
  readonly arguments: { readonly [name: string]: unknown }
}

/** What a program does next: it calls tools, or ends with a text. */
export type Move = { readonly calls: ReadonlyArray<Call> } | { readonly text: string }

/**
 * Decides on the next move from the conversation alone, as a language model
 * does, or says why it cannot go on.
 */
export type Program = (messages: ReadonlyArray<Message.Message>) => Result.Result<Move, string>

/** Results of one tool, in the order of its calls. */
export const resultsOf = (
  messages: ReadonlyArray<Message.Message>,
  tool: string
): ReadonlyArray<Message.ToolResultPart> =>
  messages.flatMap((message) => message.role === "tool" ? message.content.filter(({ name }) => name === tool) : [])
