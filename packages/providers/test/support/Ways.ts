/** The two ways in which a model is asked. */
import type { Message, ModelClient, ModelError, ModelRequest, ModelResponse } from "@mandate/core"
import { Effect, Stream } from "effect"
import * as Requests from "./Requests.ts"

/** Asks a model and gives the response, whichever way it came. */
export type Way = (
  client: ModelClient.ModelClient,
  request?: ModelRequest.ModelRequest
) => Effect.Effect<ModelResponse.ModelResponse, ModelError.ModelError>

export const whole: Way = (client, request = Requests.make()) => client.generate(request, Requests.call)

export const streamed: Way = (client, request = Requests.make()) =>
  Effect.map(Stream.runCollect(client.stream!(request, Requests.call)), (pieces) => {
    const finish = pieces.at(-1)
    if (finish?.type !== "finish") throw new Error("the stream ended without a finish")
    const { type: _, ...rest } = finish
    const parts: Array<Message.AssistantPart> = []
    for (const piece of pieces) if (piece.type === "part") parts.push(piece.part)
    return { parts, ...rest }
  })

export const ways: ReadonlyArray<readonly [name: string, way: Way]> = [["whole", whole], ["streamed", streamed]]
