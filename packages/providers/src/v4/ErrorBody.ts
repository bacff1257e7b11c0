/**
 * What the body of a failed response says about the reason.
 *
 * @since 0.1.0
 */
import { ErrorToken, Json } from "@mandate/core"
import * as Result from "effect/Result"
import type { Problem } from "./Problem.ts"

/**
 * What was read from a body: its machine-readable codes in lower case, the
 * beginning of its messages, and the wait it asks for as it says it. It is for
 * classifying and goes no further.
 *
 * @category models
 * @since 0.1.0
 */
export interface ErrorBody {
  readonly codes: ReadonlySet<string>
  readonly text: string
  readonly delay?: string
  readonly facts: Facts
}

/**
 * What a body names, as far as it is short words: the code and the type of the
 * error, and the parameter of the request that is wrong.
 *
 * @category models
 * @since 0.1.0
 */
export type Facts = Pick<Problem, "code" | "type" | "parameter">

/**
 * Reads the body of a failed response.
 *
 * **Details**
 *
 * Only a body of at most 64 KiB is parsed. The codes are the strings under
 * `code`, `type`, `status` and `reason`, the messages those under `message`
 * and `detail`, the wait the first under `retryDelay`, at most five levels
 * deep: providers nest them differently. A
 * body that is not JSON is one message. At most 4 096 characters of messages
 * are kept.
 *
 * @category constructors
 * @since 0.1.0
 */
export const read = (body: unknown): ErrorBody => {
  if (typeof body !== "string") return { codes: new Set(), text: "", facts: {} }
  const parsed = Json.parse(body, maxBytes)
  if (Result.isFailure(parsed)) return { codes: new Set(), text: body.slice(0, maxText), facts: {} }
  const codes = new Set<string>()
  const messages: Array<string> = []
  const named = new Map<string, string>()
  let delay: string | undefined
  collect(parsed.success, 0, (key, value) => {
    if (codeKeys.has(key)) codes.add(value.toLowerCase())
    // Anthropic puts its error into an object of the type "error".
    if (factKeys.has(key) && value !== "error" && !named.has(key)) named.set(key, value)
    if (messageKeys.has(key)) messages.push(value)
    if (key === "retryDelay") delay ??= value
  })
  return {
    codes,
    text: messages.join("\n").slice(0, maxText),
    ...(delay === undefined ? {} : { delay }),
    facts: factsOf(named, messages[0] ?? "")
  }
}

const maxBytes = 65_536
const maxText = 4_096
const maxDepth = 5
const codeKeys: ReadonlySet<string> = new Set(["code", "type", "status", "reason"])
const messageKeys: ReadonlySet<string> = new Set(["message", "detail"])

const factKeys: ReadonlySet<string> = new Set(["code", "type", "status", "reason", "param", "field"])

const factsOf = (named: ReadonlyMap<string, string>, message: string): Facts => {
  const code = ErrorToken.code(named.get("code") ?? named.get("status") ?? named.get("reason"))
  const type = ErrorToken.code(named.get("type"))
  const parameter = ErrorToken.parameter(named.get("param") ?? named.get("field") ?? parameterOf(message))
  return {
    ...(code === undefined ? {} : { code }),
    ...(type === undefined ? {} : { type }),
    ...(parameter === undefined ? {} : { parameter })
  }
}

// Anthropic names the parameter in the message alone, before a colon: `messages.2.content: Field required`.
const parameterOf = (message: string): string | undefined =>
  /^((max_tokens|messages|model|system|tools|tool_choice|temperature|thinking|top_k|top_p|stop_sequences|metadata|stream|output_config|output_format|container|mcp_servers|service_tier)(\.[A-Za-z0-9_]{1,32}){0,8}): /
    .exec(message)?.[1]

const collect = (value: Json.Json, depth: number, found: (key: string, value: string) => void): void => {
  if (typeof value !== "object" || value === null || depth > maxDepth) return
  for (const [key, item] of Object.entries(value)) {
    if (typeof item === "string") found(key, item)
    else collect(item, depth + 1, found)
  }
}
