/**
 * The tool messages of task calls: a report or an error, never larger than the
 * bound.
 *
 * @since 0.1.0
 */
import { type ChildFailure, message as failureMessage } from "../values/ChildFailure.ts"
import * as Json from "../values/Json.ts"
import type { ToolOutput } from "../values/Message.ts"
import * as Utf8 from "../values/Utf8.ts"

/**
 * The message of a report: `{"report": …}`. Its size is that of its canonical
 * JSON in UTF-8, which is what is sent.
 *
 * @category constructors
 * @since 0.1.0
 */
export const report = (value: Json.Json): { readonly output: ToolOutput; readonly bytes: number } => {
  const message = { report: value }
  return { output: { type: "json", value: message }, bytes: Utf8.byteLength(Json.canonical(message)) }
}

/**
 * The message of a refusal or a failure: `{"error": {"reason", "message"}}`.
 * The text is cut on a character boundary, so that the whole message has at
 * most `maxBytes`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const error = (reason: string, message: string, maxBytes: number): ToolOutput => {
  const whole = body(reason, message.toWellFormed())
  const size = sizeOf(whole)
  if (size <= maxBytes) return { type: "json", value: whole }
  // Escapes make some characters longer as JSON than as text, so the cut closes in on the room there is.
  let room = maxBytes - sizeOf(body(reason, ""))
  let cut = Utf8.cut(message.toWellFormed(), room)
  for (let over = sizeOf(body(reason, cut)) - maxBytes; over > 0; over = sizeOf(body(reason, cut)) - maxBytes) {
    room = Math.max(0, Math.min(room, Utf8.byteLength(cut)) - Math.max(1, Math.ceil(over / longestEscape)))
    cut = Utf8.cut(message.toWellFormed(), room)
  }
  return { type: "json", value: body(reason, cut) }
}

/**
 * The message of a child's failure.
 *
 * @category constructors
 * @since 0.1.0
 */
export const failure = (failure: ChildFailure, maxBytes: number): ToolOutput =>
  error(failure._tag, failureMessage(failure), maxBytes)

// A control character is six bytes as JSON (`\u0001`).
const longestEscape = 6

const body = (reason: string, message: string) => ({ error: { reason, message } })

const sizeOf = (value: Json.Json): number => Utf8.byteLength(Json.canonical(value))
