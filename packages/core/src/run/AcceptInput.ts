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
import type { RunError } from "../values/RunError.ts"
import * as RunFailure from "./RunFailure.ts"

/**
 * Decodes an input and asks the model's client whether it takes the files.
 * Fails with `InvalidInput`.
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
  const { files } = decoded.success
  if (files.length > 0 && client.refusesFile !== undefined) yield* checkFiles(client, client.refusesFile, files)
  return decoded.success
})

const checkFiles = Effect.fnUntraced(function*(
  { modelId, provider }: ModelClient,
  refuses: NonNullable<ModelClient["refusesFile"]>,
  files: ReadonlyArray<FilePart>
): Effect.fn.Return<void, RunError> {
  const reasons = yield* Effect.forEach(files, refuses)
  const issues = reasons.flatMap((reason, index) =>
    reason === undefined ? [] : [
      `file ${index + 1} (${files[index]?.mediaType}): the model ${provider}/${modelId} ${reason}`
    ]
  )
  if (issues.length > 0) return yield* RunFailure.fail({ _tag: "InvalidInput", field: "files", issues })
})
