/**
 * The whole error of a failed model call, as it is logged.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"

/**
 * Logs an error of a model's client at level `Debug`: the messages of it and of
 * what caused it, and the beginning of the provider's response, without what
 * looks like a key. Of the request only the address is logged.
 *
 * @category running
 * @since 0.1.0
 */
export const log = (thrown: unknown): Effect.Effect<void> =>
  Effect.suspend(() =>
    Effect.logDebug("The client of a model failed").pipe(
      Effect.annotateLogs(Result.getOrElse(Result.try(() => describe(thrown)), () => ({ error: "unreadable" })))
    )
  )

/**
 * Puts `[redacted]` in place of what looks like a key: after `Bearer`, in a
 * URL, as the value of a name of secrets, or in the forms of known providers.
 *
 * @category combinators
 * @since 0.1.0
 */
export const redact = (text: string): string =>
  patterns.reduce((shown, [pattern, put]) => shown.replace(pattern, put), text.slice(0, maxText))

const describe = (thrown: unknown): { readonly [name: string]: string } => {
  const errors: Array<string> = []
  let current = thrown
  while (current instanceof Error && errors.length < maxCauses) {
    errors.push(redact(`${current.name}: ${current.message}`))
    current = current.cause
  }
  const { responseBody, url } = typeof thrown === "object" && thrown !== null
    ? thrown as { readonly responseBody?: unknown; readonly url?: unknown }
    : {}
  const address = typeof url === "string" ? URL.parse(url) : null
  return {
    error: errors.length === 0 ? redact(asText(thrown)) : errors.join("\n  caused by "),
    ...(address === null ? {} : { url: redact(`${address.origin}${address.pathname}`) }),
    ...(typeof responseBody === "string" ? { body: redact(responseBody) } : {})
  }
}

const asText = (value: unknown): string => typeof value === "string" ? value : JSON.stringify(value) ?? String(value)

const maxText = 4_096
const maxCauses = 5

const patterns: ReadonlyArray<readonly [RegExp, string]> = [
  [/\b(bearer|basic)\s+[^\s"',;]+/gi, "$1 [redacted]"],
  [/\/\/[^\s/@"']+@/g, "//[redacted]@"],
  [
    /((?:api[-_]?key|x-goog-api-key|authorization|access[-_]?token|secret|password|[?&]key)["']?\s*[:=]\s*["']?)(?!\[redacted\])[^\s"'&,;}]+/gi,
    "$1[redacted]"
  ],
  [/\b(sk|pk|rk|gsk|xai|hf)[-_][A-Za-z0-9_*.-]{4,}/g, "[redacted]"],
  [/\b(AIza|gh[pousr]_|github_pat_|xox[a-z]-|AKIA|ya29\.)[A-Za-z0-9_-]{8,}/g, "[redacted]"],
  [/\beyJ[A-Za-z0-9_-]{8,}(\.[A-Za-z0-9_-]+)*/g, "[redacted]"]
]
