/**
 * What an error within a stream means.
 *
 * **Details**
 *
 * The response began well, so there is no status to go by. Clients pass on
 * errors of their own, what the provider sent as plain objects, or texts.
 *
 * @since 0.1.0
 */
import { InvalidResponseDataError } from "@ai-sdk/provider"
import type { ModelError } from "@mandate/core"
import * as Result from "effect/Result"
import * as ErrorBody from "./ErrorBody.ts"
import * as Failure from "./Failure.ts"
import * as HttpFailure from "./HttpFailure.ts"
import type { Problem } from "./Problem.ts"
import * as RetryAfter from "./RetryAfter.ts"

/**
 * The problem of a stream that stopped before the response was whole.
 *
 * @category errors
 * @since 0.1.0
 */
export const cut: Problem = { reason: "network", detail: "the stream ended before the response was whole" }

/**
 * Whether an error within a stream says that it was closed in order, and that
 * the provider gave no reason to finish. Clients of OpenAI's likes then finish
 * the stream as failed.
 *
 * @category getters
 * @since 0.1.0
 */
export const isWithoutReason = (error: unknown): boolean =>
  InvalidResponseDataError.isInstance(error) && error.data === undefined

/**
 * Says what an error within a stream means.
 *
 * **Details**
 *
 * A status that the provider puts into the error counts as one. Otherwise its
 * codes tell what another try cannot mend; anything else is `overloaded`. The
 * error has no `status`: the response had one of success. `now` is the time in
 * milliseconds since 1970.
 *
 * @category errors
 * @since 0.1.0
 */
export const classify = (error: unknown, now: number): Problem => {
  if (isWithoutReason(error)) return cut
  if (error instanceof Error) return Failure.classify(error, now)
  const responseBody = asText(error)
  const statusCode = statusOf(error)
  if (statusCode !== undefined) {
    const { status: _, ...problem } = HttpFailure.classify({ statusCode, responseBody }, now)
    return { detail, ...problem }
  }
  const body = ErrorBody.read(responseBody)
  const retryAfter = RetryAfter.fromBody(body.delay)
  return {
    reason: HttpFailure.refusalOf(body) ?? reasonOf(body.codes),
    detail,
    ...body.facts,
    ...(retryAfter === undefined ? {} : { retryAfter })
  }
}

const detail = "the provider reported an error within the stream"

const statusOf = (error: unknown): number | undefined => {
  if (typeof error !== "object" || error === null) return undefined
  const { code, status, statusCode } = error as { readonly [key: string]: unknown }
  return [statusCode, status, code].find((value): value is number =>
    typeof value === "number" && Number.isInteger(value) && value >= 400 && value < 600
  )
}

// An object that cannot be written as JSON says nothing that could be read.
const asText = (error: unknown): string =>
  typeof error === "string"
    ? error
    : Result.getOrElse(Result.try(() => JSON.stringify(error) ?? ""), () => "")

const reasonOf = (codes: ReadonlySet<string>): ModelError.ModelErrorReason => {
  for (const [reason, known] of kinds) {
    if (known.some((code) => codes.has(code))) return reason
  }
  return "overloaded"
}

const kinds: ReadonlyArray<readonly [reason: ModelError.ModelErrorReason, codes: ReadonlyArray<string>]> = [
  [
    "rate-limited",
    ["rate_limit_error", "rate_limit_exceeded", "rate_limited", "too_many_requests", "resource_exhausted"]
  ],
  [
    "authentication",
    ["authentication_error", "invalid_api_key", "permission_error", "permission_denied", "unauthenticated"]
  ],
  ["invalid-request", ["invalid_request_error", "invalid_argument", "invalid_prompt", "not_found_error"]]
]
