/** Postures for calls that are refused, and what is said of them. */
import * as Postures from "./Postures.ts"

/** Two postures, one of them with a ceiling. */
export const postures = [
  Postures.posture("scout"),
  Postures.posture("capped", { ceiling: { maxTokens: 100, maxToolCalls: 2, timeout: "2 seconds" } })
]

export const mebibytes = (count: number) => "x".repeat(count * 1024 * 1024)

export const count = (name: string, value: string) =>
  `The overrides are not valid: ${name} must be a positive whole number, not ${value}`
export const duration = (value: string) =>
  `The overrides are not valid: timeout must be a positive, finite duration, not ${value}`
export const ceiling = (limit: string, most: number, given: number) =>
  `The overrides are not valid: ${limit} must be at most ${most}, the ceiling of the posture, not ${given}`
