/**
 * What a run may start with: the input as JSON, and the message made of it.
 *
 * @since 0.1.0
 */
import type { FilePart } from "./ContentPart.ts"
import * as Text from "./Text.ts"
import * as Utf8 from "./Utf8.ts"

/**
 * The input of a run: the canonical JSON of the encoded input, and the text and
 * the files of the run's first message. The JSON has no files.
 *
 * @category models
 * @since 0.1.0
 */
export interface RunInput {
  readonly json: string
  readonly prompt: string
  readonly files?: ReadonlyArray<FilePart>
}

/**
 * The most bytes of UTF-8 that the JSON of an input, and the message made of
 * it, may have each: 8 MiB.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxBytes = 8 * 1024 * 1024

/**
 * What is wrong with an input: its message shows nothing, neither text nor
 * files, or its JSON or its text is too large. Providers refuse a blank
 * message, and with it every later request of its thread.
 *
 * @category getters
 * @since 0.1.0
 */
export const problems = ({ files = [], json, prompt }: RunInput): ReadonlyArray<string> => {
  if (files.length === 0 && Text.isBlank(prompt)) return ["Expected text that is not blank"]
  const bytes = Math.max(sizeOf(json), sizeOf(prompt))
  return bytes > maxBytes ? [`it has ${bytes} bytes; at most ${maxBytes} are allowed`] : []
}

// A UTF-16 code unit has at most three bytes, so most texts need not be counted.
const sizeOf = (text: string): number => text.length * 3 <= maxBytes ? 0 : Utf8.byteLength(text)
