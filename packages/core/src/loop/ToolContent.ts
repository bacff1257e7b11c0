/**
 * What a tool shows a model in place of its result: texts and files.
 *
 * @since 0.1.0
 */
import type * as Prompt from "effect/ai/Prompt"
import type * as Tool from "effect/ai/Tool"
import * as Effect from "effect/Effect"
import * as Base64 from "effect/encoding/Base64"
import * as Predicate from "effect/Predicate"
import type { FilePart, ProviderMetadata, TextPart, ToolOutput } from "../values/Message.ts"

/**
 * Makes what a model is shown of a result, or nothing where the mapping gives
 * no parts: the result is then shown as it is. It dies where the tool's own
 * mapping throws.
 *
 * @category models
 * @since 0.1.0
 */
export type ToolContent = (result: unknown) => Effect.Effect<ToolOutput | undefined>

/**
 * Reads a tool's `toModelOutput`; `undefined` for a tool that shows its result
 * as it is.
 *
 * **Details**
 *
 * Bytes become base64. A text is base64 too, unless it is a `data:` URL, whose
 * content is taken out, or an `http` URL, which is sent as a URL.
 *
 * @category constructors
 * @since 0.1.0
 */
export const of = (tool: Tool.Any): ToolContent | undefined => {
  const { toModelOutput } = tool
  return toModelOutput === undefined
    ? undefined
    : (result) =>
      Effect.sync(() => {
        const parts = toModelOutput(result)
        return parts.length === 0 ? undefined : { type: "content", value: parts.map(toPart) }
      })
}

const toPart = (part: Prompt.ToolModelOutputPart): TextPart | FilePart =>
  part.type === "text"
    ? { type: "text", text: part.text, ...metadataOf(part.options) }
    : {
      type: "file",
      mediaType: part.mediaType,
      ...(part.fileName === undefined ? {} : { filename: part.fileName }),
      data: toData(part.data),
      ...metadataOf(part.options)
    }

const toData = (data: string | Uint8Array | URL): FilePart["data"] => {
  if (data instanceof Uint8Array) return { type: "base64", base64: Base64.encode(data) }
  const text = typeof data === "string" ? data : data.href
  const base64 = /^data:[^,]*;base64,/i.exec(text)
  if (base64 !== null) return { type: "base64", base64: text.slice(base64[0].length) }
  return typeof data !== "string" || /^https?:/i.test(text)
    ? { type: "url", url: text }
    : { type: "base64", base64: text }
}

// A provider with no options of its own stands there as null.
const metadataOf = (options: Prompt.ProviderOptions): { readonly providerMetadata?: ProviderMetadata } => {
  const known = Object.entries(options).filter(([, value]) => Predicate.isNotNullish(value))
  return known.length === 0 ? {} : { providerMetadata: Object.fromEntries(known) }
}
