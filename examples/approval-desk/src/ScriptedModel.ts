/**
 * A model that needs no key and no network: it follows the programs.
 */
import { type Message, type ModelClient, ModelError, ModelRegistry } from "@mandate/core"
import { Effect, type Layer } from "effect"
import * as Programs from "./Programs.ts"

const identity = { provider: "scripted", modelId: "approval-desk" }

const client: ModelClient.ModelClient = {
  ...identity,
  generate: ({ messages }, { agentId, step }) =>
    Effect.suspend(() => {
      const move = Programs.next(agentId, messages)
      if (move === undefined) {
        return Effect.fail(
          new ModelError.ModelError({ ...identity, reason: "unknown", detail: "there is no program for this agent" })
        )
      }
      const parts: ReadonlyArray<Message.AssistantPart> = "text" in move
        ? [{ type: "text", text: move.text }]
        : move.calls.map((call, index) => ({
          type: "tool-call",
          id: `call-${step}-${index}`,
          name: call.tool,
          arguments: JSON.stringify(call.arguments)
        }))
      return Effect.succeed({
        parts,
        finishReason: "text" in move ? "stop" as const : "tool-calls" as const,
        usage: { inputTokens: {}, outputTokens: {} }
      })
    })
}

/** Layer of a registry whose only model is the scripted one. */
export const layer: Layer.Layer<ModelRegistry.ModelRegistry> = ModelRegistry.layer({ default: client })
