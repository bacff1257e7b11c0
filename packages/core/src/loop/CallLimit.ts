/**
 * The bound on the tool calls of one response.
 *
 * **Details**
 *
 * A response over it is refused as a whole: none of its calls runs, each is
 * answered that it did not, and the model is asked again. The calls above the
 * bound are not kept: their answers alone would fill the next request, and
 * providers refuse a message with more calls than they make.
 *
 * @since 0.1.0
 */
import { type AssistantPart, toolCalls } from "../values/Message.ts"
import type { Verdict } from "../values/RunRecord.ts"

/**
 * Parts without the calls above the bound, and what is made of the response
 * then; no verdict where it is within the bound.
 *
 * @category getters
 * @since 0.1.0
 */
export const hold = (
  parts: ReadonlyArray<AssistantPart>,
  maxCalls: number | undefined
): { readonly parts: ReadonlyArray<AssistantPart>; readonly verdict: Verdict | undefined } => {
  if (maxCalls === undefined || parts.length <= maxCalls) return { parts, verdict: undefined }
  const calls = toolCalls(parts).length
  if (calls <= maxCalls) return { parts, verdict: undefined }
  let index = 0
  return {
    parts: parts.filter((part) => toolCalls([part]).length === 0 || index++ < maxCalls),
    verdict: { _tag: "TooManyCalls", calls, maxCalls }
  }
}

/**
 * What is wrong with a response that is refused for its calls.
 *
 * @category formatting
 * @since 0.1.0
 */
export const problem = ({ calls, maxCalls }: Extract<Verdict, { readonly _tag: "TooManyCalls" }>): string =>
  `the response made ${calls} tool calls; at most ${maxCalls} are allowed`
