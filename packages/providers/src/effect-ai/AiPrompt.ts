/**
 * The messages of a conversation as an `effect/ai` prompt.
 *
 * @since 0.1.0
 */
import type { Message } from "@mandate/core"
import { Json } from "@mandate/core"
import * as Prompt from "effect/ai/Prompt"
import * as Result from "effect/Result"

/**
 * Makes the prompt of a conversation.
 *
 * **Details**
 *
 * A message is converted once, however many requests it is in: messages never
 * change. An assistant message that has nothing to send (sources alone, empty
 * text) is left out. Arguments that are not a JSON object are sent as `{}`;
 * the call's result tells the model what was wrong.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (conversation: ReadonlyArray<Message.Message>): Prompt.Prompt =>
  Prompt.fromMessages(
    conversation.map(convertOnce).filter((message) => message.role !== "assistant" || message.content.length > 0)
  )

const converted = new WeakMap<Message.Message, Prompt.Message>()

const convertOnce = (message: Message.Message): Prompt.Message => {
  const known = converted.get(message)
  if (known !== undefined) return known
  const made = convert(message)
  converted.set(message, made)
  return made
}

const convert = (message: Message.Message): Prompt.Message => {
  switch (message.role) {
    case "system":
      return Prompt.systemMessage({ content: message.content })
    case "user":
      return Prompt.userMessage({ content: message.content.flatMap(fromUser) })
    case "assistant":
      return Prompt.assistantMessage({ content: message.content.flatMap(fromAssistant) })
    case "tool":
      return Prompt.toolMessage({ content: message.content.map(fromToolResult) })
  }
}

const fromUser = (part: Message.TextPart | Message.FilePart): ReadonlyArray<Prompt.TextPart | Prompt.FilePart> =>
  part.type === "text" ? [Prompt.textPart({ text: part.text, ...options(part) })] : file(part)

const fromAssistant = (part: Message.AssistantPart): ReadonlyArray<Prompt.AssistantMessagePart> => {
  switch (part.type) {
    case "text":
      return part.text === "" && part.providerMetadata === undefined
        ? []
        : [Prompt.textPart({ text: part.text, ...options(part) })]
    case "reasoning":
      return [Prompt.reasoningPart({ text: part.text, ...options(part) })]
    case "file":
      return file(part)
    case "tool-call":
      return [
        Prompt.toolCallPart({
          id: part.id,
          name: part.name,
          params: toolInput(part),
          providerExecuted: part.providerExecuted === true,
          ...options(part)
        })
      ]
    case "tool-result":
      return [fromToolResult(part)]
    case "source":
      return []
  }
}

const fromToolResult = (part: Message.ToolResultPart): Prompt.ToolResultPart =>
  Prompt.toolResultPart({
    id: part.id,
    name: part.name,
    isFailure: part.isError || part.output.type === "denied",
    ...toResult(part.output),
    providerExecuted: part.providerExecuted === true,
    ...options(part)
  })

const toResult = (output: Message.ToolOutput): Pick<Prompt.ToolResultPart, "result" | "modelOutput"> => {
  switch (output.type) {
    case "text":
    case "json":
      return { result: output.value }
    case "content": {
      const modelOutput = output.value.flatMap(fromUser)
      return { result: Prompt.toolModelOutputToText(modelOutput), modelOutput }
    }
    case "denied":
      return { result: output.value === "" ? "The call was not allowed to run." : output.value }
  }
}

// A URL that is not one gives nothing, as for other models.
const file = (part: Message.FilePart): ReadonlyArray<Prompt.FilePart> => {
  const data = part.data.type === "base64" ? part.data.base64 : URL.parse(part.data.url)
  return data === null ? [] : [
    Prompt.filePart({
      mediaType: part.mediaType,
      data,
      ...(part.filename === undefined ? {} : { fileName: part.filename }),
      ...options(part)
    })
  ]
}

const options = ({ providerMetadata }: { readonly providerMetadata?: Message.ProviderMetadata }) =>
  providerMetadata === undefined ? {} : { options: providerMetadata }

// Far more than a model can write; stored text is never parsed without a bound.
const maxArgumentBytes = 4_194_304

const toolInput = (part: Message.ToolCallPart): Json.Json => {
  const input = Result.getOrElse(Json.parse(part.arguments, maxArgumentBytes), (): Json.Json => ({}))
  const isObject = typeof input === "object" && input !== null && !Array.isArray(input)
  return isObject || part.providerExecuted === true ? input : {}
}
