/**
 * What applications give an agent: a text, and files with it.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import type { FilePart } from "./ContentPart.ts"
import type { FileLimits } from "./FileLimits.ts"
import * as InputFile from "./InputFile.ts"
import * as Text from "./Text.ts"

/**
 * A text, or a text with files. Together they are one user message: the text
 * first, then the files in their order. Where there are files, the text may be
 * blank; it is then left out.
 *
 * @category models
 * @since 0.1.0
 */
export type AgentInput = string | {
  readonly text: string
  readonly files: ReadonlyArray<InputFile.InputFile>
}

/**
 * What of an input is not valid, in the words of `InvalidInput`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Problem {
  readonly field: "input" | "files"
  readonly issues: ReadonlyArray<string>
}

/**
 * Decodes an input, which may be anything.
 *
 * @category constructors
 * @since 0.1.0
 */
export const decode = (
  input: unknown,
  limits: Required<FileLimits>
): Result.Result<{ readonly text: string; readonly files: ReadonlyArray<FilePart> }, Problem> => {
  if (typeof input === "string") return Result.succeed({ text: input, files: [] })
  const fields = Result.getOrElse(Result.try(() => fieldsOf(input)), () => "it cannot be read")
  if (typeof fields === "string") return Result.fail({ field: "input", issues: [fields] })
  const { files, text } = fields
  if (typeof text !== "string") return Result.fail({ field: "input", issues: [notText] })
  return Result.mapBoth(InputFile.decodeAll(files, limits), {
    onSuccess: (files) => ({ text: files.length > 0 && Text.isBlank(text) ? "" : text, files }),
    onFailure: (issues) => ({ field: "files", issues })
  })
}

const fieldsOf = (input: unknown): string | { readonly [key: string]: unknown } => {
  if (typeof input !== "object" || input === null || !("files" in input)) return notText
  const unknownKey = Object.keys(input).find((key) => !keys.includes(key))
  if (unknownKey !== undefined) {
    return `it has no field ${JSON.stringify(unknownKey)}; the fields are ${keys.join(", ")}`
  }
  const { files, text } = input as { readonly [key: string]: unknown }
  return { files, text }
}

const keys: ReadonlyArray<string> = ["text", "files"]
const notText = "it is not a text"
