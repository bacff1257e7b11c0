/**
 * Calls that a provider runs itself and their results, of which providers
 * refuse one without the other.
 *
 * @since 0.1.0
 */
import type { Message } from "@mandate/core"

/**
 * Places of a conversation that have a provider's own call without its result,
 * or a result without a call before it.
 *
 * **Details**
 *
 * Both are looked for between two user messages. After the last one a result
 * may be missing: the provider goes on with its call.
 *
 * @category getters
 * @since 0.1.0
 */
export const unpaired = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<string> => {
  const found: Array<string> = []
  let waiting = new Map<string, number>()
  let called = new Set<string>()
  messages.forEach((message, index) => {
    if (message.role === "user") {
      waiting.forEach((at, id) => found.push(`message ${at} has no result of its own call ${JSON.stringify(id)}`))
      waiting = new Map()
      called = new Set()
    }
    if (message.role !== "assistant") return
    for (const part of message.content) {
      if (part.type === "tool-call" && part.providerExecuted === true) {
        called.add(part.id)
        waiting.set(part.id, index)
      }
      if (part.type !== "tool-result") continue
      if (!called.has(part.id)) found.push(`message ${index} holds a result of a call that the provider did not run`)
      waiting.delete(part.id)
    }
  })
  return found
}
