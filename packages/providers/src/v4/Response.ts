/**
 * The result of a V4 call as a model response.
 *
 * @since 0.1.0
 */
import type { LanguageModelV4FinishReason, LanguageModelV4GenerateResult, SharedV4Warning } from "@ai-sdk/provider"
import type { Message } from "@mandate/core"
import { ModelResponse } from "@mandate/core"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Checked from "./Checked.ts"
import * as Content from "./Content.ts"
import * as Finish from "./Finish.ts"
import * as Metadata from "./Metadata.ts"
import type { Problem } from "./Problem.ts"

/**
 * Makes the response of a result.
 *
 * **Details**
 *
 * A result is what a client says it is: it is read as if it had its type, and
 * what comes out is made JSON and checked. One that is not a response fails as
 * `invalid-response`. Tool calls are taken as they are, whatever their
 * arguments and names: the loop answers them.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  result: LanguageModelV4GenerateResult
): Result.Result<ModelResponse.ModelResponse, Problem> =>
  Result.filterOrFail(
    check(() => read(result)),
    // Some clients read anything as a response with nothing in it, for which no provider gave a reason to end.
    ({ parts }) => parts.length > 0 || result.finishReason.unified !== "other" || result.finishReason.raw !== undefined,
    () => Checked.malformed
  )

/**
 * Logs what a client left out of a request, or sent otherwise, at level
 * `Debug`.
 *
 * **Details**
 *
 * Only the names of the features are logged. The client's own texts may quote
 * the request.
 *
 * @category running
 * @since 0.1.0
 */
export const logWarnings = (warnings: ReadonlyArray<SharedV4Warning> | undefined): Effect.Effect<void> =>
  Array.isArray(warnings) && warnings.length > 0
    ? Effect.logDebug("The model's client did not send the request as it is").pipe(
      Effect.annotateLogs({ warnings: warnings.map(warningName) })
    )
    : Effect.void

const check = Checked.make(ModelResponse.ModelResponse)

const read = (result: LanguageModelV4GenerateResult): Result.Result<ModelResponse.ModelResponse, Problem> =>
  Result.map(readParts(result.content), (parts) => ({
    parts,
    finishReason: reasonOf(result.finishReason, parts),
    usage: Finish.toUsage(result.usage),
    ...Metadata.toMetadata(result.providerMetadata)
  }))

// What came whole and names no reason to end has ended with what it holds.
const reasonOf = (
  reason: LanguageModelV4FinishReason,
  parts: ReadonlyArray<Message.AssistantPart>
): ModelResponse.FinishReason => {
  const isOpen = reason.raw === undefined && reason.unified === "other"
  if (!isOpen || parts.length === 0) return Finish.toReason(reason)
  return parts.some((part) => part.type === "tool-call" && part.providerExecuted !== true) ? "tool-calls" : "stop"
}

const readParts = (
  contents: LanguageModelV4GenerateResult["content"]
): Result.Result<ReadonlyArray<Message.AssistantPart>, Problem> =>
  Result.map(
    Result.all(contents.map(Content.toPart)),
    (parts) => parts.filter((part) => part !== undefined)
  )

const warningName = (warning: SharedV4Warning): string => {
  switch (warning.type) {
    case "unsupported":
    case "compatibility":
      return `${warning.type} ${warning.feature}`
    case "deprecated":
      return `${warning.type} ${warning.setting}`
    default:
      return warning.type
  }
}
