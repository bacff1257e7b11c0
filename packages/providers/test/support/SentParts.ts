/** What a V4 model was sent, in the words of the contract of model clients. */
import type { LanguageModelV4CallOptions, LanguageModelV4Message } from "@ai-sdk/provider"
import type { Message } from "@mandate/core"
import type { ModelClientContract } from "@mandate/testing"

export const ofOptions = ({ prompt, tools = [] }: LanguageModelV4CallOptions): ModelClientContract.Sent => ({
  tools: tools.map(({ name }) => name),
  parts: prompt.flatMap((message) =>
    message.role === "system"
      ? [{ type: "text" as const, role: message.role, text: message.content }]
      : message.content.flatMap((part) => toPart(message.role, part))
  )
})

type Part = Exclude<LanguageModelV4Message, { readonly role: "system" }>["content"][number]

const toPart = (
  role: LanguageModelV4Message["role"],
  part: Part
): ReadonlyArray<ModelClientContract.SentPart> => {
  const metadata = part.providerOptions === undefined
    ? {}
    : { providerMetadata: part.providerOptions as Message.ProviderMetadata }
  switch (part.type) {
    case "text":
      return [{ type: "text", role: role as "user", text: part.text, ...metadata }]
    case "reasoning":
      return [{ type: "reasoning", text: part.text, ...metadata }]
    case "tool-call":
      return [{ type: "call", id: part.toolCallId, name: part.toolName, arguments: part.input as never, ...metadata }]
    case "tool-result":
      return [{
        type: "result",
        id: part.toolCallId,
        name: part.toolName,
        output: "value" in part.output ? part.output.value as never : null,
        isError: part.output.type.startsWith("error"),
        ...metadata
      }]
    default:
      return []
  }
}
