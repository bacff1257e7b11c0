/**
 * The parts of messages as parts of a V4 prompt.
 *
 * @since 0.1.0
 */
import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4TextPart,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4ToolResultPart,
  SharedV4FileDataData,
  SharedV4FileDataUrl
} from "@ai-sdk/provider"
import type { Message } from "@mandate/core"
import { Json } from "@mandate/core"
import * as Result from "effect/Result"
import * as Metadata from "./Metadata.ts"

/**
 * A part of an assistant message of a V4 prompt.
 *
 * @category models
 * @since 0.1.0
 */
export type AssistantPart = Extract<LanguageModelV4Message, { readonly role: "assistant" }>["content"][number]

/**
 * Converts a part of a user message, or of the content that a tool gave back.
 * A file whose URL is not a URL gives nothing; `SupportedUrls.check` refuses
 * it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromUser = (
  part: Message.TextPart | Message.FilePart
): ReadonlyArray<LanguageModelV4TextPart | LanguageModelV4FilePart> =>
  part.type === "text"
    ? [{ type: "text", text: part.text, ...Metadata.toOptions(part.providerMetadata) }]
    : fileData(part).map((data) => file(part, data))

/**
 * Converts a part of an assistant message.
 *
 * **Details**
 *
 * Sources and empty texts give nothing: a prompt has no place for the first,
 * and providers refuse the second.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromAssistant = (part: Message.AssistantPart): ReadonlyArray<AssistantPart> => {
  const options = Metadata.toOptions(part.providerMetadata)
  switch (part.type) {
    case "text":
      return part.text === "" && options.providerOptions === undefined
        ? []
        : [{ type: "text", text: part.text, ...options }]
    case "reasoning": {
      const { custom } = Metadata.marks(part.providerMetadata)
      return [
        custom === undefined
          ? { type: "reasoning", text: part.text, ...options }
          : { type: "custom", kind: custom, ...options }
      ]
    }
    case "file": {
      const { reasoningFile } = Metadata.marks(part.providerMetadata)
      return fileData(part).map((data) =>
        reasoningFile === true
          ? { type: "reasoning-file", mediaType: part.mediaType, data, ...options }
          : file(part, data)
      )
    }
    case "tool-call":
      return [{
        type: "tool-call",
        toolCallId: part.id,
        toolName: part.name,
        input: toolInput(part),
        ...(part.providerExecuted === true ? { providerExecuted: true } : {}),
        ...options
      }]
    case "tool-result":
      return [fromToolResult(part)]
    case "source":
      return []
  }
}

/**
 * Converts the result of a tool call.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromToolResult = (part: Message.ToolResultPart): LanguageModelV4ToolResultPart => ({
  type: "tool-result",
  toolCallId: part.id,
  toolName: part.name,
  output: toolOutput(part),
  ...Metadata.toOptions(part.providerMetadata)
})

const file = (part: Message.FilePart, data: SharedV4FileDataData | SharedV4FileDataUrl): LanguageModelV4FilePart => ({
  type: "file",
  mediaType: part.mediaType,
  data,
  ...(part.filename === undefined ? {} : { filename: part.filename }),
  ...Metadata.toOptions(part.providerMetadata)
})

const fileData = (part: Message.FilePart): ReadonlyArray<SharedV4FileDataData | SharedV4FileDataUrl> => {
  if (part.data.type === "base64") return [{ type: "data", data: part.data.base64 }]
  const url = URL.parse(part.data.url)
  if (url === null) return []
  // A provider may need its own URI back exactly as it wrote it.
  return [{ type: "url", url, ...(url.href === part.data.url ? {} : { originalUrl: part.data.url }) }]
}

const toolOutput = ({ output, isError }: Message.ToolResultPart): LanguageModelV4ToolResultOutput => {
  switch (output.type) {
    case "text":
      return { type: isError ? "error-text" : "text", value: output.value }
    case "json":
      return { type: isError ? "error-json" : "json", value: output.value }
    case "content":
      return { type: "content", value: output.value.flatMap(fromUser) }
    case "denied":
      return { type: "execution-denied", ...(output.value === "" ? {} : { reason: output.value }) }
  }
}

// Far more than a model can write; stored text is never parsed without a bound.
const maxArgumentBytes = 4_194_304

/**
 * Arguments that are not a JSON object are sent as `{}`, as the AI SDK does: several providers refuse a request whose
 * history holds a call with anything else, and the call's result tells the model what was wrong. The text itself is not
 * wrapped in a key of ours, which the model would take for an argument of the tool. What a provider runs itself may
 * have any input.
 */
const toolInput = (part: Message.ToolCallPart): Json.Json => {
  const input = Result.getOrElse(Json.parse(part.arguments, maxArgumentBytes), (): Json.Json => ({}))
  const isObject = typeof input === "object" && input !== null && !Array.isArray(input)
  return isObject || part.providerExecuted === true ? input : {}
}
