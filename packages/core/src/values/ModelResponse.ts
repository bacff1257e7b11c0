/**
 * What a model answers.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { AssistantPart, ProviderMetadata } from "./Message.ts"
import { ModelUsage } from "./Usage.ts"

/**
 * The most parts that a response may have: 65 536.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxParts = 65_536

/**
 * The most bytes that a response may have as JSON, files in base64 included,
 * and the most that its deltas may have where it is streamed: 32 MiB. Each
 * UTF-16 code unit of a text counts as one byte.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxBytes = 32 * 1024 * 1024

/**
 * Schema for why a model stopped.
 *
 * **Details**
 *
 * - `stop`: it was done
 * - `tool-calls`: it waits for the results of its calls
 * - `length`: it was cut at a token limit
 * - `content-filter`: the provider refused
 * - `pause`: the provider asks for the same conversation again
 * - `error`, `interrupted`: the response is not whole; a model failure
 * - `other`: anything else
 *
 * @category schemas
 * @since 0.1.0
 */
export const FinishReason = Schema.Literals([
  "stop",
  "tool-calls",
  "length",
  "content-filter",
  "pause",
  "error",
  "interrupted",
  "other"
])

/**
 * Why a model stopped.
 *
 * @category models
 * @since 0.1.0
 */
export type FinishReason = typeof FinishReason.Type

/**
 * Schema for a whole model response: its parts in order, why it stopped, and
 * its usage. One with more than {@link maxParts} or {@link maxBytes} is the
 * failure `invalid-response`.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ModelResponse = Schema.Struct({
  parts: Schema.Array(AssistantPart),
  finishReason: FinishReason,
  usage: ModelUsage,
  providerMetadata: Schema.optionalKey(ProviderMetadata)
})

/**
 * A whole model response.
 *
 * @category models
 * @since 0.1.0
 */
export type ModelResponse = typeof ModelResponse.Type

/**
 * One element of a streamed response.
 *
 * **Details**
 *
 * Deltas are for watching only: each text and reasoning is given whole as a
 * `part` in its place, and so is everything else that makes up the response.
 * `tool-input-delta` is a piece of a call's argument text. The stream must end
 * with exactly one `finish`; a stream that ends without one,
 * or has a second one, is a failure.
 *
 * @category models
 * @since 0.1.0
 */
export type ModelStreamPart =
  | { readonly type: "text-delta"; readonly delta: string }
  | { readonly type: "reasoning-delta"; readonly delta: string }
  | { readonly type: "tool-input-delta"; readonly id: string; readonly name: string; readonly delta: string }
  | { readonly type: "part"; readonly part: AssistantPart }
  | {
    readonly type: "finish"
    readonly finishReason: FinishReason
    readonly usage: ModelUsage
    readonly providerMetadata?: ProviderMetadata
  }
