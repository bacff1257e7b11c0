/** What a V4 model does at one call, from the words of the contract of model clients. */
import type {
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4GenerateResult,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage
} from "@ai-sdk/provider"
import { APICallError, JSONParseError, UnsupportedFunctionalityError } from "@ai-sdk/provider"
import type { Message, ModelError, ModelResponse } from "@mandate/core"
import { ModelClientContract } from "@mandate/testing"

export const toResult = (response: ModelResponse.ModelResponse): LanguageModelV4GenerateResult => ({
  content: response.parts.map(toContent),
  finishReason: toReason(response.finishReason),
  usage: toUsage(response.usage),
  warnings: []
})

export const toStream = (response: ModelResponse.ModelResponse): ReadonlyArray<LanguageModelV4StreamPart> => [
  { type: "stream-start", warnings: [] },
  ...response.parts.flatMap((part, index) => toStreamParts(part, String(index))),
  { type: "finish", finishReason: toReason(response.finishReason), usage: toUsage(response.usage) }
]

const metadataOf = (part: Message.AssistantPart) =>
  part.providerMetadata === undefined ? {} : { providerMetadata: part.providerMetadata as never }

const toContent = (part: Message.AssistantPart): LanguageModelV4Content => {
  switch (part.type) {
    case "text":
    case "reasoning":
      return { type: part.type, text: part.text, ...metadataOf(part) }
    case "tool-call":
      return {
        type: "tool-call",
        toolCallId: part.id,
        toolName: part.name,
        input: part.arguments,
        ...metadataOf(part)
      }
    default:
      throw new Error(`the contract has no ${part.type}`)
  }
}

const toStreamParts = (part: Message.AssistantPart, id: string): ReadonlyArray<LanguageModelV4StreamPart> => {
  switch (part.type) {
    case "text":
    case "reasoning":
      return [
        { type: `${part.type}-start`, id },
        ...halves(part.text).map((delta) => ({ type: `${part.type}-delta` as const, id, delta })),
        { type: `${part.type}-end`, id, ...metadataOf(part) }
      ]
    case "tool-call":
      return [
        { type: "tool-input-start", id: part.id, toolName: part.name },
        ...halves(part.arguments).map((delta) => ({ type: "tool-input-delta" as const, id: part.id, delta })),
        { type: "tool-input-end", id: part.id },
        toContent(part) as LanguageModelV4StreamPart
      ]
    default:
      throw new Error(`the contract has no ${part.type}`)
  }
}

export const halves = (text: string): ReadonlyArray<string> => {
  const middle = text.length >> 1
  return [text.slice(0, middle), text.slice(middle)]
}

const toReason = (reason: ModelResponse.FinishReason): LanguageModelV4FinishReason =>
  reason === "pause" ? { unified: "other", raw: "pause_turn" } : { unified: reason, raw: reason }

const toUsage = ({ inputTokens, outputTokens }: ModelResponse.ModelResponse["usage"]): LanguageModelV4Usage => ({
  inputTokens: {
    total: inputTokens.total,
    noCache: undefined,
    cacheRead: inputTokens.cacheRead,
    cacheWrite: inputTokens.cacheWrite
  },
  outputTokens: { total: outputTokens.total, text: undefined, reasoning: outputTokens.reasoning }
})

const { secret } = ModelClientContract

const refused = (statusCode: number | undefined, code = "") =>
  new APICallError({
    message: secret,
    url: `https://${secret}.test`,
    requestBodyValues: { secret },
    responseHeaders: { secret },
    responseBody: JSON.stringify({ error: { code, message: secret } }),
    ...(statusCode === undefined ? {} : { statusCode })
  })

/** What a client throws when the model fails for a reason. */
export const errors: { readonly [reason in ModelError.ModelErrorReason]: () => unknown } = {
  "rate-limited": () => refused(429),
  "quota-exceeded": () => refused(429, "insufficient_quota"),
  overloaded: () => refused(503),
  network: () => refused(undefined),
  authentication: () => refused(401),
  "content-filtered": () => refused(400, "content_filter"),
  "context-too-long": () => refused(400, "context_length_exceeded"),
  "invalid-request": () => refused(400),
  "invalid-response": () => new JSONParseError({ text: secret, cause: new Error(secret) }),
  unsupported: () => new UnsupportedFunctionalityError({ functionality: secret }),
  unknown: () => new Error(secret)
}
