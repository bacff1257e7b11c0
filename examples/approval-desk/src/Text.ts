/**
 * Text for a terminal.
 */

/**
 * Shows control and invisible characters as `\u{1b}`, so that no argument,
 * question or word of a model can write to the terminal on its own.
 */
export const escape = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)

/** A number with its noun, in the plural where it needs one. */
export const count = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? "" : "s"}`

/** A time in milliseconds, in the largest unit that fits. */
export const age = (millis: number): string => {
  const seconds = Math.max(0, Math.floor(millis / 1000))
  if (seconds < 60) return count(seconds, "second")
  if (seconds < 3600) return count(Math.floor(seconds / 60), "minute")
  if (seconds < 86_400) return count(Math.floor(seconds / 3600), "hour")
  return count(Math.floor(seconds / 86_400), "day")
}
