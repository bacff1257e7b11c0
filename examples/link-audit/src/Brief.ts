/**
 * First messages for models: a line of words, and below it the facts as JSON.
 * JSON keeps any file name in one piece, whatever is in it.
 */
import type { Message } from "@mandate/core"
import { type Result, Schema } from "effect"

/** Writes a brief. */
export const write = (words: string, facts: Schema.Json): string => `${words}\n${JSON.stringify(facts)}`

/** Reads the facts of the brief that a conversation starts with. */
export const read = <A>(
  schema: Schema.Codec<A, unknown>,
  messages: ReadonlyArray<Message.Message>
): Result.Result<A, Schema.SchemaError> => {
  const first = messages.find((message) => message.role === "user")
  const text = first?.content.map((part) => part.type === "text" ? part.text : "").join("") ?? ""
  return Schema.decodeUnknownResult(Schema.fromJsonString(schema))(text.slice(text.indexOf("\n") + 1))
}
