/**
 * Rules that a strict provider holds requests to.
 *
 * @since 0.1.0
 */
import { Message, type ModelRequest } from "@mandate/core"
import * as Schema from "effect/Schema"
import * as ProviderCalls from "./strict/ProviderCalls.ts"
import * as SentSchema from "./strict/SentSchema.ts"
import * as SentText from "./strict/SentText.ts"

/**
 * Schema for the rules, by name.
 *
 * **Details**
 *
 * - `system-first`: a system message stands only at the very beginning
 * - `last-message`: there is a last message, and it is not the system's. An
 *   assistant's may be last: a paused response is asked for again as it is
 * - `results-follow-calls`: the message after one with tool calls is a tool
 *   message, and no other message is one
 * - `one-result-per-call`: a tool message has exactly one result for each call
 *   of the message before it, and no other
 * - `result-order`: results stand in the order of their calls
 * - `result-name`: a result has the name of its call
 * - `unique-call-ids`, `call-id`: no two calls of the request have one id, and
 *   ids are 1 to 40 of `[a-zA-Z0-9_-]`, or to 64 where the provider runs the
 *   call itself
 * - `provider-calls`: a call that the provider runs itself has its result, and a
 *   result its call, before the next user message; as long as there is none, a
 *   result may be missing
 * - `tool-name`, `unique-tool-names`: tools are named `[a-zA-Z0-9_-]{1,64}`,
 *   each differently; called tools are named so too
 * - `input-schema`: the root of a tool's input schema is an object
 * - `schema-properties`, `schema-items`: that root has `properties`, and every
 *   array schema has `items`
 * - `tool-choice`: a tool that must be called is offered
 * - `user-text`: a user message has content, and none of its texts is blank
 * - `assistant-content`: an assistant message has content other than blank text
 * - `blank-text`: no text of an assistant's message, of a result's content or of
 *   the instructions is blank by itself, whatever stands beside it
 * - `reasoning-alone`: reasoning is followed by what it led to, in its message
 * - `user-first`: the first message that is not the system's is the user's
 * - `surrogates`: no text of the request, keys included, has half of a surrogate
 *   pair, nor do arguments once they are parsed
 *
 * @category schemas
 * @since 0.1.0
 */
export const Rule = Schema.Literals([
  "system-first",
  "last-message",
  "results-follow-calls",
  "one-result-per-call",
  "result-order",
  "result-name",
  "unique-call-ids",
  "call-id",
  "provider-calls",
  "tool-name",
  "unique-tool-names",
  "input-schema",
  "tool-choice",
  "user-text",
  "assistant-content",
  "schema-properties",
  "schema-items",
  "blank-text",
  "reasoning-alone",
  "user-first",
  "surrogates"
])

/**
 * Name of a rule.
 *
 * @category models
 * @since 0.1.0
 */
export type Rule = typeof Rule.Type

/**
 * A rule that a request breaks, and where.
 *
 * @category models
 * @since 0.1.0
 */
export interface Broken {
  readonly rule: Rule
  readonly detail: string
}

/**
 * Finds every rule that a request breaks. A request that a strict provider
 * accepts breaks none.
 *
 * **Details**
 *
 * Calls that the provider runs itself need no result in a tool message.
 *
 * @category getters
 * @since 0.1.0
 */
export const check = (request: ModelRequest.ModelRequest): ReadonlyArray<Broken> => [
  ...checkTools(request),
  ...request.messages.flatMap(checkMessage),
  ...checkLast(request.messages),
  ...checkFirst(request.messages),
  ...checkIds(request.messages),
  ...ProviderCalls.unpaired(request.messages).map((at) => broken("provider-calls", at)),
  ...SentText.unpaired(request).map((at) => broken("surrogates", at))
]

const toolName = /^[a-zA-Z0-9_-]{1,64}$/

const checkTools = ({ toolChoice, tools }: ModelRequest.ModelRequest): ReadonlyArray<Broken> => {
  const names = tools.map(({ name }) => name)
  const lacking = typeof toolChoice === "object"
    ? !names.includes(toolChoice.tool)
    : toolChoice === "required" && names.length === 0
  return [
    ...names.flatMap((name) => when(!toolName.test(name), "tool-name", `tool ${JSON.stringify(name)}`)),
    ...repeated(names).map((name) => broken("unique-tool-names", `tool ${JSON.stringify(name)}`)),
    ...tools.flatMap(({ inputSchema, name }) =>
      when(inputSchema["type"] !== "object", "input-schema", `tool ${JSON.stringify(name)}`)
    ),
    ...tools.flatMap(({ inputSchema, name }) => [
      ...when(
        inputSchema["type"] === "object" && !SentSchema.hasProperties(inputSchema),
        "schema-properties",
        `tool ${JSON.stringify(name)}`
      ),
      ...SentSchema.withoutItems(inputSchema).map((path) =>
        broken("schema-items", `tool ${JSON.stringify(name)}, ${path}`)
      )
    ]),
    ...when(lacking, "tool-choice", JSON.stringify(toolChoice))
  ]
}

const checkMessage = (
  message: Message.Message,
  index: number,
  messages: ReadonlyArray<Message.Message>
): ReadonlyArray<Broken> => {
  const at = `message ${index}`
  switch (message.role) {
    case "system":
      return [
        ...when(index > 0, "system-first", at),
        ...when(message.content.trim() === "", "blank-text", at)
      ]
    case "user":
      return when(message.content.length === 0 || message.content.some(isBlank), "user-text", at)
    case "assistant":
      return [
        ...when(message.content.every(isBlank), "assistant-content", at),
        ...when(message.content.some(isBlank) && !message.content.every(isBlank), "blank-text", at),
        ...when(isReasoning(message.content.at(-1)), "reasoning-alone", at),
        ...checkCalls(message.content, messages[index + 1], at)
      ]
    case "tool":
      return [
        ...when(message.content.some(hasBlank), "blank-text", at),
        ...checkResults(message.content, callsOf(messages[index - 1]), at)
      ]
  }
}

const checkCalls = (
  parts: ReadonlyArray<Message.AssistantPart>,
  next: Message.Message | undefined,
  at: string
): ReadonlyArray<Broken> => {
  const calls = Message.toolCalls(parts)
  return [
    ...calls.flatMap(({ name }) => when(!toolName.test(name), "tool-name", `${at} calls ${JSON.stringify(name)}`)),
    ...when(calls.length > 0 && next?.role !== "tool", "results-follow-calls", `no results directly after ${at}`)
  ]
}

const checkResults = (
  results: ReadonlyArray<Message.ToolResultPart>,
  calls: ReadonlyArray<Message.ToolCallPart>,
  at: string
): ReadonlyArray<Broken> => {
  if (calls.length === 0) return [broken("results-follow-calls", `${at} stands after no calls`)]
  const called = calls.map(({ id }) => id)
  const answered = results.map(({ id }) => id)
  const nameOf = new Map(calls.map(({ id, name }) => [id, name]))
  const miscounted = [
    ...called.filter((id) => !answered.includes(id)).map((id) => `no result for ${JSON.stringify(id)}`),
    ...answered.filter((id) => !nameOf.has(id)).map((id) => `a result for ${JSON.stringify(id)}, which was not called`),
    ...repeated(answered).map((id) => `two results for ${JSON.stringify(id)}`)
  ]
  return [
    ...miscounted.map((what) => broken("one-result-per-call", `${at} has ${what}`)),
    ...when(miscounted.length === 0 && answered.some((id, index) => id !== called[index]), "result-order", at),
    ...results.flatMap(({ id, name }) =>
      when(nameOf.has(id) && nameOf.get(id) !== name, "result-name", `${at}, ${JSON.stringify(name)}`)
    )
  ]
}

const checkLast = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<Broken> => {
  const last = messages.at(-1)?.role
  return when(last === undefined || last === "system", "last-message", last ?? "no messages")
}

const checkFirst = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<Broken> => {
  const first = messages.find(({ role }) => role !== "system")?.role
  return when(first !== undefined && first !== "user", "user-first", first ?? "")
}

const checkIds = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<Broken> => {
  const calls = messages.flatMap((message) =>
    message.role === "assistant" ? message.content.flatMap((part) => part.type === "tool-call" ? [part] : []) : []
  )
  const ids = calls.map(({ id }) => id)
  const refused = calls.filter(({ id, providerExecuted }) =>
    !(providerExecuted === true ? providerCallId : callId).test(id)
  )
  return [
    ...refused.map(({ id }) => broken("call-id", id === "" ? "a call has an empty id" : JSON.stringify(id))),
    ...repeated(ids).map((id) => broken("unique-call-ids", JSON.stringify(id)))
  ]
}

const callsOf = (message: Message.Message | undefined): ReadonlyArray<Message.ToolCallPart> =>
  message?.role === "assistant" ? Message.toolCalls(message.content) : []

const isBlank = (part: Message.AssistantPart): boolean => part.type === "text" && part.text.trim() === ""

const hasBlank = ({ output }: Message.ToolResultPart): boolean =>
  output.type === "content" && (output.value.length === 0 || output.value.some(isBlank))

// What a bridge marks is content of the provider's own that has no type here.
const isReasoning = (part: Message.AssistantPart | undefined): boolean =>
  part?.type === "reasoning" && !Object.hasOwn(part.providerMetadata ?? {}, "mandate")

const callId = /^[a-zA-Z0-9_-]{1,40}$/
const providerCallId = /^[a-zA-Z0-9_-]{1,64}$/

const repeated = (values: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...new Set(values.filter((value, index) => values.indexOf(value) !== index))
]

const broken = (rule: Rule, detail: string): Broken => ({ rule, detail })

const when = (isBroken: boolean, rule: Rule, detail: string): ReadonlyArray<Broken> =>
  isBroken ? [broken(rule, detail)] : []
