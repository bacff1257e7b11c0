/**
 * Responses and tool calls of a scripted model. `Step` gives all of this module out again.
 *
 * @since 0.1.0
 */
import { type Json, type Message, type ModelResponse, Options } from "@mandate/core"
import * as Given from "./Given.ts"

/**
 * A tool call that a model makes. On its own it is a step with this one call.
 *
 * **Details**
 *
 * `arguments` is the text the model writes. A call without an `id` gets
 * `call-<agent>-<run>-<step>-<index>`: the run by start order among the runs
 * of its script, all counted from 0.
 *
 * @category models
 * @since 0.1.0
 */
export interface Call {
  readonly _tag: "Call"
  readonly name: string
  readonly arguments: string
  readonly id: string | undefined
}

/**
 * A response of any parts, with any finish reason.
 *
 * @category models
 * @since 0.1.0
 */
export interface Answer {
  readonly _tag: "Answer"
  readonly parts: ReadonlyArray<Message.AssistantPart | Call>
  readonly finishReason: ModelResponse.FinishReason
}

/**
 * Calls one tool: alone a step, or one of the calls of `Step.calls`.
 *
 * **Details**
 *
 * `id` sets the provider's id of the call; it may be empty or repeated.
 *
 * @category constructors
 * @since 0.1.0
 */
export const call = (name: string, args: Json.Json = {}, options?: { readonly id?: string }): Call => {
  checkCall({ name, args })
  return rawCall(name, JSON.stringify(args), options)
}

/**
 * Calls a tool with argument text that need not be JSON.
 *
 * @category constructors
 * @since 0.1.0
 */
export const rawCall = (name: string, args: string, options?: { readonly id?: string }): Call => {
  checkRawCall({ name, args })
  return { _tag: "Call", name, arguments: args, id: Options.orThrow("Step.call", decodeOptions(options)).id }
}

/**
 * Submits a report: a call of `submit_report`.
 *
 * **Details**
 *
 * `value` is the report's JSON encoding. One that is no object is wrapped as
 * `{ value }`, as the tool's schema wraps it; wrap an object yourself where the
 * schema's root is a union.
 *
 * @category constructors
 * @since 0.1.0
 */
export const report = (value: Json.Json, options?: { readonly id?: string }): Call =>
  call("submit_report", wrapped(value), options)

/**
 * Delegates to a typed subagent: a call of `task_<subagentId>`.
 *
 * **Details**
 *
 * `input` is the input's JSON encoding. One that is no object is wrapped as
 * `{ value }`, as the tool's schema wraps it; wrap an object yourself where the
 * schema's root is a union.
 *
 * @category constructors
 * @since 0.1.0
 */
export const task = (subagentId: string, input: Json.Json, options?: { readonly id?: string }): Call =>
  call(`task_${subagentId}`, wrapped(input), options)

/**
 * Delegates to a text subagent: a call of `task`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const textTask = (subagentId: string, description: string, options?: { readonly id?: string }): Call =>
  call("task", { subagent: subagentId, description }, options)

/**
 * What a model may say when it delegates to a posture: as the tool `delegate`
 * takes it, so `timeoutSeconds` is a number of seconds.
 *
 * @category models
 * @since 0.1.0
 */
export interface DelegateArguments {
  readonly posture: string
  readonly task: string
  readonly context?: Json.Json
  readonly maxTokens?: number
  readonly maxToolCalls?: number
  readonly timeoutSeconds?: number
}

/**
 * Delegates to a posture: a call of `delegate`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const delegate = (args: DelegateArguments, options?: { readonly id?: string }): Call =>
  call("delegate", { ...args }, options)

const checkCall = Given.args("Step.call", { name: Options.text, args: Given.json })
const checkRawCall = Given.args("Step.rawCall", { name: Options.text, args: Options.text })
const decodeOptions = Options.make<{ readonly id?: string }>("option", { id: Options.text })

const wrapped = (value: Json.Json): Json.Json =>
  value === null || typeof value !== "object" || Array.isArray(value) ? { value } : value
