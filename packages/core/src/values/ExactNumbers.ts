/**
 * JSON numbers that a double cannot hold.
 *
 * @since 0.1.0
 */
import * as JsonWalk from "./JsonWalk.ts"

/**
 * Finds the first number of a value that may not be the one that was written,
 * and gives a line that names the path. Keys for which `isKnown` is false are
 * shown as `*`.
 *
 * **Details**
 *
 * Such a number is an integer beyond 2^53 of which not all digits are known:
 * parsers round 9007199254740993 to 9007199254740992. Up to 15 digits before an
 * exponent always survive, so `6.02e23` is exact.
 *
 * @category getters
 * @since 0.1.0
 */
export const inValue = (value: unknown, isKnown: (key: string) => boolean = () => true): string | undefined =>
  isPlain(value, 0)
    ? undefined
    : JsonWalk.find(value, (leaf) => typeof leaf === "number" ? inexact(String(leaf), leaf) : undefined, isKnown)

/**
 * Finds the first number of a JSON text that the parsed value does not hold as
 * it was written, and gives a line that names the path. Keys for which
 * `isKnown` is false are shown as `*`.
 *
 * **Details**
 *
 * Integers beyond 2^53, numbers that are infinite as a double, and numbers that
 * become zero. A fraction with more digits than a double holds is rounded, as
 * everywhere.
 *
 * @category getters
 * @since 0.1.0
 */
export const inText = (
  text: string,
  value: unknown,
  isKnown: (key: string) => boolean = () => true
): string | undefined => {
  if (!mayBeInexact.test(text)) return undefined
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at)
    if (character === quote) at = endOfString(text, at)
    else if (character === minus || isDigit(character)) {
      const end = endOfNumber(text, at)
      const literal = text.slice(at, end)
      const number = Number(literal)
      const problem = inexact(literal, number)
      if (problem !== undefined) {
        return JsonWalk.find(value, (leaf) => leaf === number ? problem : undefined, isKnown) ?? `the value: ${problem}`
      }
      at = end - 1
    }
  }
  return undefined
}

// Most values have no large number at all.
const isPlain = (value: unknown, depth: number): boolean => {
  if (typeof value === "number") return Math.abs(value) <= Number.MAX_SAFE_INTEGER
  if (typeof value !== "object" || value === null) return true
  return depth <= JsonWalk.maxDepth && Object.values(value).every((item) => isPlain(item, depth + 1))
}

// Sixteen digits in a row, a point among them or not, or an exponent.
const mayBeInexact = /[\d.]{16}|\d[eE][+-]?\d/

const inexact = (literal: string, number: number): string | undefined => {
  if (!Number.isFinite(number)) return "a number this large cannot be read; write it as text"
  const [mantissa = "", exponent] = literal.toLowerCase().split("e")
  const digits = mantissa.replace(/[-.]/g, "").replace(/^0+/, "")
  if (number === 0) {
    return digits === "" ? undefined : "a number this close to zero cannot be read; write it as text"
  }
  if (!Number.isInteger(number) || Number.isSafeInteger(number)) return undefined
  const [, fraction = ""] = mantissa.split(".")
  const isFraction = fraction.replace(/0+$/, "").length > Number(exponent ?? 0)
  const isExact = exponent !== undefined && digits.replace(/0+$/, "").length <= exactDigits
  return isFraction || isExact ? undefined : "an integer beyond 2^53 cannot be read exactly; write it as text"
}

const exactDigits = 15

const quote = 34
const backslash = 92
const minus = 45

const isDigit = (character: number): boolean => character >= 48 && character <= 57

const endOfString = (text: string, start: number): number => {
  let at = start + 1
  while (at < text.length && text.charCodeAt(at) !== quote) at += text.charCodeAt(at) === backslash ? 2 : 1
  return at
}

const endOfNumber = (text: string, start: number): number => {
  let at = start + 1
  while (at < text.length && /[\d.eE+-]/.test(text[at]!)) at++
  return at
}
