/**
 * Which media types of files a model takes.
 *
 * @since 0.1.0
 */
import type { Message } from "@mandate/core"

/**
 * Whether a pattern takes a media type, both in lower case. A star alone, or
 * on both sides of the slash, is any type; `image/*` and a media type of just
 * `image` are all of that kind.
 *
 * @category getters
 * @since 0.1.0
 */
export const accepts = (pattern: string, mediaType: string): boolean => {
  if (pattern === "*" || pattern === "*/*") return true
  return pattern.endsWith("/*") ? `${mediaType}/`.startsWith(pattern.slice(0, -1)) : mediaType === pattern
}

/**
 * Why a model cannot be sent a file that takes the media types of `patterns`,
 * in words that follow "the model". Nothing where it can, or where no patterns
 * are known.
 *
 * @category getters
 * @since 0.1.0
 */
export const refuses = (
  patterns: ReadonlyArray<string> | undefined,
  { mediaType }: Message.FilePart
): string | undefined =>
  patterns === undefined || patterns.some((pattern) => accepts(pattern.toLowerCase(), mediaType))
    ? undefined
    : `takes no files of this type, but ${patterns.join(", ") || "none"}`
