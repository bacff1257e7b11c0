/**
 * What a tool of the AI SDK shows a model in place of its result.
 *
 * @since 0.1.0
 */
import type * as Prompt from "effect/ai/Prompt"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as ToolOutcome from "./ToolOutcome.ts"

/**
 * Asks a tool's `toModelOutput` what a model is shown of a result.
 *
 * **Details**
 *
 * It gives a value or a promise of one. Texts and JSON take the place of the
 * result; content is shown as texts and files. The tool has run by then, so
 * nothing that is wrong here makes an error of it: where `toModelOutput` throws
 * or gives what it should not, the result is shown as it is, and the cause is
 * logged.
 *
 * @category running
 * @since 0.1.0
 */
export const make = (
  tool: string,
  toModelOutput: unknown,
  call: { readonly toolCallId: string; readonly input: unknown; readonly output: unknown }
): Effect.Effect<ToolOutcome.ToolOutcome<unknown>> => {
  const plain = new ToolOutcome.ToolOutcome(call.output)
  if (typeof toModelOutput !== "function") return Effect.succeed(plain)
  return Effect.tryPromise({
    try: async () => outcome(await (toModelOutput as (call: object) => unknown)(call), plain),
    catch: (thrown) => thrown
  }).pipe(
    Effect.catch((thrown) =>
      Effect.as(
        Effect.logWarning(`toModelOutput of the tool "${tool}" failed; its result is shown as it is`, thrown),
        plain
      )
    )
  )
}

const outcome = (given: unknown, plain: ToolOutcome.ToolOutcome<unknown>): ToolOutcome.ToolOutcome<unknown> => {
  if (!Predicate.isObject(given)) return plain
  const { reason, type, value } = given as { readonly [key: string]: unknown }
  switch (type) {
    case "text":
    case "error-text":
    case "json":
    case "error-json":
      return value === undefined ? plain : new ToolOutcome.ToolOutcome(value)
    case "execution-denied":
      return new ToolOutcome.ToolOutcome(typeof reason === "string" ? reason : "The tool did not run.")
    case "content": {
      if (!Array.isArray(value)) return plain
      const parts = value.flatMap(partOf)
      return parts.length === 0 ? plain : new ToolOutcome.ToolOutcome(plain.value, parts)
    }
    default:
      return plain
  }
}

const partOf = (part: unknown): ReadonlyArray<Prompt.ToolModelOutputPart> => {
  if (!Predicate.isObject(part)) return []
  const { data, fileData, filename, mediaType, text, type, url } = part as { readonly [key: string]: unknown }
  const name = typeof filename === "string" ? filename : undefined
  switch (type) {
    case "text":
      return typeof text === "string" ? ToolOutcome.text(text) : []
    case "file":
      return [fromFile(mediaType, data, name)]
    case "image-data":
    case "file-data":
    case "media":
      return [fromData(mediaType, data ?? fileData, name)]
    case "image-url":
      return [fromUrl(mediaType ?? "image/*", url, name)]
    case "file-url":
      return [fromUrl(mediaType ?? "application/octet-stream", url, name)]
    default:
      return [ToolOutcome.leftOut("content of another type")]
  }
}

const fromFile = (mediaType: unknown, data: unknown, name: string | undefined): Prompt.ToolModelOutputPart => {
  if (!Predicate.isObject(data) || data instanceof Uint8Array || data instanceof URL) {
    return fromData(mediaType, data, name)
  }
  const { data: bytes, text, type, url } = data as { readonly [key: string]: unknown }
  switch (type) {
    case "url":
      return fromUrl(mediaType, url, name)
    case "text":
      return ToolOutcome.text(String(text))[0] ?? ToolOutcome.leftOut("an empty text")
    case "data":
      return fromData(mediaType, bytes, name)
    default:
      return ToolOutcome.leftOut("a file that a provider keeps")
  }
}

const fromData = (mediaType: unknown, data: unknown, name: string | undefined): Prompt.ToolModelOutputPart =>
  typeof data === "string" || data instanceof Uint8Array || data instanceof URL
    ? ToolOutcome.file(mediaType, data, name)
    : ToolOutcome.leftOut("a file without content")

const fromUrl = (mediaType: unknown, url: unknown, name: string | undefined): Prompt.ToolModelOutputPart => {
  const parsed = typeof url === "string" || url instanceof URL ? URL.parse(String(url)) : null
  return parsed === null ? ToolOutcome.leftOut("a file without a URL") : ToolOutcome.file(mediaType, parsed, name)
}
