/**
 * Parts of messages that hold content: text, reasoning, files.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * Schema for a provider's own metadata: provider name to anything.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ProviderMetadata = Schema.Record(Schema.String, Schema.Json)

/**
 * A provider's own metadata, carried back unchanged.
 *
 * @category models
 * @since 0.1.0
 */
export type ProviderMetadata = typeof ProviderMetadata.Type

/**
 * The field of a part that carries metadata.
 *
 * @category schemas
 * @since 0.1.0
 */
export const metadata = { providerMetadata: Schema.optionalKey(ProviderMetadata) }

/**
 * Schema for text.
 *
 * @category schemas
 * @since 0.1.0
 */
export const TextPart = Schema.Struct({ type: Schema.tag("text"), text: Schema.String, ...metadata })

/**
 * Schema for a model's reasoning. It is carried back to the provider and never
 * read as an answer.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ReasoningPart = Schema.Struct({ type: Schema.tag("reasoning"), text: Schema.String, ...metadata })

/**
 * Schema for a file: its IANA media type and its content, as base64 or behind
 * a URL.
 *
 * @category schemas
 * @since 0.1.0
 */
export const FilePart = Schema.Struct({
  type: Schema.tag("file"),
  mediaType: Schema.String,
  filename: Schema.optionalKey(Schema.String),
  data: Schema.Union([
    Schema.Struct({ type: Schema.tag("base64"), base64: Schema.String }),
    Schema.Struct({ type: Schema.tag("url"), url: Schema.String })
  ]),
  ...metadata
})

/**
 * Text.
 *
 * @category models
 * @since 0.1.0
 */
export type TextPart = typeof TextPart.Type

/**
 * A model's reasoning.
 *
 * @category models
 * @since 0.1.0
 */
export type ReasoningPart = typeof ReasoningPart.Type

/**
 * A file, as base64 or behind a URL.
 *
 * @category models
 * @since 0.1.0
 */
export type FilePart = typeof FilePart.Type
