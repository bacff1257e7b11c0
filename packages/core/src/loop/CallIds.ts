/**
 * Makes the ids of tool calls unique within their thread.
 *
 * @since 0.1.0
 */
import type { AssistantPart, Message } from "../values/Message.ts"

/**
 * Ids of all tool calls in some messages.
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
 * Adds the ids of the tool calls among some parts.
 *
 * @category combinators
 * @since 0.1.0
 */
export const addAll = (ids: Set<string>, parts: ReadonlyArray<AssistantPart>): void => {
  for (const part of parts) if (part.type === "tool-call") ids.add(part.id)
}

/**
 * Rewrites the ids that are empty or taken, from the position of their call;
 * results that a provider gave beside its own calls follow them. Parts whose
 * ids are fine are given back as they are.
 *
 * **Details**
 *
 * `prefix` is the position of the response in its thread. The same response in
 * the same position always gets the same ids.
 *
 * @category combinators
 * @since 0.1.0
 */
export const unique = (
  parts: ReadonlyArray<AssistantPart>,
  taken: ReadonlySet<string>,
  prefix: string
): ReadonlyArray<AssistantPart> => {
  const used = new Set<string>()
  const renamed = new Map<string, string>()
  let index = 0
  return parts.map((part) => {
    if (part.type === "tool-result") {
      const id = renamed.get(part.id)
      return id === undefined ? part : { ...part, id }
    }
    if (part.type !== "tool-call") return part
    let id = part.id
    if (id === "" || taken.has(id) || used.has(id)) {
      id = `call_${prefix}_${index}`
      while (taken.has(id) || used.has(id)) id += "_"
    }
    index++
    used.add(id)
    renamed.set(part.id, id)
    return id === part.id ? part : { ...part, id }
  })
}
