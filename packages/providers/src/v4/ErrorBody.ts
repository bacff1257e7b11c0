/**
 * What the body of a failed response says about the reason.
 *
 * @since 0.1.0
 */
import { Json } from "@mandate/core"
import * as Result from "effect/Result"

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
}

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
  if (typeof body !== "string") return { codes: new Set(), text: "" }
  const parsed = Json.parse(body, maxBytes)
  if (Result.isFailure(parsed)) return { codes: new Set(), text: body.slice(0, maxText) }
  const codes = new Set<string>()
  const messages: Array<string> = []
  let delay: string | undefined
  collect(parsed.success, 0, (key, value) => {
    if (codeKeys.has(key)) codes.add(value.toLowerCase())
    if (messageKeys.has(key)) messages.push(value)
    if (key === "retryDelay") delay ??= value
  })
  return { codes, text: messages.join("\n").slice(0, maxText), ...(delay === undefined ? {} : { delay }) }
}

const maxBytes = 65_536
const maxText = 4_096
const maxDepth = 5
const codeKeys: ReadonlySet<string> = new Set(["code", "type", "status", "reason"])
const messageKeys: ReadonlySet<string> = new Set(["message", "detail"])

const collect = (value: Json.Json, depth: number, found: (key: string, value: string) => void): void => {
  if (typeof value !== "object" || value === null || depth > maxDepth) return
  for (const [key, item] of Object.entries(value)) {
    if (typeof item === "string") found(key, item)
    else collect(item, depth + 1, found)
  }
}
