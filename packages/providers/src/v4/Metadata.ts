/**
 * A provider's own metadata, out of its responses and back into its requests.
 *
 * **Details**
 *
 * What V4 knows of a part and Mandate's messages have no field for is kept
 * beside it, under the key `mandate`, and never sent.
 *
 * @since 0.1.0
 */
import type { LanguageModelV4Citation, SharedV4ProviderMetadata, SharedV4ProviderOptions } from "@ai-sdk/provider"
import type { Message } from "@mandate/core"

/**
 * What V4 knows of a part and Mandate's messages have no field for.
 *
 * **Details**
 *
 * - `custom`: the kind of a provider's own part, which is kept as reasoning
 *   without text
 * - `reasoningFile`: the file belongs to the reasoning
 * - `citations`: what a text is supported by, for the application to read
 *
 * @category models
 * @since 0.1.0
 */
export interface Marks {
  readonly custom?: `${string}.${string}`
  readonly reasoningFile?: true
  readonly citations?: ReadonlyArray<LanguageModelV4Citation>
}

/**
 * The metadata of a part of a response, with its marks.
 *
 * **Gotchas**
 *
 * The result is JSON only after the whole response was written as JSON and
 * read again, which `Response.make` does.
 *
 * @category constructors
 * @since 0.1.0
 */
export const toMetadata = (
  metadata: SharedV4ProviderMetadata | undefined,
  marks?: Marks
): { readonly providerMetadata?: Message.ProviderMetadata } => {
  if (marks === undefined) return metadata === undefined ? {} : { providerMetadata: asJson(metadata) }
  return { providerMetadata: asJson({ ...metadata, [key]: marks }) }
}

/**
 * The options of a part of a request: its metadata, unchanged, without marks.
 *
 * @category constructors
 * @since 0.1.0
 */
export const toOptions = (
  metadata: Message.ProviderMetadata | undefined
): { providerOptions?: SharedV4ProviderOptions } => {
  if (metadata === undefined) return {}
  if (!Object.hasOwn(metadata, key)) return { providerOptions: asOptions(metadata) }
  const { [key]: _, ...options } = metadata
  return Object.keys(options).length === 0 ? {} : { providerOptions: asOptions(options) }
}

/**
 * The marks of a stored part. What is stored is not trusted to be marks.
 *
 * @category getters
 * @since 0.1.0
 */
export const marks = (metadata: Message.ProviderMetadata | undefined): Marks => {
  const stored = metadata?.[key]
  if (typeof stored !== "object" || stored === null || Array.isArray(stored)) return {}
  const { custom, reasoningFile } = stored as { readonly [name: string]: unknown }
  return {
    ...(isKind(custom) ? { custom } : {}),
    ...(reasoningFile === true ? { reasoningFile } : {})
  }
}

const key = "mandate"

const isKind = (value: unknown): value is `${string}.${string}` => typeof value === "string" && value.includes(".")

const asJson = (metadata: object): Message.ProviderMetadata => metadata as Message.ProviderMetadata

// Only what a V4 model gave comes back to one, and V4 has an object under each provider's name.
const asOptions = (metadata: Message.ProviderMetadata): SharedV4ProviderOptions => metadata as SharedV4ProviderOptions
