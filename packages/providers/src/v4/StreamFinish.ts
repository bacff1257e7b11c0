/**
 * How a V4 stream finishes.
 *
 * @since 0.1.0
 */
import type { LanguageModelV4StreamPart } from "@ai-sdk/provider"
import { ModelResponse } from "@mandate/core"
import * as Result from "effect/Result"
import * as Checked from "./Checked.ts"
import * as Finish from "./Finish.ts"
import * as Metadata from "./Metadata.ts"
import type { Problem } from "./Problem.ts"
import * as StreamFailure from "./StreamFailure.ts"

/**
 * The part that finishes a stream.
 *
 * @category models
 * @since 0.1.0
 */
export type FinishPart = Extract<LanguageModelV4StreamPart, { readonly type: "finish" }>

/**
 * Converts the finish of a stream.
 *
 * **Details**
 *
 * Clients also finish a stream that broke off: as `interrupted`, as `error`,
 * or as `other` with no reason of the provider's. These are failures, with the
 * usage where it is known; but not where the stream was closed in order and its
 * calls are whole (`areCallsWhole`): then the reason is `tool-calls`.
 * `isWithoutReason`: the client says itself that there was no reason.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  part: FinishPart,
  seen: { readonly isWithoutReason: boolean; readonly areCallsWhole: () => boolean }
): Result.Result<Finished, Problem> =>
  Result.flatMap(
    check(() =>
      Result.succeed({
        parts: [],
        finishReason: Finish.toReason(part.finishReason),
        usage: Finish.toUsage(part.usage),
        ...Metadata.toMetadata(part.providerMetadata)
      })
    ),
    ({ parts: _, ...rest }): Result.Result<Finished, Problem> => {
      const { finishReason, usage } = rest
      const hasNoReason = part.finishReason.raw === undefined &&
        (seen.isWithoutReason || finishReason === "other" || finishReason === "interrupted")
      if (hasNoReason && seen.areCallsWhole()) {
        return Result.succeed({ type: "finish", ...rest, finishReason: "tool-calls" })
      }
      if (hasNoReason) return Result.fail({ ...StreamFailure.cut, usage })
      if (finishReason === "error") {
        return Result.fail({ reason: "overloaded", detail: "the provider gave the response up", usage })
      }
      return finishReason === "interrupted"
        ? Result.fail({ ...StreamFailure.cut, usage })
        : Result.succeed({ type: "finish", ...rest })
    }
  )

/**
 * The finish of a stream that has none.
 *
 * @category constants
 * @since 0.1.0
 */
export const none: FinishPart = {
  type: "finish",
  finishReason: { unified: "other", raw: undefined },
  usage: {
    inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: undefined, text: undefined, reasoning: undefined }
  }
}

type Finished = Extract<ModelResponse.ModelStreamPart, { readonly type: "finish" }>

const check = Checked.make(ModelResponse.ModelResponse)
