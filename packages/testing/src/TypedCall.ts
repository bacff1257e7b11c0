/**
 * Calls and answers checked against an agent's types. `Step` gives all of
 * this module out again.
 *
 * @since 0.1.0
 */
import type { AgentBuilder, Json, TypedAgent } from "@mandate/core"
import * as Tool from "effect/ai/Tool"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import * as Call from "./Call.ts"

/**
 * Delegates to a subagent with a typed input: a call of `task_<id>`, or of
 * `task` for a text subagent.
 *
 * **Details**
 *
 * The input is encoded by the subagent's own schema, and wrapped under `value`
 * where the task tool wraps it. An input that does not encode, or a schema
 * that needs services to encode, is a mistake in the test and throws.
 *
 * @category constructors
 * @since 0.1.0
 */
export const taskOf = <I, O, R>(
  agent: TypedAgent.TypedAgent<I, O, R, any>,
  input: NoInfer<I>,
  options?: { readonly id?: string }
): Call.Call => {
  const args = toolArguments(agent.spec.input, input)
  return agent.spec.role === "text"
    ? Call.call("task", { subagent: agent.id, ...args }, options)
    : Call.call(`task_${agent.id}`, args, options)
}

/**
 * Gives a subagent's typed report, or the answer of an agent with `withOutput`:
 * a call of `submit_report`, or the text of one that answers in text.
 *
 * **Details**
 *
 * The report is encoded by the agent's own schema, and wrapped under
 * `value` where the tool wraps it. A report that does not encode, or a schema
 * that needs services to encode, is a mistake in the test and throws.
 *
 * @category constructors
 * @since 0.1.0
 */
export const reportOf = <I, O, R>(
  agent: TypedAgent.TypedAgent<I, O, R, any> | AgentBuilder.AgentBuilder<O, R, any>,
  report: NoInfer<O>,
  options?: { readonly id?: string }
): Call.Answer | Call.Call =>
  agent.spec.report === undefined
    ? { _tag: "Answer", parts: [{ type: "text", text: String(report) }], finishReason: "stop" }
    : Call.call("submit_report", toolArguments(agent.spec.report, report), options)

type AnyCodec = Schema.Codec<any, any, unknown, unknown>

type JsonObject = { readonly [key: string]: Json.Json }

const toolArguments = (schema: AnyCodec, value: unknown): JsonObject => {
  // The types of a definition do not say what its schemas need.
  const codec = Schema.toCodecJson(schema) as unknown as Schema.Codec<unknown, JsonObject>
  const encoded = Schema.encodeSync(codec)(value)
  return isObjectSchema(schema) ? encoded : { value: encoded }
}

// A class or a recursive schema stands behind a reference.
const isObjectSchema = (schema: AnyCodec): boolean => {
  const root = Tool.getJsonSchemaFromSchema(schema) as { readonly [key: string]: unknown }
  const { $defs: definitions, $ref: reference, type } = root
  if (typeof reference !== "string" || !Predicate.isObject(definitions)) return type === "object"
  const definition = definitions[reference.slice("#/$defs/".length) as keyof typeof definitions]
  return Predicate.isObject(definition) && (definition as JsonObject)["type"] === "object"
}
