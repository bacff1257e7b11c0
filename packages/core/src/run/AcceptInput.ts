/**
 * Takes what an application gives an agent, before anything is written.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { ModelClient } from "../service/ModelClient.ts"
import * as AgentInput from "../values/AgentInput.ts"
import type { FilePart } from "../values/ContentPart.ts"
import type { FileLimits } from "../values/FileLimits.ts"
import * as InputFile from "../values/InputFile.ts"
import type { RunError } from "../values/RunError.ts"
import * as RunFailure from "./RunFailure.ts"

/**
 * Decodes the input of an agent and asks the model's client whether it takes
 * the files. Fails with `InvalidInput`.
 *
 * @category running
 * @since 0.1.0
 */
export const accept = Effect.fnUntraced(function*(
  client: ModelClient,
  limits: Required<FileLimits>,
  input: unknown
): Effect.fn.Return<{ readonly text: string; readonly files: ReadonlyArray<FilePart> }, RunError> {
  const decoded = AgentInput.decode(input, limits)
  if (Result.isFailure(decoded)) return yield* RunFailure.fail({ _tag: "InvalidInput", ...decoded.failure })
  yield* checkFiles(client, decoded.success.files)
  return decoded.success
})

/**
 * Takes the files of a text subagent's input out of it, in the same way.
 *
 * @category running
 * @since 0.1.0
 */
export const takeFiles = Effect.fnUntraced(function*(
  client: ModelClient,
  limits: Required<FileLimits>,
  input: object
): Effect.fn.Return<{ readonly input: object; readonly files: ReadonlyArray<FilePart> }, RunError> {
  const read = Result.try(() => {
    const { files, ...rest } = input as { readonly files?: unknown }
    return { files, rest }
  })
  if (Result.isFailure(read)) {
    return yield* RunFailure.fail({ _tag: "InvalidInput", field: "input", issues: ["it cannot be read"] })
  }
  const { files: given = [], rest } = read.success
  const decoded = InputFile.decodeAll(given, limits)
  if (Result.isFailure(decoded)) {
    return yield* RunFailure.fail({ _tag: "InvalidInput", field: "files", issues: decoded.failure })
  }
  yield* checkFiles(client, decoded.success)
  return { input: rest, files: decoded.success }
})

const checkFiles = Effect.fnUntraced(function*(
  { modelId, provider, refusesFile }: ModelClient,
  files: ReadonlyArray<FilePart>
): Effect.fn.Return<void, RunError> {
  if (refusesFile === undefined || files.length === 0) return
  const reasons = yield* Effect.forEach(files, refusesFile)
  const issues = reasons.flatMap((reason, index) =>
    reason === undefined ? [] : [
      `file ${index + 1} (${files[index]?.mediaType}): the model ${provider}/${modelId} ${reason}`
    ]
  )
  if (issues.length > 0) return yield* RunFailure.fail({ _tag: "InvalidInput", field: "files", issues })
})
