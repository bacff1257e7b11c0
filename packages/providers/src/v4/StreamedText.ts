/**
 * Blocks of text and reasoning that come in pieces.
 *
 * @since 0.1.0
 */
import type { LanguageModelV4Content, LanguageModelV4StreamPart, SharedV4ProviderMetadata } from "@ai-sdk/provider"

/**
 * A block that has begun.
 *
 * @category models
 * @since 0.1.0
 */
export interface Block {
  readonly type: "text" | "reasoning"
  text: string
  metadata: SharedV4ProviderMetadata | undefined
}

/**
 * A part that begins, goes on with or ends a block.
 *
 * @category models
 * @since 0.1.0
 */
export type BlockPart = Extract<
  LanguageModelV4StreamPart,
  { readonly type: `${"text" | "reasoning"}-${"start" | "delta" | "end"}` }
>

/**
 * A block with nothing in it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (type: Block["type"]): Block => ({ type, text: "", metadata: undefined })

/**
 * Adds what a part says to its block. Metadata is merged provider by provider
 * and key by key: some clients give the id of a block at its start and its
 * signature at its end.
 *
 * @category combinators
 * @since 0.1.0
 */
export const add = (block: Block, part: BlockPart): void => {
  if ("delta" in part) block.text += part.delta
  const { providerMetadata } = part
  if (providerMetadata === undefined) return
  const merged = { ...block.metadata }
  for (const [provider, options] of Object.entries(providerMetadata)) {
    Object.defineProperty(merged, provider, {
      value: { ...merged[provider], ...options },
      enumerable: true,
      configurable: true,
      writable: true
    })
  }
  block.metadata = merged
}

/**
 * The content of a block that has ended; `undefined` for one that says
 * nothing.
 *
 * @category constructors
 * @since 0.1.0
 */
export const end = (block: Block, part: BlockPart | undefined): LanguageModelV4Content | undefined => {
  const { metadata, text, type } = block
  const providerMetadata = metadata === undefined ? {} : { providerMetadata: metadata }
  const citations = part?.type === "text-end" && part.citations !== undefined ? { citations: part.citations } : {}
  if (text === "" && metadata === undefined) return undefined
  return { type, text, ...citations, ...providerMetadata }
}
