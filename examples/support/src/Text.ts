/**
 * Text for a terminal.
 */

/**
 * Shows control and invisible characters as `\u{1b}`, so that no file name,
 * argument or word of a model can write to the terminal on its own.
 */
export const escape = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`)

/** A number with its noun, in the plural where it needs one. */
export const count = (n: number, noun: string): string => `${n} ${noun}${n === 1 ? "" : "s"}`
