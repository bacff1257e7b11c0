/**
 * A model that needs no key and no network: it follows a program that reacts
 * to the results of tools, as a language model would.
 */
import { type Message, type ModelClient, ModelError, ModelRegistry, type ModelResponse } from "@mandate/core"
import { Effect, type Layer, Result } from "effect"
import type { Move, Program } from "./Program.ts"
import * as ScriptedAuditor from "./ScriptedAuditor.ts"
import * as ScriptedParent from "./ScriptedParent.ts"

/** The programs, by agent. */
export const programs: { readonly [agentId: string]: Program } = {
  "link-audit": ScriptedParent.next,
  auditor: ScriptedAuditor.next
}

const identity = { provider: "scripted", modelId: "link-audit" }

/** Makes a model of programs by agent. */
export const make = (programs: { readonly [agentId: string]: Program }): ModelClient.ModelClient => ({
  ...identity,
  generate: ({ messages }, { agentId, step }) =>
    Effect.suspend(() =>
      Result.match(programs[agentId]?.(messages) ?? Result.fail("there is no program for this agent"), {
        onSuccess: (move) => Effect.succeed(response(move, messages, step)),
        onFailure: (detail) => Effect.fail(new ModelError.ModelError({ ...identity, reason: "unknown", detail }))
      })
    )
})

/** Layer of a registry whose only model is the scripted one. */
export const layer: Layer.Layer<ModelRegistry.ModelRegistry> = ModelRegistry.layer({ default: make(programs) })

const response = (move: Move, messages: ReadonlyArray<Message.Message>, step: number): ModelResponse.ModelResponse => {
  const parts: ReadonlyArray<Message.AssistantPart> = "text" in move
    ? [{ type: "text", text: move.text }]
    : move.calls.map((call, index) => ({
      type: "tool-call",
      id: `call-${step}-${index}`,
      name: call.tool,
      arguments: JSON.stringify(call.arguments)
    }))
  return {
    parts,
    finishReason: "text" in move ? "stop" : "tool-calls",
    usage: {
      inputTokens: { total: messages.reduce((sum, message) => sum + tokens(message), 0) },
      outputTokens: { total: tokens(parts) }
    }
  }
}

// A message is in every later request of its run.
const known = new WeakMap<object, number>()

/** About four characters make a token. */
const tokens = (value: object): number => {
  const counted = known.get(value) ?? Math.ceil(JSON.stringify(value).length / 4)
  known.set(value, counted)
  return counted
}
