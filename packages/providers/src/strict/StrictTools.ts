/**
 * Requests and responses of a model that is held to the schemas of its tools.
 *
 * **Details**
 *
 * Invariant: what the loop sees and stores is the plain form. Only what goes
 * to the provider, and what comes from it, is rewritten.
 *
 * @since 0.1.0
 */
import type { Message, ModelRequest, ModelResponse } from "@mandate/core"
import { Json } from "@mandate/core"
import * as Result from "effect/Result"
import type { Family } from "./Family.ts"
import type { JsonSchema } from "./Keywords.ts"
import * as StrictSchema from "./StrictSchema.ts"

/**
 * What is done for one model.
 *
 * **Details**
 *
 * - `refusesSchema`: why a schema cannot be sent, as `ModelClient` has it
 * - `send`: the request with strict schemas
 * - `receive`: a part of the response to that request, in plain form
 * - `receivePiece`: the same of a streamed response. Deltas stay as they are
 *
 * @category models
 * @since 0.1.0
 */
export interface StrictTools {
  readonly refusesSchema: (schema: JsonSchema) => string | undefined
  readonly send: (request: ModelRequest.ModelRequest) => ModelRequest.ModelRequest
  readonly receive: (
    request: ModelRequest.ModelRequest,
    response: ModelResponse.ModelResponse
  ) => ModelResponse.ModelResponse
  readonly receivePiece: (
    request: ModelRequest.ModelRequest,
    piece: ModelResponse.ModelStreamPart
  ) => ModelResponse.ModelStreamPart
}

/**
 * Makes them for a family of providers.
 *
 * **Details**
 *
 * A schema is rewritten once. A tool that says `strict: false`, and one whose
 * schema cannot be rewritten, are sent as they are. So is the schema of a
 * native answer, which is made for strict providers.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (family: Family): StrictTools => {
  const known = new WeakMap<JsonSchema, Rewritten>()
  const rewrite = (schema: JsonSchema): Rewritten => {
    const made = known.get(schema) ?? StrictSchema.rewrite(schema, family)
    known.set(schema, made)
    return made
  }

  const sentTool = (tool: ModelRequest.ModelTool): ModelRequest.ModelTool => {
    if (tool.strict === false) return tool
    const made = rewrite(tool.inputSchema)
    return Result.isFailure(made) ? tool : { ...tool, inputSchema: made.success.schema, strict: true }
  }

  const plainCall = (
    tools: ReadonlyArray<ModelRequest.ModelTool>,
    part: Message.ToolCallPart
  ): Message.ToolCallPart => {
    const tool = tools.find(({ name }) => name === part.name)
    if (tool === undefined || tool.strict === false || part.providerExecuted === true) return part
    // Written again, a long number could lose digits without a trace; as it is, the loop sees what it was.
    if (longNumber.test(part.arguments)) return part
    const made = rewrite(tool.inputSchema)
    const written = Json.parse(part.arguments, maxArgumentBytes)
    if (Result.isFailure(made) || Result.isFailure(written)) return part
    const plain = made.success.restore(written.success)
    return plain === written.success ? part : { ...part, arguments: JSON.stringify(plain) }
  }

  const plainPart = (request: ModelRequest.ModelRequest, part: Message.AssistantPart): Message.AssistantPart =>
    part.type === "tool-call" ? plainCall(request.tools, part) : part

  return {
    refusesSchema: (schema) =>
      Result.match(rewrite(schema), { onFailure: (reason) => reason, onSuccess: () => undefined }),
    send: (request) => ({
      ...request,
      tools: request.tools.map(sentTool),
      messages: family === "google" ? request.messages.map(withObjects) : request.messages
    }),
    receive: (request, response) => ({ ...response, parts: response.parts.map((part) => plainPart(request, part)) }),
    receivePiece: (request, piece) =>
      piece.type === "part" ? { type: "part", part: plainPart(request, piece.part) } : piece
  }
}

const longNumber = /[\d.]{16}|\d[eE][+-]?\d/

type Rewritten = Result.Result<StrictSchema.StrictSchema, string>

// As much as a model can write; the loop has its own bound.
const maxArgumentBytes = 4_194_304

const converted = new WeakMap<Message.Message, Message.Message>()

// A message is converted once, however many requests it is in.
const withObjects = (message: Message.Message): Message.Message => {
  if (message.role !== "tool") return message
  const made = converted.get(message) ??
    { role: "tool", content: message.content.map((part) => ({ ...part, output: objectOf(part) })) }
  converted.set(message, made)
  return made
}

const objectOf = ({ isError, output }: Message.ToolResultPart): Message.ToolOutput => {
  if (output.type !== "text" && output.type !== "json") return output
  const { value } = output
  const isObject = typeof value === "object" && value !== null && !Array.isArray(value)
  return isObject ? output : { type: "json", value: { [isError ? "error" : "result"]: value } }
}
