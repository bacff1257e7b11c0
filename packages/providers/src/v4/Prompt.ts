/**
 * The messages of a conversation as a V4 prompt.
 *
 * @since 0.1.0
 */
import type { LanguageModelV4Message, LanguageModelV4Prompt } from "@ai-sdk/provider"
import type { Message } from "@mandate/core"
import * as PromptPart from "./PromptPart.ts"
import * as ToolFiles from "./ToolFiles.ts"

/**
 * A V4 prompt, and the files in its user messages and tool results that are
 * behind a URL: not every model can fetch them.
 *
 * @category models
 * @since 0.1.0
 */
export interface Prompt {
  readonly messages: LanguageModelV4Prompt
  readonly urls: ReadonlyArray<Message.FilePart>
}

/**
 * Makes the prompt of a conversation.
 *
 * **Details**
 *
 * A message is converted once, however many requests it is in: messages never
 * change. Results of one round that are in several messages become one, as the
 * AI SDK sends them. Of a file in a result that the model does not take, it gets
 * a note. An assistant message that has nothing to send (sources
 * alone, empty text) is left out.
 *
 * **Gotchas**
 *
 * The list and its messages are made for each call, so that middleware may
 * change them. The parts are shared between calls: middleware replaces parts
 * and does not change them.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  conversation: ReadonlyArray<Message.Message>,
  takesFile: ToolFiles.TakesFile = () => true
): Prompt => {
  const messages: LanguageModelV4Prompt = []
  const urls: Array<Message.FilePart> = []
  for (const message of conversation) {
    const next = copy(convertOnce(message), takesFile)
    const last = messages.at(-1)
    if (next.role === "tool" && last?.role === "tool") last.content.push(...next.content)
    else if (next.role !== "assistant" || next.content.length > 0) messages.push(next)
    urls.push(
      ...files(message).filter(isUrl).filter(({ mediaType }) => message.role === "user" || takesFile(mediaType))
    )
  }
  return { messages, urls }
}

const files = (message: Message.Message): ReadonlyArray<Message.TextPart | Message.FilePart> => {
  if (message.role === "user") return message.content
  if (message.role !== "tool") return []
  return message.content.flatMap(({ output }) => output.type === "content" ? output.value : [])
}

const isUrl = (part: Message.TextPart | Message.FilePart): part is Message.FilePart =>
  part.type === "file" && part.data.type === "url"

const converted = new WeakMap<Message.Message, LanguageModelV4Message>()

const convertOnce = (message: Message.Message): LanguageModelV4Message => {
  const known = converted.get(message)
  if (known !== undefined) return known
  const made = convert(message)
  converted.set(message, made)
  return made
}

const convert = (message: Message.Message): LanguageModelV4Message => {
  switch (message.role) {
    case "system":
      return { role: "system", content: message.content }
    case "user":
      return { role: "user", content: message.content.flatMap(PromptPart.fromUser) }
    case "assistant":
      return { role: "assistant", content: message.content.flatMap(PromptPart.fromAssistant) }
    case "tool":
      return { role: "tool", content: message.content.map(PromptPart.fromToolResult) }
  }
}

const copy = (message: LanguageModelV4Message, takesFile: ToolFiles.TakesFile): LanguageModelV4Message => {
  switch (message.role) {
    case "system":
      return { ...message }
    case "user":
      return { ...message, content: [...message.content] }
    case "assistant":
      return { ...message, content: [...message.content] }
    case "tool":
      return {
        ...message,
        content: message.content.map((part) =>
          part.type === "tool-result" ? ToolFiles.withNotes(part, takesFile) : part
        )
      }
  }
}
