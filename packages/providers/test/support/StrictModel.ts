/** A V4 model that holds requests, and itself, to schemas as strict providers do. */
import type {
  LanguageModelV4CallOptions,
  LanguageModelV4Content,
  LanguageModelV4StreamPart,
  LanguageModelV4ToolResultOutput
} from "@ai-sdk/provider"
import { APICallError } from "@ai-sdk/provider"
import { MockLanguageModelV4 } from "ai/test"
import { result } from "./Mock.ts"
import { finish } from "./MockStream.ts"

type Json = null | boolean | number | string | ReadonlyArray<Json> | { readonly [key: string]: Json }
export type JsonSchema = { readonly [key: string]: any }

/** What the model says next: text, a native answer, or calls of tools with arguments in plain form. */
export type Turn =
  | { readonly text: string }
  | { readonly answer: Json }
  | { readonly calls: ReadonlyArray<readonly [name: string, args: Json]> }

export interface StrictModel {
  readonly model: MockLanguageModelV4
  readonly violations: ReadonlyArray<string>
  readonly requests: ReadonlyArray<LanguageModelV4CallOptions>
}

/** A model of a provider; `turn` sees the names of the tools and how many results of tools there are. */
export const make = (
  provider: string,
  turn: (tools: ReadonlyArray<string>, results: number) => Turn
): StrictModel => {
  const violations: Array<string> = []
  const requests: Array<LanguageModelV4CallOptions> = []
  let calls = 0
  const react = (options: LanguageModelV4CallOptions): ReadonlyArray<LanguageModelV4Content> => {
    requests.push(options)
    const broken = check(options, provider.startsWith("google"))
    violations.push(...broken)
    if (broken.length > 0) {
      throw new APICallError({ message: "refused", url: "", requestBodyValues: {}, statusCode: 400 })
    }
    const tools = new Map(
      (options.tools ?? []).flatMap((tool) =>
        tool.type === "function" ? [[tool.name, tool.inputSchema as JsonSchema] as const] : []
      )
    )
    const next = turn([...tools.keys()], resultsOf(options).length)
    if ("text" in next) return [{ type: "text", text: next.text }]
    if ("answer" in next) {
      const schema = options.responseFormat?.type === "json" ? options.responseFormat.schema : undefined
      return [{ type: "text", text: JSON.stringify(held(schema as JsonSchema, next.answer)) }]
    }
    return next.calls.map(([toolName, args]) => ({
      type: "tool-call",
      toolCallId: `call-${++calls}`,
      toolName,
      input: JSON.stringify(held(tools.get(toolName)!, args))
    }))
  }
  const finishReason = (content: ReadonlyArray<LanguageModelV4Content>) =>
    content.some(({ type }) => type === "tool-call")
      ? { unified: "tool-calls" as const, raw: "tool-calls" }
      : { unified: "stop" as const, raw: "stop" }
  return {
    violations,
    requests,
    model: new MockLanguageModelV4({
      provider,
      modelId: "m-1",
      doGenerate: async (options) => {
        const content = react(options)
        return result(content, { finishReason: finishReason(content) })
      },
      doStream: async (options) => {
        const content = react(options)
        const parts = [...content.flatMap(streamed), finish({ finishReason: finishReason(content) })]
        return {
          stream: new ReadableStream<LanguageModelV4StreamPart>({
            start: (controller) => {
              parts.forEach((part) => controller.enqueue(part))
              controller.close()
            }
          })
        }
      }
    })
  }
}

/** The JSON that a model can only write when it means a value: every key, `null` for one that has none. */
export const write = (
  schema: JsonSchema,
  value: Json,
  root: JsonSchema = schema
): { readonly json: Json } | undefined => {
  if (schema["$ref"] !== undefined) {
    const name = String(schema["$ref"]).replace("#/$defs/", "")
    return write(name === "#" ? root : root["$defs"][name], value, root)
  }
  if (schema["anyOf"] !== undefined) {
    for (const member of schema["anyOf"]) {
      const written = write(member, value, root)
      if (written !== undefined) return written
    }
    return undefined
  }
  if (schema["enum"] !== undefined && !schema["enum"].includes(value)) return undefined
  switch (schema["type"]) {
    case "object": {
      if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined
      const given = value as { readonly [key: string]: Json }
      if (Object.keys(given).some((key) => !Object.hasOwn(schema["properties"], key))) return undefined
      const entries = Object.entries(schema["properties"] as { readonly [key: string]: JsonSchema }).map(
        ([key, property]) => [key, write(property, Object.hasOwn(given, key) ? given[key]! : null, root)] as const
      )
      return entries.some(([, written]) => written === undefined)
        ? undefined
        : { json: Object.fromEntries(entries.map(([key, written]) => [key, written!.json])) }
    }
    case "array": {
      if (!Array.isArray(value)) return undefined
      const items = value.map((item) => write(schema["items"], item, root))
      return items.some((item) => item === undefined) ? undefined : { json: items.map((item) => item!.json) }
    }
    case "integer":
      return Number.isInteger(value) ? { json: value } : undefined
    case "null":
      return value === null ? { json: value } : undefined
    default:
      return typeof value === schema["type"] ? { json: value } : undefined
  }
}

/** What a strict provider refuses in a schema. */
export const refused = (schema: JsonSchema): ReadonlyArray<string> => {
  const broken: Array<string> = []
  const visit = (node: unknown, isNames: boolean): void => {
    if (Array.isArray(node)) return node.forEach((item) => visit(item, false))
    if (typeof node !== "object" || node === null) return
    const at = node as JsonSchema
    if (!isNames) {
      if ("oneOf" in at) broken.push("oneOf")
      if (at["type"] === "object") {
        const keys = Object.keys(at["properties"] ?? {})
        if (at["additionalProperties"] !== false) broken.push("additional properties")
        if (keys.some((key) => !at["required"]?.includes(key))) broken.push("a key that is not required")
      }
    }
    for (const [key, item] of Object.entries(at)) {
      if (isNames || !["enum", "const"].includes(key)) visit(item, !isNames && ["properties", "$defs"].includes(key))
    }
  }
  visit(schema, false)
  return schema["type"] === "object" ? broken : ["a root that is no object", ...broken]
}

const check = (options: LanguageModelV4CallOptions, wantsObjects: boolean): ReadonlyArray<string> => [
  ...(options.tools ?? []).flatMap((tool) =>
    tool.type !== "function" ? [] : [
      ...refused(tool.inputSchema as JsonSchema).map((what) => `${tool.name}: ${what}`),
      ...(tool.strict === true ? [] : [`${tool.name}: not strict`])
    ]
  ),
  ...(options.responseFormat?.type === "json"
    ? refused(options.responseFormat.schema as JsonSchema).map((what) => `answer: ${what}`)
    : []),
  ...(wantsObjects
    ? resultsOf(options).filter((output) => !isObject(output)).map(({ type }) => `a result of ${type}`)
    : [])
]

const resultsOf = ({ prompt }: LanguageModelV4CallOptions): ReadonlyArray<LanguageModelV4ToolResultOutput> =>
  prompt.flatMap((message) =>
    message.role === "tool"
      ? message.content.flatMap((part) => part.type === "tool-result" ? [part.output] : [])
      : []
  )

const isObject = (output: LanguageModelV4ToolResultOutput): boolean =>
  (output.type === "json" || output.type === "error-json") && typeof output.value === "object" &&
  output.value !== null && !Array.isArray(output.value)

const held = (schema: JsonSchema, value: Json): Json => {
  const written = write(schema, value)
  if (written === undefined) {
    throw new Error(`no model can write ${JSON.stringify(value)} for ${JSON.stringify(schema)}`)
  }
  return written.json
}

const streamed = (content: LanguageModelV4Content, index: number): ReadonlyArray<LanguageModelV4StreamPart> => {
  const id = String(index)
  switch (content.type) {
    case "text":
      return [
        { type: "text-start", id },
        { type: "text-delta", id, delta: content.text },
        { type: "text-end", id }
      ]
    case "tool-call":
      return [
        { type: "tool-input-start", id: content.toolCallId, toolName: content.toolName },
        { type: "tool-input-delta", id: content.toolCallId, delta: content.input },
        { type: "tool-input-end", id: content.toolCallId },
        content
      ]
    default:
      return [content as LanguageModelV4StreamPart]
  }
}
