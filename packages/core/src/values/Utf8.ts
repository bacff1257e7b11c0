/**
 * Sizes of text in UTF-8 bytes, and cutting to a size.
 *
 * @since 0.1.0
 */

/**
 * Counts the UTF-8 bytes of a text. An unpaired surrogate counts three, as the
 * U+FFFD that it is sent as.
 *
 * @category getters
 * @since 0.1.0
 */
export const byteLength = (text: string): number => Buffer.byteLength(text)

/**
 * Cuts a text so that it has at most `maxBytes` UTF-8 bytes, always between
 * two whole characters (code points).
 *
 * **Details**
 *
 * A text that fits is returned as it is. One that does not ends with `…`
 * (three bytes) where there is room for it.
 *
 * @category formatting
 * @since 0.1.0
 */
export const cut = (text: string, maxBytes: number): string => {
  if (byteLength(text) <= maxBytes) return text
  const mark = maxBytes >= markBytes ? ellipsis : ""
  return prefix(text, maxBytes - byteLength(mark)) + mark
}

const ellipsis = "…"
const markBytes = byteLength(ellipsis)

const prefix = (text: string, maxBytes: number): string => {
  let bytes = 0
  let end = 0
  for (const character of text) {
    bytes += byteLength(character)
    if (bytes > maxBytes) break
    end += character.length
  }
  return text.slice(0, end)
}
