/**
 * Messages of a conversation: plain JSON, stored as they are.
 *
 * **Details**
 *
 * The shapes stay close to the encoded prompts of `effect/ai` and to the
 * prompts of the AI SDK, so that adapters are thin. Every part can carry the
 * provider's own metadata (thinking signatures, item ids), which goes back to
 * that provider unchanged on the next request.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { FilePart, metadata, ReasoningPart, TextPart } from "./ContentPart.ts"
import type { Named } from "./Named.ts"

export { FilePart, ProviderMetadata, ReasoningPart, TextPart } from "./ContentPart.ts"

/**
 * Schema for a tool call of a model.
 *
 * **Details**
 *
 * `arguments` is the text the model wrote, which is meant to be JSON and need
 * not be. `id` is the provider's, made unique within its thread.
 * `providerExecuted` marks a call that the provider runs itself.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ToolCallPart = Schema.Struct({
  type: Schema.tag("tool-call"),
  id: Schema.String,
  name: Schema.String,
  arguments: Schema.String,
  providerExecuted: Schema.optionalKey(Schema.Boolean),
  ...metadata
})

/**
 * Schema for what a tool gave back.
 *
 * **Details**
 *
 * - `text`, `json`: the result
 * - `content`: texts and files for the model to look at
 * - `denied`: the call was not allowed to run; the value is why, in words for
 *   the model, or empty
 *
 * @category schemas
 * @since 0.1.0
 */
export const ToolOutput = Schema.Union([
  Schema.Struct({ type: Schema.tag("text"), value: Schema.String }),
  Schema.Struct({ type: Schema.tag("json"), value: Schema.Json }),
  Schema.Struct({ type: Schema.tag("content"), value: Schema.Array(Schema.Union([TextPart, FilePart])) }),
  Schema.Struct({ type: Schema.tag("denied"), value: Schema.String })
])

/**
 * Schema for the result of a tool call, under the id and name of the call.
 * `isError` is set when the call failed.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ToolResultPart = Schema.Struct({
  type: Schema.tag("tool-result"),
  id: Schema.String,
  name: Schema.String,
  output: ToolOutput,
  isError: Schema.Boolean,
  providerExecuted: Schema.optionalKey(Schema.Boolean),
  ...metadata
})

/**
 * Schema for a source that a provider says it used.
 *
 * @category schemas
 * @since 0.1.0
 */
export const SourcePart = Schema.Struct({
  type: Schema.tag("source"),
  id: Schema.String,
  url: Schema.optionalKey(Schema.String),
  title: Schema.optionalKey(Schema.String),
  mediaType: Schema.optionalKey(Schema.String),
  filename: Schema.optionalKey(Schema.String),
  ...metadata
})

/**
 * Schema for anything a model can answer with.
 *
 * @category schemas
 * @since 0.1.0
 */
export const AssistantPart = Schema.Union([
  TextPart,
  ReasoningPart,
  FilePart,
  ToolCallPart,
  ToolResultPart,
  SourcePart
])

/**
 * Schema for one message of a conversation.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Message = Schema.Union([
  Schema.Struct({ role: Schema.tag("system"), content: Schema.String }),
  Schema.Struct({ role: Schema.tag("user"), content: Schema.Array(Schema.Union([TextPart, FilePart])) }),
  Schema.Struct({ role: Schema.tag("assistant"), content: Schema.Array(AssistantPart) }),
  Schema.Struct({ role: Schema.tag("tool"), content: Schema.Array(ToolResultPart) })
])

/**
 * A tool call of a model.
 *
 * @category models
 * @since 0.1.0
 */
export type ToolCallPart = typeof ToolCallPart.Type

/**
 * What a tool gave back: text, JSON, content with files, or that it was not
 * allowed to run.
 *
 * @category models
 * @since 0.1.0
 */
export type ToolOutput = Named<typeof ToolOutput.Type>

/**
 * The result of a tool call.
 *
 * @category models
 * @since 0.1.0
 */
export type ToolResultPart = typeof ToolResultPart.Type

/**
 * A source that a provider says it used.
 *
 * @category models
 * @since 0.1.0
 */
export type SourcePart = typeof SourcePart.Type

/**
 * Anything a model can answer with.
 *
 * @category models
 * @since 0.1.0
 */
export type AssistantPart = Named<typeof AssistantPart.Type>

/**
 * One message of a conversation.
 *
 * @category models
 * @since 0.1.0
 */
export type Message = Named<typeof Message.Type>

/**
 * A user message with one text.
 *
 * @category constructors
 * @since 0.1.0
 */
export const userText = (text: string): Message => ({ role: "user", content: [{ type: "text", text }] })

/**
 * A user message with a text and files after it. An empty text is left out
 * where there are files.
 *
 * @category constructors
 * @since 0.1.0
 */
export const userInput = (text: string, files: ReadonlyArray<FilePart>): Message =>
  files.length === 0
    ? userText(text)
    : { role: "user", content: [...(text === "" ? [] : [{ type: "text" as const, text }]), ...files] }

/**
 * Tool calls of a message that the loop has to answer, in order: all but those
 * that the provider runs itself.
 *
 * @category getters
 * @since 0.1.0
 */
export const toolCalls = (parts: ReadonlyArray<AssistantPart>): ReadonlyArray<ToolCallPart> =>
  parts.filter((part): part is ToolCallPart => part.type === "tool-call" && part.providerExecuted !== true)

/**
 * Text of a message, its text parts joined. Reasoning is not text.
 *
 * @category getters
 * @since 0.1.0
 */
export const text = (parts: ReadonlyArray<AssistantPart>): string =>
  parts.map((part) => part.type === "text" ? part.text : "").join("")
