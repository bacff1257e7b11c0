/**
 * What `parseArgs` of the standard library, where it is not strict, gives as
 * values of options.
 */

/** An option as it was given. */
export interface OptionToken {
  readonly name: string
  readonly rawName: string
  readonly value: string | undefined
  readonly inlineValue: boolean | undefined
}

/** Whether an option has a value. That of `--file --json` is forgotten, that of `--file=--json` is meant. */
export const isGiven = (value: string | undefined, inline: boolean | undefined): value is string =>
  value !== undefined && value !== "" && (inline === true || !value.startsWith("-"))

/** The value of an option that has one. */
export const text = (value: string | boolean | undefined): string | undefined =>
  typeof value === "string" ? value : undefined

/** Words for a message. */
export const quoted = (words: ReadonlyArray<string>): string => words.map((word) => JSON.stringify(word)).join(" and ")
