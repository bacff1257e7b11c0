/** An `effect/ai` model that does what the contract of model clients says. */
import type { Message, ModelError, ModelResponse } from "@mandate/core"
import { ModelClientContract } from "@mandate/testing"
import { DateTime, Effect, Result, Stream } from "effect"
import { AiError, LanguageModel, type Prompt, type Response } from "effect/ai"
import { halves } from "./V4Turns.ts"

const { secret } = ModelClientContract

/** The provider options of the requests that a model got, and how many of its calls were interrupted. */
export interface Seen {
  readonly requests: Array<LanguageModel.ProviderOptions>
  interrupted: number
}

/** A model that takes one turn for each call. */
export const make = (turns: ReadonlyArray<ModelClientContract.Turn>) => {
  const seen: Seen = { requests: [], interrupted: 0 }
  let next = 0
  const take = (options: LanguageModel.ProviderOptions): Effect.Effect<ModelResponse.ModelResponse, AiError.AiError> =>
    Effect.suspend(() => {
      seen.requests.push(options)
      const turn = turns[next++]
      switch (turn?._tag) {
        case "Respond":
          return Effect.succeed(turn.response)
        case "Fail":
          return Effect.fail(errorOf(reasons[turn.reason]()))
        case "Hang":
          return Effect.onInterrupt(Effect.never, () =>
            Effect.sync(() => {
              seen.interrupted++
            }))
        case undefined:
          return Effect.die("asked too often")
      }
    })
  return Effect.map(
    LanguageModel.make({
      generateText: (options) => Effect.map(take(options), toParts),
      streamText: (options) =>
        Stream.unwrap(Effect.map(take(options), (response) => Stream.fromIterable(toStreamParts(response))))
    }),
    (model) => ({ model, seen })
  )
}

export const errorOf = (reason: AiError.AiErrorReason): AiError.AiError =>
  AiError.make({ module: secret, method: secret, reason })

/** The request as the model got it, in the words of the contract. */
export const toSent = ({ prompt, tools }: LanguageModel.ProviderOptions): ModelClientContract.Sent => ({
  tools: tools.map(({ name }) => name),
  parts: prompt.content.flatMap((message) =>
    message.role === "system"
      ? [{ type: "text" as const, role: message.role, text: message.content }]
      : message.content.flatMap((part) => toSentPart(message.role, part))
  )
})

const toSentPart = (
  role: Prompt.Message["role"],
  part: Prompt.Part
): ReadonlyArray<ModelClientContract.SentPart> => {
  const metadata = Object.keys(part.options).length === 0
    ? {}
    : { providerMetadata: part.options as Message.ProviderMetadata }
  switch (part.type) {
    case "text":
      return [{ type: "text", role: role as "user", text: part.text, ...metadata }]
    case "reasoning":
      return [{ type: "reasoning", text: part.text, ...metadata }]
    case "tool-call":
      return [{ type: "call", id: part.id, name: part.name, arguments: part.params as never, ...metadata }]
    case "tool-result":
      return [{
        type: "result",
        id: part.id,
        name: part.name,
        output: part.result as never,
        isError: part.isFailure,
        ...metadata
      }]
    default:
      return []
  }
}

const metadataOf = (part: Message.AssistantPart) =>
  part.providerMetadata === undefined ? {} : { metadata: part.providerMetadata as Response.ProviderMetadata }

const toParts = (response: ModelResponse.ModelResponse): Array<Response.PartEncoded> => [
  responseMetadata,
  ...response.parts.map(toPart),
  toFinish(response)
]

const responseMetadata: Response.ResponseMetadataPartEncoded = {
  type: "response-metadata",
  id: "resp_1",
  modelId: "m-1",
  timestamp: DateTime.formatIso(DateTime.makeUnsafe(0))
}

const toPart = (part: Message.AssistantPart): Response.TextPartEncoded | Response.ReasoningPartEncoded | Call => {
  switch (part.type) {
    case "text":
      return { type: "text", text: part.text, ...metadataOf(part) }
    case "reasoning":
      return { type: "reasoning", text: part.text, ...metadataOf(part) }
    case "tool-call":
      return toCall(part)
    default:
      throw new Error(`the contract has no ${part.type}`)
  }
}

type Call = Response.ToolCallPartEncoded

// Clients of `effect/ai` parse the arguments.
const toCall = (part: Message.ToolCallPart): Call => ({
  type: "tool-call",
  id: part.id,
  name: part.name,
  params: Result.getOrElse(Result.try(() => JSON.parse(part.arguments) as unknown), () => part.arguments),
  ...metadataOf(part)
})

const toStreamParts = (response: ModelResponse.ModelResponse): ReadonlyArray<Response.StreamPartEncoded> => [
  responseMetadata,
  ...response.parts.flatMap((part, index): ReadonlyArray<Response.StreamPartEncoded> => {
    const id = String(index)
    switch (part.type) {
      case "text":
      case "reasoning":
        return [
          { type: `${part.type}-start`, id },
          ...halves(part.text).map((delta) => ({ type: `${part.type}-delta` as const, id, delta })),
          { type: `${part.type}-end`, id, ...metadataOf(part) }
        ]
      case "tool-call":
        return [
          { type: "tool-params-start", id: part.id, name: part.name },
          ...halves(part.arguments).map((delta) => ({ type: "tool-params-delta" as const, id: part.id, delta })),
          { type: "tool-params-end", id: part.id },
          toCall(part)
        ]
      default:
        throw new Error(`the contract has no ${part.type}`)
    }
  }),
  toFinish(response)
]

const toFinish = ({ finishReason, usage }: ModelResponse.ModelResponse): Response.FinishPartEncoded => ({
  type: "finish",
  reason: finishReason === "interrupted" ? "unknown" : finishReason,
  usage
})

const http = (body = secret) => ({
  response: { status: 499, headers: { secret } },
  body
})

/** The reason that a client of `effect/ai` gives for a failure. */
export const reasons: { readonly [reason in ModelError.ModelErrorReason]: () => AiError.AiErrorReason } = {
  "rate-limited": () => new AiError.RateLimitError({ http: http() }),
  "quota-exceeded": () => new AiError.QuotaExhaustedError({ http: http() }),
  overloaded: () => new AiError.InternalProviderError({ description: secret, http: http() }),
  network: () =>
    new AiError.NetworkError({
      reason: "TransportError",
      method: "POST",
      url: `https://${secret}.test`,
      description: secret
    }),
  authentication: () => new AiError.AuthenticationError({ kind: "InvalidKey", description: secret, http: http() }),
  "content-filtered": () => new AiError.ContentPolicyError({ description: secret, http: http() }),
  "context-too-long": () =>
    new AiError.InvalidRequestError({
      description: secret,
      http: http(JSON.stringify({ error: { code: "context_length_exceeded", message: secret } }))
    }),
  "invalid-request": () => new AiError.InvalidRequestError({ parameter: secret, description: secret, http: http() }),
  "invalid-response": () => new AiError.InvalidOutputError({ description: secret }),
  unsupported: () => new AiError.InvalidUserInputError({ description: secret }),
  unknown: () => new AiError.UnknownError({ description: secret, http: http() })
}
