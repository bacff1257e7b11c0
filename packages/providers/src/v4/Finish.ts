/**
 * Why a V4 model stopped, and what it used.
 *
 * @since 0.1.0
 */
import type { LanguageModelV4FinishReason, LanguageModelV4Usage } from "@ai-sdk/provider"
import { type ModelResponse, Usage } from "@mandate/core"

/**
 * Converts a finish reason.
 *
 * **Details**
 *
 * V4 has no reason for a provider that asks for the same conversation again;
 * Anthropic's own `pause_turn` becomes `pause`. A reason that V4 does not have
 * is `other`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const toReason = ({ raw, unified }: LanguageModelV4FinishReason): ModelResponse.FinishReason => {
  if (raw === "pause_turn") return "pause"
  switch (unified) {
    case "stop":
    case "tool-calls":
    case "length":
    case "content-filter":
    case "error":
    case "interrupted":
    case "other":
      return unified
    default:
      unified satisfies never
      return "other"
  }
}

/**
 * Converts the tokens of a response. A count that is missing or is not a
 * finite number from 0 up is absent; a fraction is rounded.
 *
 * @category constructors
 * @since 0.1.0
 */
export const toUsage = (usage: LanguageModelV4Usage | undefined): Usage.ModelUsage => ({
  inputTokens: {
    ...count("total", usage?.inputTokens?.total),
    ...count("cacheRead", usage?.inputTokens?.cacheRead),
    ...count("cacheWrite", usage?.inputTokens?.cacheWrite)
  },
  outputTokens: {
    ...count("total", usage?.outputTokens?.total),
    ...count("reasoning", usage?.outputTokens?.reasoning)
  }
})

const count = <K extends string>(name: K, value: unknown): { readonly [_ in K]?: number } => {
  const tokens = Usage.count(value)
  return tokens === undefined ? {} : { [name]: tokens } as { readonly [_ in K]?: number }
}
