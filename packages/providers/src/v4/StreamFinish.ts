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
 * usage where it is known.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (part: FinishPart): Result.Result<Finished, Problem> =>
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
      if (finishReason === "error") {
        return Result.fail({ reason: "overloaded", detail: "the provider gave the response up", usage })
      }
      return finishReason === "interrupted" || (finishReason === "other" && part.finishReason.raw === undefined)
        ? Result.fail({ ...StreamFailure.cut, usage })
        : Result.succeed({ type: "finish", ...rest })
    }
  )

type Finished = Extract<ModelResponse.ModelStreamPart, { readonly type: "finish" }>

const check = Checked.make(ModelResponse.ModelResponse)
