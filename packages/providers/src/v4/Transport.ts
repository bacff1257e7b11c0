/**
 * Connections that fail or break off.
 *
 * @since 0.1.0
 */
import { ErrorToken } from "@mandate/core"
import type { Problem } from "./Problem.ts"

/**
 * The problem of a connection that failed or broke off.
 *
 * @category errors
 * @since 0.1.0
 */
export const problem: Problem = { reason: "network", detail: "the connection failed or broke off" }

/**
 * The problem of a connection that failed or broke off, with the code of the
 * network or of TLS and the host it was made to, as far as the error or what
 * caused it says them. Of `url` only host and port are used.
 *
 * @category errors
 * @since 0.1.0
 */
export const problemOf = (error: unknown, url?: unknown): Problem => {
  const coded = causes(error).find((cause) => "code" in cause && ErrorToken.code(cause.code) !== undefined)
  if (coded === undefined) return problem
  const { address, code, hostname, port } = coded as Error & { readonly [name: string]: unknown }
  const host = hostOf(address, port) ?? (typeof hostname === "string" ? hostname : undefined) ?? hostOfUrl(url)
  const network = ErrorToken.network(host === undefined ? code : `${String(code)} ${host}`) ?? ErrorToken.network(code)
  return network === undefined ? problem : { ...problem, network }
}

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
    // Several addresses of one host were tried: each has an error of its own.
    current = current instanceof AggregateError && current.cause === undefined ? current.errors[0] : current.cause
  }
  return found
}

const hostOf = (address: unknown, port: unknown): string | undefined => {
  if (typeof address !== "string") return undefined
  const host = address.includes(":") ? `[${address}]` : address
  return typeof port === "number" ? `${host}:${port}` : host
}

const hostOfUrl = (url: unknown): string | undefined => {
  const host = typeof url === "string" ? URL.parse(url)?.host : undefined
  return host === "" ? undefined : host
}

// The codes of Node and undici, the names of Bun, and the messages of fetch in Node and browsers.
const codes =
  /^(ECONN|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENOTFOUND|EAI_|UND_ERR_|Connection|FailedToOpenSocket|EPROTO|CERT_|ERR_TLS_|ERR_SSL_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)/
const messages = /^(terminated$|fetch failed|failed to fetch|network ?error)/i

const isTransportError = (error: Error): boolean =>
  ("code" in error && typeof error.code === "string" && codes.test(error.code)) ||
  (error instanceof TypeError && messages.test(error.message))
