/** Tool results in messages, as short as a test can compare them. */
import type { Json, Message, ModelRequest } from "@mandate/core"

/** A tool result without its id and wrapping. */
export interface Seen {
  readonly name: string
  readonly isError: boolean
  readonly value: Json.Json
}

/** All tool results of some messages, in order. */
export const all = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<Seen> =>
  parts(messages).map(({ isError, name, output }) => ({ name, isError, value: output.value }))

/** The results in the message that a request ends with. */
export const last = (request: ModelRequest.ModelRequest | undefined): ReadonlyArray<Seen> =>
  all(request?.messages.slice(-1) ?? [])

/** The result parts of some messages, in order. */
export const parts = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<Message.ToolResultPart> =>
  messages.flatMap((message) => message.role === "tool" ? message.content : [])

/** The reason of an error result; nothing for a result that is none. */
export const reason = ({ isError, value }: Seen): string | undefined => {
  if (!isError || value === null || typeof value !== "object" || !("error" in value)) return undefined
  return (value["error"] as { readonly reason: string }).reason
}

/** The result of a task call that reported. */
export const reported = (name: string, report: Json.Json): Seen => ({ name, isError: false, value: { report } })

/** Ids of the tool calls in some messages, in order. */
export const callIds = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<string> =>
  messages.flatMap((message) =>
    message.role === "assistant" ? message.content.flatMap((part) => part.type === "tool-call" ? [part.id] : []) : []
  )
