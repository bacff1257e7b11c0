/**
 * Makes tool calls fit for every later request: their ids unique within the
 * thread, their names such as providers take.
 *
 * @since 0.1.0
 */
import { type AssistantPart, type Message, text } from "../values/Message.ts"
import * as SentMessage from "../values/SentMessage.ts"

/**
 * Ids under which all tool calls in some messages are sent.
 *
 * @category getters
 * @since 0.1.0
 */
export const inMessages = (messages: ReadonlyArray<Message>): Set<string> => {
  const ids = new Set<string>()
  for (const message of messages) {
    if (message.role === "assistant") addAll(ids, message.content)
  }
  return ids
}

/**
 * Adds the ids under which the tool calls among some parts are sent.
 *
 * @category combinators
 * @since 0.1.0
 */
export const addAll = (ids: Set<string>, parts: ReadonlyArray<AssistantPart>): void => {
  for (const part of parts) if (part.type === "tool-call") ids.add(SentMessage.callId(part))
}

/**
 * Rewrites the ids that are empty or taken, from the position of their call,
 * and the names that no provider takes; results that a provider gave beside
 * its own calls follow them. Text that is blank as a whole, which providers
 * refuse too, is left out. Parts that are fine are given back as they are.
 *
 * **Details**
 *
 * A model can invent any name for a tool, and the history it stays in is
 * refused for it on every later request. A rewritten name is never one of
 * `offered`. `prefix` is the position of the response in its thread. The same
 * response in the same position always gets the same ids. An id is taken if it
 * would be sent as one of `taken`: a model can repeat an id that it has seen
 * only in the form in which it was sent.
 *
 * @category combinators
 * @since 0.1.0
 */
export const unique = (
  parts: ReadonlyArray<AssistantPart>,
  taken: ReadonlySet<string>,
  prefix: string,
  offered: ReadonlySet<string>
): ReadonlyArray<AssistantPart> => {
  const used = new Set<string>()
  // Ids of the provider's own calls, by the id they came with, until their result is there.
  const awaited = new Map<string, Array<string>>()
  let index = 0
  const isBlank = text(parts).trim() === ""
  return parts.filter((part) => part.type !== "text" || !isBlank).map((part) => {
    if (part.type === "tool-result") {
      const id = awaited.get(part.id)?.shift()
      const name = acceptable(part.name, offered)
      return id === undefined && name === part.name ? part : { ...part, id: id ?? part.id, name }
    }
    if (part.type !== "tool-call") return part
    let id = part.id
    let sent = SentMessage.callId(part)
    if (id === "" || taken.has(sent) || used.has(sent)) {
      id = `call_${prefix}_${index}`
      while (taken.has(id) || used.has(id)) id += "_"
      sent = id
    }
    index++
    used.add(sent)
    if (part.providerExecuted === true) awaited.set(part.id, [...awaited.get(part.id) ?? [], id])
    const name = acceptable(part.name, offered)
    return id === part.id && name === part.name ? part : { ...part, id, name }
  })
}

const acceptable = (name: string, offered: ReadonlySet<string>): string => {
  if (accepted.test(name)) return name
  const letters = name.replace(/[^a-zA-Z0-9_-]/g, "_")
  // A prefix of its own length tells it from every tool that is offered, whatever their names are.
  for (let prefix = "";; prefix += "_") {
    const rewritten = (prefix + letters).slice(0, maxNameLength) || "_"
    if (!offered.has(rewritten)) return rewritten
  }
}

const maxNameLength = 64
const accepted = /^[a-zA-Z0-9_-]{1,64}$/
