/**
 * What an error of `effect/ai` means, in words of our own.
 *
 * **Details**
 *
 * The reasons hold URLs, headers, bodies, and texts of the provider. They end
 * here: they are looked at, and nothing of them but a status, a wait and
 * counts of tokens goes on.
 *
 * @since 0.1.0
 */
import { type ModelError, Usage } from "@mandate/core"
import * as AiError from "effect/ai/AiError"
import * as Duration from "effect/Duration"
import * as ErrorBody from "../v4/ErrorBody.ts"
import * as HttpFailure from "../v4/HttpFailure.ts"
import type { Problem } from "../v4/Problem.ts"
import * as RetryAfter from "../v4/RetryAfter.ts"
import * as StreamFailure from "../v4/StreamFailure.ts"
import * as Transport from "../v4/Transport.ts"

/**
 * Says what an error means. `now` is the time in milliseconds since 1970.
 *
 * @category errors
 * @since 0.1.0
 */
export const classify = ({ reason }: AiError.AiError, now: number): Problem => ofReason(reason, now)

/**
 * Says what an error within a stream means. `now` is the time in milliseconds
 * since 1970.
 *
 * @category errors
 * @since 0.1.0
 */
export const classifyInStream = (error: unknown, now: number): Problem => {
  if (AiError.isAiError(error)) return ofReason(error.reason, now)
  return AiError.isAiErrorReason(error) ? ofReason(error, now) : StreamFailure.classify(error, now)
}

const ofReason = (reason: AiError.AiErrorReason, now: number): Problem => ({
  ...problemOf(reason),
  ...factsOf(reason),
  ...wait(reason, now),
  ...("http" in reason && reason.http?.response !== undefined ? { status: reason.http.response.status } : {}),
  ...("usage" in reason && reason.usage !== undefined ? { usage: toUsage(reason.usage) } : {})
})

const problemOf = (reason: AiError.AiErrorReason): Problem => {
  switch (reason._tag) {
    case "RateLimitError":
      return { reason: "rate-limited" }
    case "QuotaExhaustedError":
      return { reason: "quota-exceeded" }
    case "AuthenticationError":
      return { reason: "authentication" }
    case "ContentPolicyError":
      return { reason: "content-filtered" }
    case "InvalidRequestError":
      return { reason: refusal(reason) }
    case "InternalProviderError":
      return { reason: "overloaded" }
    case "NetworkError":
      return reason.reason === "TransportError"
        ? Transport.problemOf(reason.cause, reason.url)
        : { reason: "invalid-request", detail: "the client could not make the request" }
    case "InvalidResponseError":
    case "InvalidOutputError":
    case "StructuredOutputError":
      return { reason: "invalid-response", detail: "the provider's response cannot be read" }
    case "ToolNotFoundError":
    case "ToolParameterValidationError":
      return { reason: "invalid-response", detail: "the client refused a tool call of the model" }
    case "UnsupportedSchemaError":
      return { reason: "unsupported", detail: "the client cannot send a schema of this request" }
    case "InvalidUserInputError":
      return { reason: "unsupported", detail: "the client cannot send a part of this request" }
    case "ToolConfigurationError":
    case "ToolkitRequiredError":
    case "InvalidToolResultError":
    case "ToolResultEncodingError":
      return { reason: "invalid-request", detail: "the client refused the request before sending it" }
    case "UnknownError":
      return { reason: "unknown" }
    default:
      reason satisfies never
      return { reason: "unknown" }
  }
}

// `effect/ai` has one reason for all that a provider refuses; the body tells a conversation that is too long.
const refusal = ({ description, http }: AiError.InvalidRequestError): ModelError.ModelErrorReason =>
  HttpFailure.refusalOf(ErrorBody.read(http?.body ?? description)) ?? "invalid-request"

const factsOf = (reason: AiError.AiErrorReason): ErrorBody.Facts =>
  "http" in reason ? ErrorBody.read(reason.http?.body).facts : {}

// A client that does not read how long to wait may still pass on the headers that say so.
const wait = (reason: AiError.AiErrorReason, now: number): { readonly retryAfter?: number } => {
  const asked = "retryAfter" in reason ? reason.retryAfter : undefined
  const millis = asked === undefined ? undefined : Duration.toMillis(asked)
  const response = "http" in reason ? reason.http?.response : undefined
  const retryAfter = millis !== undefined && millis >= 0
    ? RetryAfter.whole(millis)
    : RetryAfter.fromHeaders(response?.headers, now, response?.status === 429)
  return retryAfter === undefined ? {} : { retryAfter }
}

const toUsage = (usage: typeof AiError.UsageInfo.Type): Usage.ModelUsage => ({
  inputTokens: count(usage.promptTokens),
  outputTokens: count(usage.completionTokens)
})

const count = (tokens: number | undefined): { readonly total?: number } => {
  const total = Usage.count(tokens)
  return total === undefined ? {} : { total }
}
