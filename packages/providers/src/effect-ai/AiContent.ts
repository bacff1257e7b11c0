/**
 * What an `effect/ai` model gives, as V4 content.
 *
 * **Details**
 *
 * V4 is the form that the rest of this package reads, checks and bounds.
 *
 * @since 0.1.0
 */
import type {
  LanguageModelV4Content,
  LanguageModelV4FinishReason,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata
} from "@ai-sdk/provider"
import type * as Response from "effect/ai/Response"
import type * as StreamParts from "../v4/StreamParts.ts"

/**
 * A part of a whole response, whatever its tools.
 *
 * @category models
 * @since 0.1.0
 */
export type Part = Exclude<StreamPart, BlockPart> | Response.TextPart | Response.ReasoningPart

/**
 * A part of a stream, whatever its tools.
 *
 * @category models
 * @since 0.1.0
 */
export type StreamPart = Exclude<Response.AnyPart, Response.TextPart | Response.ReasoningPart | Response.ErrorPart>

/**
 * Converts a part of a whole response. What says nothing to the conversation
 * (metadata of the response, preliminary results) gives `undefined`, and so
 * does the finish.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromPart = (part: Part): LanguageModelV4Content | undefined =>
  part.type === "text" || part.type === "reasoning"
    ? { type: part.type, text: part.text, ...toMetadata(part) }
    : fromWhole(part)

/**
 * Converts a part of a stream. What says nothing to the conversation gives
 * `undefined`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromStreamPart = (
  part: StreamPart
): StreamParts.ResponsePart | undefined => {
  switch (part.type) {
    case "text-start":
    case "text-end":
    case "reasoning-start":
    case "reasoning-end":
      return { type: part.type, id: part.id, ...toMetadata(part) }
    case "text-delta":
    case "reasoning-delta":
      return { type: part.type, id: part.id, delta: part.delta, ...toMetadata(part) }
    case "tool-params-start":
      return {
        type: "tool-input-start",
        id: part.id,
        toolName: part.name,
        ...(part.providerExecuted ? { providerExecuted: true } : {})
      }
    case "tool-params-delta":
      return { type: "tool-input-delta", id: part.id, delta: part.delta }
    case "tool-params-end":
      return { type: "tool-input-end", id: part.id }
    case "finish":
      return { type: "finish", finishReason: toReason(part), usage: toUsage(part), ...toMetadata(part) }
    default:
      return fromWhole(part)
  }
}

/**
 * The reason of a finish. V4 has no `pause`; what stands for one there is
 * Anthropic's own word. `unknown` is a reason of the provider's that its client
 * does not know.
 *
 * @category constructors
 * @since 0.1.0
 */
export const toReason = ({ reason }: Response.FinishPart): LanguageModelV4FinishReason =>
  reason === "pause"
    ? { unified: "other", raw: "pause_turn" }
    : { unified: reason === "unknown" ? "other" : reason, raw: reason }

/**
 * The tokens of a finish.
 *
 * @category constructors
 * @since 0.1.0
 */
export const toUsage = ({ usage: { inputTokens, outputTokens } }: Response.FinishPart): LanguageModelV4Usage => ({
  inputTokens: {
    total: inputTokens.total,
    noCache: inputTokens.uncached,
    cacheRead: inputTokens.cacheRead,
    cacheWrite: inputTokens.cacheWrite
  },
  outputTokens: { total: outputTokens.total, text: outputTokens.text, reasoning: outputTokens.reasoning }
})

/**
 * The provider's own metadata of a part, if it has any.
 *
 * @category getters
 * @since 0.1.0
 */
export const toMetadata = (
  { metadata }: { readonly metadata: Response.ProviderMetadata }
): { providerMetadata?: SharedV4ProviderMetadata } => {
  const given = Object.entries(metadata).filter(([, value]) => value !== null)
  return given.length === 0 ? {} : { providerMetadata: Object.fromEntries(given) as SharedV4ProviderMetadata }
}

type BlockPart = Extract<Response.AnyPart, { readonly type: `${string}-${"start" | "delta" | "end"}` }>

// What comes whole in a stream too.
const fromWhole = (
  part: Exclude<StreamPart, BlockPart>
): Exclude<LanguageModelV4Content, { readonly type: "text" | "reasoning" }> | undefined => {
  const metadata = toMetadata(part)
  switch (part.type) {
    case "file":
      return { type: "file", mediaType: part.mediaType, data: { type: "data", data: part.data }, ...metadata }
    case "source":
      return part.sourceType === "url"
        ? { type: "source", sourceType: "url", id: part.id, url: part.url.href, title: part.title, ...metadata }
        : {
          type: "source",
          sourceType: "document",
          id: part.id,
          mediaType: part.mediaType,
          title: part.title,
          ...(part.fileName === undefined ? {} : { filename: part.fileName }),
          ...metadata
        }
    case "tool-call":
      return {
        type: "tool-call",
        toolCallId: part.id,
        toolName: part.name,
        // A client that could not read the arguments leaves them as the text they are.
        input: typeof part.params === "string" ? part.params : JSON.stringify(part.params) ?? "",
        ...(part.providerExecuted ? { providerExecuted: true } : {}),
        ...metadata
      }
    case "tool-result":
      return part.preliminary ? undefined : {
        type: "tool-result",
        toolCallId: part.id,
        toolName: part.name,
        result: part.encodedResult as never,
        ...(part.isFailure ? { isError: true } : {}),
        ...metadata
      }
    case "tool-approval-request":
      return { type: "tool-approval-request", approvalId: part.approvalId, toolCallId: part.toolCallId, ...metadata }
    case "response-metadata":
    case "finish":
      return undefined
  }
}
