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
 *    result. Those of calls that a provider runs itself stay as they are: it
 *    knows them.
 * 5. No text has an unpaired surrogate, nor has a value that is parsed from one.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Digest from "./Digest.ts"
import * as Json from "./Json.ts"
import type { AssistantPart, Message, ToolCallPart } from "./Message.ts"
import * as Text from "./Text.ts"

/**
 * A message as it is sent; nothing for one that has no content to send.
 *
 * **Details**
 *
 * A message that is fine is given back as it is, and each is looked at once.
 *
 * @category combinators
 * @since 0.1.0
 */
export const make = (message: Message): Message | undefined => {
  const known = made.get(message)
  if (known !== undefined) return known === empty ? undefined : known
  const sent = form(message)
  made.set(message, sent ?? empty)
  if (sent !== undefined) made.set(sent, sent)
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

const empty: Message = { role: "system", content: "" }
const made = new WeakMap<Message, Message>()

const form = (message: Message): Message | undefined => {
  switch (message.role) {
    case "system":
      return Text.isBlank(message.content) ? undefined : wellFormed(message)
    case "user": {
      const content = message.content.filter((part) => part.type !== "text" || !Text.isBlank(part.text))
      if (content.length === 0) return undefined
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
      const isFine = message.content.every((part) => part.providerExecuted === true || isId(part.id))
      return isFine
        ? message
        : { ...message, content: message.content.map((part) => ({ ...part, id: idOf(part) })) }
    }
  }
}

const contentOf = (parts: ReadonlyArray<AssistantPart>): ReadonlyArray<AssistantPart> => {
  const shown = parts.filter((part) => part.type !== "text" || !Text.isBlank(part.text))
  const last = shown.findLastIndex(isContent)
  return shown.slice(0, last + 1).map((part) => part.type === "tool-call" ? call(part) : part)
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
  const id = idOf(part)
  const args = hasEscape.test(part.arguments) ? repaired(part.arguments) : part.arguments
  return id === part.id && args === part.arguments ? part : { ...part, id, arguments: args }
}

// A model can write half of a pair as an escape, which only shows once the arguments are parsed.
const repaired = (text: string): string =>
  Result.match(Json.parse(text, maxBytes), {
    onFailure: () => text.toWellFormed(),
    onSuccess: (value) => {
      const { text: whole, value: mended } = Json.stringify(value)
      return mended === value ? text : whole
    }
  })

// As much as is parsed of what a model writes: more is sent as no JSON at all.
const maxBytes = 8 * 1024 * 1024

const hasEscape = /\\u[dD][89a-fA-F][0-9a-fA-F]{2}|\p{Surrogate}/u

const isId = (id: string): boolean => accepted.test(id)

// The digest of an id is as unique in its thread as the id is.
const idOf = ({ id, providerExecuted }: { readonly id: string; readonly providerExecuted?: boolean }): string =>
  providerExecuted === true || isId(id) ? id : `call_${Digest.short(id)}`

const accepted = /^[a-zA-Z0-9_-]{1,40}$/

const wellFormed = <A extends Message>(message: A): A => isWellFormed(message) ? message : Json.stringify(message).value

// Records are mended before they are kept; what an application wrote is looked at here.
const isWellFormed = (message: Message): boolean => {
  if (message.role === "system") return message.content.isWellFormed()
  if (message.role !== "user") return true
  return message.content.every((part) =>
    part.type === "text" ? part.text.isWellFormed() : part.filename?.isWellFormed() !== false
  )
}
