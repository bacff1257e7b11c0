/**
 * Calls that a provider runs itself, and their results, as a request has them:
 * never one without the other.
 *
 * **Details**
 *
 * A result can be in a later message than its call: after a pause, or after the
 * results of an application's own tools. So a turn is looked at, that is all
 * messages between two of the user. A call without a result is sent as long as
 * its turn goes on, since the provider then goes on with it.
 *
 * @since 0.1.0
 */
import type { AssistantPart, Message, ToolCallPart } from "../values/Message.ts"

/**
 * Messages without the provider's calls that have no result once their turn is
 * over, and without results that have no call before them. Messages that are
 * fine are given back as they are.
 *
 * @category combinators
 * @since 0.1.0
 */
export const paired = (messages: ReadonlyArray<Message>): ReadonlyArray<Message> => {
  if (!messages.some(has)) return messages
  const made: Array<Message> = []
  let turn: Array<Message> = []
  for (const message of messages) {
    if (message.role === "user") {
      made.push(...pairedTurn(turn, false))
      turn = []
    }
    turn.push(message)
  }
  return [...made, ...pairedTurn(turn, true)]
}

const pairedTurn = (turn: ReadonlyArray<Message>, goesOn: boolean): ReadonlyArray<Message> => {
  if (!turn.some(has)) return turn
  const parts = turn.flatMap((message) => message.role === "assistant" ? message.content : [])
  const lost = goesOn ? new Set<number>() : callsWithoutResult(parts)
  const called = new Set<string>()
  let index = -1
  const stays = (part: AssistantPart): boolean => {
    index++
    if (part.type === "tool-result") return called.has(part.id)
    if (lost.has(index)) return false
    if (isOwnCall(part)) called.add(part.id)
    return true
  }
  return turn.map((message) => message.role === "assistant" ? without(message, message.content.filter(stays)) : message)
}

// Places of the provider's calls that no result follows.
const callsWithoutResult = (parts: ReadonlyArray<AssistantPart>): ReadonlySet<number> => {
  const places = new Set<number>()
  const results = new Set<string>()
  for (let index = parts.length - 1; index >= 0; index--) {
    const part = parts[index]!
    if (part.type === "tool-result") results.add(part.id)
    else if (isOwnCall(part) && !results.has(part.id)) places.add(index)
  }
  return places
}

// A message that is cut is the same one in every request, so that it is converted once.
const without = (message: AssistantMessage, content: ReadonlyArray<AssistantPart>): Message => {
  if (content.length === message.content.length) return message
  const known = cut.get(message)
  if (known !== undefined && known.content.length === content.length) return known
  const made: AssistantMessage = { ...message, content }
  cut.set(message, made)
  return made
}

type AssistantMessage = Extract<Message, { readonly role: "assistant" }>

const cut = new WeakMap<AssistantMessage, AssistantMessage>()

/**
 * Whether a message has a call that a provider runs itself, or a result of one.
 *
 * @category getters
 * @since 0.1.0
 */
export const has = (message: Message): boolean =>
  message.role === "assistant" && message.content.some((part) => part.type === "tool-result" || isOwnCall(part))

const isOwnCall = (part: AssistantPart): part is ToolCallPart =>
  part.type === "tool-call" && part.providerExecuted === true
