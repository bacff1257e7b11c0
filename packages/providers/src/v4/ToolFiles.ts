/**
 * Files in results of tools, which not every provider takes.
 *
 * @since 0.1.0
 */
import type { LanguageModelV4, LanguageModelV4ToolResultPart } from "@ai-sdk/provider"
import * as Predicate from "effect/Predicate"

/**
 * Whether a model takes a file of a media type in the result of a tool.
 *
 * @category models
 * @since 0.1.0
 */
export type TakesFile = (mediaType: string) => boolean

/**
 * What is known of a model, by its provider.
 *
 * **Details**
 *
 * Chat completions of OpenAI and of servers like it take text only, unless
 * their model was made with `supportsMultiPartToolContent`. OpenAI's responses
 * and Anthropic take images (PNG, JPEG, GIF, WebP) and PDF. Of other providers
 * nothing is known, and they are sent every file.
 *
 * @category constructors
 * @since 0.1.0
 */
export const takenBy = (model: Pick<LanguageModelV4, "provider">): TakesFile => {
  const { provider } = model
  if (/anthropic/i.test(provider) || /^(openai|azure).*\.responses$/.test(provider)) return isImageOrPdf
  return provider.endsWith(".chat") && !provider.startsWith("google") && !takesParts(model) ? () => false : () => true
}

/**
 * The result with a note in the place of each file that the model does not
 * take. A result that needs no note is given back as it is.
 *
 * @category combinators
 * @since 0.1.0
 */
export const withNotes = (
  part: LanguageModelV4ToolResultPart,
  takesFile: TakesFile
): LanguageModelV4ToolResultPart => {
  const { output } = part
  if (output.type !== "content") return part
  const isLeftOut = (item: (typeof output.value)[number]) => item.type === "file" && !takesFile(item.mediaType)
  if (!output.value.some(isLeftOut)) return part
  const value = output.value.map((item) =>
    item.type === "file" && isLeftOut(item) ? { type: "text" as const, text: note(item.mediaType) } : item
  )
  return {
    ...part,
    output: value.every((item) => item.type === "text")
      ? { type: "text", value: value.map((item) => item.text).join("\n") }
      : { type: "content", value }
  }
}

const note = (mediaType: string): string =>
  `[A file of the media type ${mediaType} was left out: this model takes none in the result of a tool.]`

const isImageOrPdf: TakesFile = (mediaType) => /^(image\/(png|jpeg|gif|webp|\*)|application\/pdf)$/i.test(mediaType)

const takesParts = (model: object): boolean => {
  const config = Predicate.hasProperty(model, "config") ? model.config : undefined
  return Predicate.hasProperty(config, "supportsMultiPartToolContent") && config.supportsMultiPartToolContent === true
}
