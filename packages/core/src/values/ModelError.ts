/**
 * Why a model call failed.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as ErrorClass from "./ErrorClass.ts"
import * as ModelFailureText from "./ModelFailureText.ts"
import { ModelUsage } from "./Usage.ts"

/**
 * Schema for the kinds of model failure.
 *
 * **Details**
 *
 * `rate-limited`, `overloaded`, `network` and `invalid-response` can pass by
 * themselves and are retried, unless the provider asks to wait longer than the
 * agent accepts (`withMaxRetryAfter`); the others are not.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ModelErrorReason = Schema.Literals([
  "rate-limited",
  "quota-exceeded",
  "overloaded",
  "network",
  "authentication",
  "content-filtered",
  "context-too-long",
  "invalid-request",
  "invalid-response",
  "unsupported",
  "unknown"
])

/**
 * A kind of model failure.
 *
 * @category models
 * @since 0.1.0
 */
export type ModelErrorReason = typeof ModelErrorReason.Type

/**
 * A model call failed.
 *
 * **Details**
 *
 * - `provider`, `modelId`: the model that failed, as its client names itself
 * - `detail`: what was wrong in words of our own. It never holds a provider's
 *   body, a URL, a header or a key
 * - `status`: the HTTP status, where there was one
 * - `code`, `type`: the provider's own code and type of the error, such as
 *   `insufficient_quota`. Only a short word of letters, digits, `_`, `.` and
 *   `-` is shown and stored; anything else is left out
 * - `parameter`: the parameter of the request that the provider names, such as
 *   `messages[2].content`; a short word in the same way
 * - `network`: what became of the connection, with the host and port it was
 *   made to, such as `ECONNREFUSED 127.0.0.1:8080`
 * - `retryAfter`: milliseconds the provider asks to wait, where it does
 * - `usage`: tokens the failed attempt used, where they are known
 *
 * @category errors
 * @since 0.1.0
 */
export class ModelError extends ErrorClass.TaggedError<ModelError>("~mandate/ModelError")("ModelError", {
  reason: ModelErrorReason,
  provider: Schema.String,
  modelId: Schema.String,
  detail: Schema.optionalKey(Schema.String),
  status: Schema.optionalKey(Schema.Int),
  code: Schema.optionalKey(Schema.String),
  type: Schema.optionalKey(Schema.String),
  parameter: Schema.optionalKey(Schema.String),
  network: Schema.optionalKey(Schema.String),
  retryAfter: Schema.optionalKey(Schema.Natural),
  usage: Schema.optionalKey(ModelUsage)
}) {
  override get message(): string {
    return ModelFailureText.describe(this)
  }

  /** Whether the same call may succeed when it is made again. */
  get isRetryable(): boolean {
    return retryable.has(this.reason)
  }
}

const retryable: ReadonlySet<ModelErrorReason> = new Set(["rate-limited", "overloaded", "network", "invalid-response"])
