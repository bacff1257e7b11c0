/**
 * Requests of a contract, and the ways to ask them.
 *
 * @since 0.1.0
 */
import type { ModelClient, ModelError, ModelRequest } from "@mandate/core"
import { Message, ModelResponse } from "@mandate/core"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as FrozenCopy from "../FrozenCopy.ts"
import { ContractViolation } from "./Violation.ts"

/**
 * A request with one user message and the tool `get_weather`, frozen, and
 * whatever differs.
 *
 * @category constructors
 * @since 0.1.0
 */
export const request = (more: Partial<ModelRequest.ModelRequest> = {}): ModelRequest.ModelRequest =>
  FrozenCopy.make({
    messages: [Message.userText("How warm is it?")],
    tools: [{
      name: "get_weather",
      description: "Weather of a city",
      inputSchema: {
        type: "object",
        properties: { city: { type: "string" } },
        required: ["city"],
        additionalProperties: false
      }
    }],
    toolChoice: "auto",
    settings: {},
    ...more
  })

/**
 * A way to ask for a response, named as in the client.
 *
 * @category models
 * @since 0.1.0
 */
export interface Way {
  readonly name: "generate" | "stream"
  readonly ask: (
    client: ModelClient.ModelClient,
    request: ModelRequest.ModelRequest
  ) => Effect.Effect<ModelResponse.ModelResponse, ModelError.ModelError | ContractViolation>
}

/**
 * Asks for the whole response.
 *
 * @category constants
 * @since 0.1.0
 */
export const generate: Way = {
  name: "generate",
  ask: (client, request) => Effect.flatMap(client.generate(request, call), checked)
}

/**
 * Asks for the response in pieces, and puts it together as the loop does.
 *
 * @category constants
 * @since 0.1.0
 */
export const stream: Way = {
  name: "stream",
  ask: (client, request) =>
    Effect.flatMap(pieces(client, request), (all) => {
      const last = all.at(-1)
      const { type: _, ...finish } = last?.type === "finish" ? last : noFinish
      return checked({ ...finish, parts: all.flatMap((piece) => piece.type === "part" ? [piece.part] : []) })
    })
}

/**
 * Asks for the response in pieces.
 *
 * @category running
 * @since 0.1.0
 */
export const pieces = (
  client: ModelClient.ModelClient,
  request: ModelRequest.ModelRequest
): Effect.Effect<ReadonlyArray<ModelResponse.ModelStreamPart>, ModelError.ModelError | ContractViolation> =>
  client.stream === undefined
    ? Effect.fail(new ContractViolation({ problem: "the client does not stream" }))
    : Stream.runCollect(client.stream(request, call))

const call: ModelRequest.ModelCall = {
  agentId: "agent",
  agentPath: ["agent"],
  threadId: "thread-1",
  runId: "thread-1#0",
  depth: 0,
  step: 0,
  attempt: 0,
  call: undefined
}

const noFinish = {
  type: "finish" as const,
  finishReason: "interrupted" as const,
  usage: { inputTokens: {}, outputTokens: {} }
}

const isResponse = Schema.is(ModelResponse.ModelResponse)

const checked = (
  response: ModelResponse.ModelResponse
): Effect.Effect<ModelResponse.ModelResponse, ContractViolation> =>
  isResponse(response)
    ? Effect.succeed(response)
    : Effect.fail(new ContractViolation({ problem: "the response does not have the shape of one" }))
