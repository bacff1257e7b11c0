/**
 * Bounds on what a model's client gives, held before anything is made of it.
 *
 * **Details**
 *
 * Invariants:
 *
 * 1. A response over its bounds is not decoded, recorded or shown: nothing but
 *    its size is looked at, and no more of that than is needed.
 * 2. A stream is read no further than its bounds.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as JsonSize from "../values/JsonSize.ts"
import { maxBytes, maxParts, type ModelStreamPart } from "../values/ModelResponse.ts"

/**
 * What of a response is over its bounds; nothing for one that is within them,
 * and for what is not a response.
 *
 * @category getters
 * @since 0.1.0
 */
export const problem = (given: unknown): string | undefined =>
  Result.getOrElse(
    Result.try(() => {
      const parts: unknown = typeof given === "object" && given !== null && "parts" in given ? given.parts : undefined
      if (Array.isArray(parts) && parts.length > maxParts) return tooManyParts
      return JsonSize.left(given, maxBytes) < 0 ? tooLarge : undefined
    }),
    // Whoever decodes it says what is wrong with a value that cannot be read.
    () => undefined
  )

/**
 * Counts the pieces of a streamed response as they come. Gives what is over
 * its bounds, if anything is by now.
 *
 * @category constructors
 * @since 0.1.0
 */
export const counter = (): (piece: ModelStreamPart) => string | undefined => {
  let parts = 0
  let bytesLeft = maxBytes
  let deltaLeft = maxBytes
  return (piece) => {
    switch (piece.type) {
      case "part":
        if (++parts > maxParts) return tooManyParts
        bytesLeft = Result.getOrElse(Result.try(() => JsonSize.left(piece.part, bytesLeft)), () => bytesLeft)
        break
      case "finish":
        break
      default:
        // Whatever a client without types gives as a piece.
        deltaLeft -= typeof piece.delta === "string" ? piece.delta.length : 0
    }
    return bytesLeft < 0 || deltaLeft < 0 ? tooLarge : undefined
  }
}

const tooManyParts = `the response has more than ${maxParts} parts`
const tooLarge = `the response has more than ${maxBytes} bytes`
