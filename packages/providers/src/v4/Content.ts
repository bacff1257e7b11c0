/**
 * The content of a V4 response as parts of a message.
 *
 * @since 0.1.0
 */
import type { LanguageModelV4Content, LanguageModelV4File, LanguageModelV4Source } from "@ai-sdk/provider"
import type { Json, Message } from "@mandate/core"
import * as Base64 from "effect/encoding/Base64"
import * as Result from "effect/Result"
import * as Metadata from "./Metadata.ts"
import type { Problem } from "./Problem.ts"

/**
 * Converts one piece of content. A preliminary tool result gives `undefined`:
 * the final one follows.
 *
 * **Details**
 *
 * The content is taken to have the type that V4 gives it; `Response.make`
 * checks what comes out. Content that has no place in a message fails: an
 * approval that a provider asks for a call it runs itself, and any type that
 * is not in V4 yet.
 *
 * @category constructors
 * @since 0.1.0
 */
export const toPart = (
  content: LanguageModelV4Content
): Result.Result<Message.AssistantPart | undefined, Problem> => {
  switch (content.type) {
    case "text": {
      const { citations, providerMetadata, text } = content
      const marks = citations === undefined || citations.length === 0 ? undefined : { citations }
      return Result.succeed({ type: "text", text, ...Metadata.toMetadata(providerMetadata, marks) })
    }
    case "reasoning":
      return Result.succeed({
        type: "reasoning",
        text: content.text,
        ...Metadata.toMetadata(content.providerMetadata)
      })
    case "custom":
      return Result.succeed({
        type: "reasoning",
        text: "",
        ...Metadata.toMetadata(content.providerMetadata, { custom: content.kind })
      })
    case "file":
      return Result.succeed(toFile(content, undefined))
    case "reasoning-file":
      return Result.succeed(toFile(content, { reasoningFile: true }))
    case "tool-call":
      return Result.succeed({
        type: "tool-call",
        id: content.toolCallId,
        name: content.toolName,
        arguments: argumentText(content.input),
        ...(content.providerExecuted === true ? { providerExecuted: true } : {}),
        ...Metadata.toMetadata(content.providerMetadata)
      })
    case "tool-result":
      return Result.succeed(
        content.preliminary === true ? undefined : {
          type: "tool-result",
          id: content.toolCallId,
          name: content.toolName,
          output: toOutput(content.result as Json.Json),
          isError: content.isError === true,
          providerExecuted: true,
          ...Metadata.toMetadata(content.providerMetadata)
        }
      )
    case "source":
      return Result.succeed(toSource(content))
    case "tool-approval-request":
      return unsupported("the provider asks for an approval of a call that it runs itself, which cannot be given here")
    default:
      content satisfies never
      return unsupported("the response holds content of a type that AiSdk does not know")
  }
}

const unsupported = (detail: string) => Result.fail<Problem>({ reason: "unsupported", detail })

const toFile = (
  { data, mediaType, providerMetadata }: Pick<LanguageModelV4File, "data" | "mediaType" | "providerMetadata">,
  marks: Metadata.Marks | undefined
): Message.FilePart => ({
  type: "file",
  mediaType,
  data: data.type === "url"
    ? { type: "url", url: data.originalUrl ?? data.url.href }
    : { type: "base64", base64: typeof data.data === "string" ? data.data : Base64.encode(data.data) },
  ...Metadata.toMetadata(providerMetadata, marks)
})

// The text is kept as the model wrote it. Clients that parse it, or leave it out, are off their type but exist.
const argumentText = (input: unknown): string => {
  if (typeof input === "string") return input
  return input === undefined || input === null ? "" : JSON.stringify(input)
}

const toOutput = (value: Json.Json): Message.ToolOutput =>
  typeof value === "string" ? { type: "text", value } : { type: "json", value }

const toSource = (source: LanguageModelV4Source): Message.SourcePart => {
  const metadata = Metadata.toMetadata(source.providerMetadata)
  if (source.sourceType === "url") {
    const { id, title, url } = source
    return { type: "source", id, url, ...(title === undefined ? {} : { title }), ...metadata }
  }
  const { filename, id, mediaType, title } = source
  return { type: "source", id, mediaType, title, ...(filename === undefined ? {} : { filename }), ...metadata }
}
