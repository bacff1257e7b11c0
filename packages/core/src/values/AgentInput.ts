/**
 * What applications give an agent: a text, and files with it.
 *
 * @since 0.1.0
 */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type { FilePart } from "./ContentPart.ts"
import type { FileLimits } from "./FileLimits.ts"
import * as InputFile from "./InputFile.ts"
import * as Options from "./Options.ts"
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
  if (!hasFiles(input)) return Result.fail({ field: "input", issues: ["it is not a text"] })
  const fields = decodeFields(input)
  if (Result.isFailure(fields)) return Result.fail({ field: "input", issues: fields.failure })
  const { files, text } = fields.success
  return Result.mapBoth(InputFile.decodeAll(files, limits), {
    onSuccess: (files) => ({ text: files.length > 0 && Text.isBlank(text) ? "" : text, files }),
    onFailure: (issues) => ({ field: "files", issues })
  })
}

const hasFiles = (input: unknown): boolean =>
  Result.getOrElse(Result.try(() => Predicate.hasProperty(input, "files")), () => true)

const decodeFields = Options.make<{ readonly text: string; readonly files?: unknown }>(
  "field",
  { text: Options.text, files: Options.any },
  ["text"]
)
