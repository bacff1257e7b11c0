/**
 * What a response with an HTTP status means, when the call failed.
 *
 * @since 0.1.0
 */
import type { ModelError } from "@mandate/core"
import { tooLarge } from "./BoundedFetch.ts"
import * as ErrorBody from "./ErrorBody.ts"
import type { Problem } from "./Problem.ts"
import * as RetryAfter from "./RetryAfter.ts"
import * as Transport from "./Transport.ts"

/**
 * An error with an HTTP status: the AI SDK's `APICallError`, and what other
 * clients throw in its likeness.
 *
 * @category models
 * @since 0.1.0
 */
export interface HttpFailure {
  readonly statusCode: number
  readonly responseHeaders?: unknown
  readonly responseBody?: unknown
  readonly cause?: unknown
  readonly message?: unknown
}

/**
 * Whether an error carries an HTTP status.
 *
 * @category getters
 * @since 0.1.0
 */
export const isHttpFailure = (error: unknown): error is Error & HttpFailure =>
  error instanceof Error && "statusCode" in error && Number.isSafeInteger(error.statusCode)

/**
 * The problem of an answer that cannot be read.
 *
 * @category errors
 * @since 0.1.0
 */
export const unreadable: Problem = { reason: "invalid-response", detail: "the provider's response cannot be read" }

/**
 * Whether an error says that its client could not read an answer. Anthropic's
 * has no kind of its own for a stream whose first event cannot be read, and
 * none has one for a response over a bound.
 *
 * @category getters
 * @since 0.1.0
 */
export const isUnreadable = (error: unknown): boolean =>
  error instanceof Error &&
  (error.message === "Expected a normalized Anthropic stream error" || error.message.startsWith(tooLarge))

/**
 * Says what a failed response means.
 *
 * **Details**
 *
 * The status decides. The body gives the provider's code and type, and decides only where one status stands for
 * several reasons: 429 (rate or quota) and the statuses of a refused request.
 * A status of success on a failed call is a connection that broke off while
 * the body was read, or a body that cannot be read. `now` is the time in
 * milliseconds since 1970.
 *
 * @category errors
 * @since 0.1.0
 */
export const classify = (failure: HttpFailure, now: number): Problem => {
  const { statusCode } = failure
  if (isNoOutput(failure)) return unreadable
  const body = ErrorBody.read(statusCode >= 400 ? failure.responseBody : undefined)
  const retryAfter = RetryAfter.fromHeaders(failure.responseHeaders, now, statusCode === 429) ??
    RetryAfter.fromBody(body.delay)
  return {
    ...problemOf(failure, body),
    ...body.facts,
    status: failure.statusCode,
    ...(retryAfter === undefined ? {} : { retryAfter })
  }
}

/**
 * Why a request was refused, where a body says one of the known reasons: the
 * quota, the length of the conversation, or its content.
 *
 * @category getters
 * @since 0.1.0
 */
export const refusalOf = (body: ErrorBody.ErrorBody): ModelError.ModelErrorReason | undefined => {
  if (says(body, quota)) return "quota-exceeded"
  if (says(body, context)) return "context-too-long"
  return says(body, filter) ? "content-filtered" : undefined
}

// OpenAI's client makes a status 500 of its own for a response of success without output.
const isNoOutput = ({ message }: HttpFailure): boolean =>
  typeof message === "string" && message.startsWith("Responses API returned no output")

const problemOf = (failure: HttpFailure, body: ErrorBody.ErrorBody): Problem => {
  const { statusCode: status } = failure
  if (status >= 200 && status < 300) {
    return Transport.isTransport(failure.cause)
      ? Transport.problemOf(failure.cause)
      : unreadable
  }
  if (status === 401 || status === 403) return { reason: "authentication" }
  if (status === 402) return { reason: "quota-exceeded" }
  if (status === 408 || status === 409 || status >= 500) return { reason: "overloaded" }
  if (status >= 400) return { reason: refusal(status, body) }
  return { reason: "unknown", detail: "the provider answered with a status that is no answer" }
}

const refusal = (status: number, body: ErrorBody.ErrorBody): ModelError.ModelErrorReason => {
  const said = refusalOf(body)
  if (status === 429) return said === "quota-exceeded" ? said : "rate-limited"
  return said ?? "invalid-request"
}

interface Sign {
  readonly codes: ReadonlyArray<string>
  readonly text: RegExp
}

const says = (body: ErrorBody.ErrorBody, sign: Sign): boolean =>
  sign.codes.some((code) => body.codes.has(code)) || sign.text.test(body.text)

// "You exceeded your current quota" is no sign: Google also says it of a limit per minute.
const quota: Sign = {
  codes: ["insufficient_quota", "insufficient_balance", "billing_error", "billing_hard_limit_reached"],
  text: /credit balance is too low/i
}

// Not every provider has a code for this, so messages of OpenAI and its likes, Anthropic, Google and Bedrock are known.
const context: Sign = {
  codes: ["context_length_exceeded", "exceed_context_size_error", "model_max_prompt_tokens_exceeded"],
  text: new RegExp(
    [
      "maximum (context|prompt) length",
      "exceeds? (the )?(available )?context",
      "(prompt|input) is too long",
      "input token count .{0,40}exceeds",
      "too many (input|prompt) tokens"
    ].join("|"),
    "i"
  )
}

const filter: Sign = {
  codes: [
    "content_filter",
    "content_policy_violation",
    "responsibleaipolicyviolation",
    "moderation_blocked",
    "data_inspection_failed"
  ],
  text: /content (filtering|management) policy/i
}
