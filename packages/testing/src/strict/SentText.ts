/**
 * Texts of a request that providers refuse: unpaired surrogates, wherever they
 * are.
 *
 * @since 0.1.0
 */
import { Json, type Message, type ModelRequest } from "@mandate/core"
import * as Result from "effect/Result"

/**
 * Places of a request that hold half of a surrogate pair, in a key or a value,
 * or would once the arguments of a call are parsed.
 *
 * @category getters
 * @since 0.1.0
 */
export const unpaired = (request: ModelRequest.ModelRequest): ReadonlyArray<string> => [
  ...request.messages.flatMap((message, index) => [
    ...places(message, `message ${index}`),
    ...message.role === "assistant" ? message.content.flatMap((part) => parsed(part, `message ${index}`)) : []
  ]),
  ...request.tools.flatMap((tool) => places(tool, `tool ${JSON.stringify(tool.name)}`)),
  ...places(request.answer, "the answer's schema"),
  ...places(request.settings, "the settings")
]

const parsed = (part: Message.AssistantPart, at: string): ReadonlyArray<string> =>
  part.type !== "tool-call"
    ? []
    : Result.match(Json.parse(part.arguments, maxBytes), {
      onFailure: () => [],
      onSuccess: (value) => places(value, `${at}, the arguments of ${part.name}`)
    })

// What is larger, or nests deeper than a model writes, is sent as a text by every client.
const maxBytes = 8 * 1024 * 1024

const places = (value: unknown, at: string): ReadonlyArray<string> => isWellFormed(value) ? [] : [at]

// A list of what is left to look at, since what a model writes can nest deeper than calls can.
const isWellFormed = (root: unknown): boolean => {
  const left = [root]
  while (left.length > 0) {
    const value = left.pop()
    if (typeof value === "string" && !value.isWellFormed()) return false
    if (typeof value !== "object" || value === null) continue
    for (const [key, item] of Object.entries(value)) {
      if (!key.isWellFormed()) return false
      left.push(item)
    }
  }
  return true
}
