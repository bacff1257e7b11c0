/**
 * A message as providers take it back. What is stored is what a model wrote;
 * what is sent is what no provider refuses.
 *
 * **Details**
 *
 * Invariants:
 *
 * 1. A message is a function of what is stored alone, so every request, replay
 *    and restart sends the same.
 * 2. A text that shows nothing is left out, wherever it stands. Reasoning is
 *    never changed: providers check its signature.
 * 3. Reasoning is followed by what it led to. Reasoning at the end of a message
 *    is left out, and with it a message that has nothing else.
 * 4. Ids of calls have 1 to 40 of `[a-zA-Z0-9_-]`, the same for a call and its
 *    result. Those of calls that a provider runs itself, which it knows, may
 *    have 64.
 * 5. No text has an unpaired surrogate, nor has a value that is parsed from one.
 * 6. A user message stays a message: one that shows nothing says so. Without it
 *    a conversation could begin with the assistant, which providers refuse.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Digest from "./Digest.ts"
import * as Json from "./Json.ts"
import type { AssistantPart, FilePart, Message, TextPart, ToolCallPart, ToolOutput, ToolResultPart } from "./Message.ts"
import * as Text from "./Text.ts"

/**
 * A message as it is sent; nothing for one that has no content to send.
 *
 * **Details**
 *
 * A message that is fine is given back as it is. Another one is made once, so
 * that bridges convert it once.
 *
 * @category combinators
 * @since 0.1.0
 */
export const make = (message: Message): Message | undefined => {
  if (isFine(message)) return message
  const known = made.get(message)
  if (known !== undefined) return known === empty ? undefined : known
  const sent = form(message)
  made.set(message, sent ?? empty)
  return sent
}

/**
 * Whether a response has anything that its thread keeps: a text that shows
 * something, a file, a call or a result. Reasoning alone is nothing.
 *
 * @category getters
 * @since 0.1.0
 */
export const hasContent = (parts: ReadonlyArray<AssistantPart>): boolean => parts.some(isContent)

/**
 * The id under which a call and its result are sent.
 *
 * @category getters
 * @since 0.1.0
 */
export const callId = (part: Pick<ToolCallPart, "id" | "providerExecuted">): string => {
  // The digest of an id is as unique in its thread as the id is.
  return isAccepted(part) ? part.id : `call_${Digest.short(part.id)}`
}

const isAccepted = ({ id, providerExecuted }: Pick<ToolCallPart, "id" | "providerExecuted">): boolean =>
  (providerExecuted === true ? acceptedOfProvider : accepted).test(id)

const isPlainText = (text: string): boolean => text.isWellFormed() && !(text.includes("\\u") && hasEscape.test(text))

const empty: Message = { role: "system", content: "" }
const made = new WeakMap<Message, Message>()

const form = (message: Message): Message | undefined => {
  switch (message.role) {
    case "system":
      return Text.isBlank(message.content) ? undefined : wellFormed(message)
    case "user": {
      const content = message.content.filter(isShown)
      if (content.length === 0) return blankInput
      return wellFormed(content.length === message.content.length ? message : { ...message, content })
    }
    case "assistant": {
      const content = contentOf(message.content)
      if (content.length === 0) return undefined
      return content.every((part, index) => part === message.content[index]) &&
          content.length === message.content.length
        ? message
        : { ...message, content }
    }
    case "tool": {
      const content = message.content.map((part) => result(part, part.providerExecuted === true))
      return content.every((part, index) => part === message.content[index]) ? message : { ...message, content }
    }
  }
}

const contentOf = (parts: ReadonlyArray<AssistantPart>): ReadonlyArray<AssistantPart> => {
  const shown = parts.filter((part) => part.type !== "text" || !Text.isBlank(part.text))
  const last = shown.findLastIndex(isContent)
  return shown.slice(0, last + 1).map((part) =>
    part.type === "tool-call" ? call(part) : part.type === "tool-result" ? result(part, true) : part
  )
}

// Whether a message is sent as it is, which most are.
const isFine = (message: Message): boolean => {
  switch (message.role) {
    case "system":
      return !Text.isBlank(message.content) && isWellFormed(message)
    case "user":
      return message.content.length > 0 && message.content.every(isShown) && isWellFormed(message)
    case "assistant":
      return isFineResponse(message.content)
    case "tool":
      return message.content.every((part) => isAccepted(part) && shownOutput(part.output) === part.output)
  }
}

const isShown = (part: TextPart | FilePart): boolean => part.type !== "text" || !Text.isBlank(part.text)

const isFineResponse = (parts: ReadonlyArray<AssistantPart>): boolean => {
  const last = parts[parts.length - 1]
  if (last === undefined || !isContent(last)) return false
  for (const part of parts) {
    if (part.type === "text" ? Text.isBlank(part.text) : part.type === "tool-result") return false
    if (part.type === "tool-call" && !(isAccepted(part) && isPlainText(part.arguments))) return false
  }
  return true
}

const isContent = (part: AssistantPart): boolean => {
  switch (part.type) {
    case "text":
      return !Text.isBlank(part.text)
    case "reasoning":
      return marksOf(part)["custom"] !== undefined
    case "file":
      return marksOf(part)["reasoningFile"] !== true
    case "source":
      return false
    case "tool-call":
    case "tool-result":
      return true
  }
}

// What a bridge of ours notes of a part that has no type of its own here.
const marksOf = ({ providerMetadata }: AssistantPart): { readonly [key: string]: unknown } => {
  const marks = providerMetadata?.["mandate"]
  return typeof marks === "object" && marks !== null ? marks as { readonly [key: string]: unknown } : {}
}

const call = (part: ToolCallPart): ToolCallPart => {
  const id = callId(part)
  const args = isPlainText(part.arguments) ? part.arguments : repaired(part.arguments)
  return id === part.id && args === part.arguments ? part : { ...part, id, arguments: args }
}

// Beside calls there are results of the provider alone, whether or not its client marks them.
const result = (part: ToolResultPart, providerExecuted: boolean): ToolResultPart => {
  const id = callId({ id: part.id, providerExecuted })
  const output = shownOutput(part.output)
  return id === part.id && output === part.output ? part : { ...part, id, output }
}

const shownOutput = (output: ToolOutput): ToolOutput => {
  if (output.type !== "content") return output
  if (output.value.length > 0 && output.value.every(isShown)) return output
  const value = output.value.filter(isShown)
  return value.length === 0 ? { type: "text", value: "(no content)" } : { type: "content", value }
}

// A model can write half of a pair as an escape, which only shows once the arguments are parsed. The rest of the text
// stays as it was written: numbers keep all their digits, and no depth is too great.
const repaired = (text: string): string => {
  const whole = text.toWellFormed()
  const isJson = Result.isSuccess(Result.try(() => JSON.parse(whole) as unknown))
  return isJson ? whole.replace(escapes, (escape) => isHalf.test(escape) ? "\ufffd" : escape) : whole
}

const hasEscape = /\\u[dD][89a-fA-F][0-9a-fA-F]{2}/
// Pairs first, then halves, then every other escape, a backslash's own included.
const escapes = /\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[dD][89a-fA-F][0-9a-fA-F]{2}|\\[^]/g
const isHalf = /^\\u[0-9a-fA-F]{4}$/

const accepted = /^[a-zA-Z0-9_-]{1,40}$/
const acceptedOfProvider = /^[a-zA-Z0-9_-]{1,64}$/

const blankInput: Message = { role: "user", content: [{ type: "text", text: "(no text)" }] }

const wellFormed = <A extends Message>(message: A): A => isWellFormed(message) ? message : Json.stringify(message).value

// Records are mended before they are kept; what an application wrote is looked at here.
const isWellFormed = (message: Message): boolean => {
  if (message.role === "system") return message.content.isWellFormed()
  if (message.role !== "user") return true
  return message.content.every((part) =>
    part.type === "text"
      ? part.text.isWellFormed()
      : part.mediaType.isWellFormed() && part.filename?.isWellFormed() !== false &&
        (part.data.type === "base64" || part.data.url.isWellFormed())
  )
}
