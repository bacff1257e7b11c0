/**
 * Connections that fail or break off.
 *
 * @since 0.1.0
 */
import type { Problem } from "./Problem.ts"

/**
 * The problem of a connection that failed or broke off.
 *
 * @category errors
 * @since 0.1.0
 */
export const problem: Problem = { reason: "network", detail: "the connection failed or broke off" }

/**
 * The problem of a request that its client gave up.
 *
 * @category errors
 * @since 0.1.0
 */
export const aborted: Problem = { reason: "network", detail: "the client gave the request up" }

/**
 * Whether an error, or one that caused it, says that a connection failed.
 *
 * @category getters
 * @since 0.1.0
 */
export const isTransport = (error: unknown): boolean => causes(error).some(isTransportError)

/**
 * Whether an error says that its client gave the request up, by a timeout of
 * its own or otherwise.
 *
 * @category getters
 * @since 0.1.0
 */
export const isAborted = (error: unknown): boolean =>
  error instanceof Error && (error.name === "AbortError" || error.name === "TimeoutError")

const maxCauses = 5

const causes = (error: unknown): ReadonlyArray<Error> => {
  const found: Array<Error> = []
  let current = error
  while (current instanceof Error && found.length < maxCauses) {
    found.push(current)
    current = current.cause
  }
  return found
}

// The codes of Node and undici, the names of Bun, and the messages of fetch in Node and browsers.
const codes = /^(ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_|UND_ERR_|Connection|FailedToOpenSocket)/
const messages = /^(terminated$|fetch failed|failed to fetch|network ?error)/i

const isTransportError = (error: Error): boolean =>
  ("code" in error && typeof error.code === "string" && codes.test(error.code)) ||
  (error instanceof TypeError && messages.test(error.message))
