/**
 * A model that needs no key and no network: it follows the programs. It counts
 * how often it is asked, so that the walk can tell that it was not.
 */
import { type Message, type ModelClient, ModelError, ModelRegistry } from "@mandate/core"
import { Context, Effect, Layer, Ref } from "effect"
import * as Programs from "./Programs.ts"

/** How often the model was asked. */
export class ModelCalls extends Context.Service<ModelCalls, Ref.Ref<number>>()("posture-desk/ModelCalls") {}

const identity = { provider: "scripted", modelId: "posture-desk" }

/** What each response costs. */
const usage = { inputTokens: { total: 50 }, outputTokens: { total: 10 } }

/** Layer of a registry whose only model is the scripted one, and of its count. */
export const layer = (delayMillis: number): Layer.Layer<ModelRegistry.ModelRegistry | ModelCalls> =>
  Layer.unwrap(Effect.map(ModelCalls, (calls) => ModelRegistry.layer({ default: client(calls, delayMillis) }))).pipe(
    Layer.provideMerge(Layer.effect(ModelCalls, Ref.make(0)))
  )

const client = (calls: Ref.Ref<number>, delayMillis: number): ModelClient.ModelClient => ({
  ...identity,
  generate: Effect.fnUntraced(function*({ messages }, { agentId, step }) {
    yield* Ref.update(calls, (count) => count + 1)
    if (delayMillis > 0) yield* Effect.sleep(delayMillis)
    const move = Programs.next(agentId, messages)
    if (move === undefined) {
      return yield* new ModelError.ModelError({
        ...identity,
        reason: "unknown",
        detail: "there is no program for this posture"
      })
    }
    const { calls: made = [], text } = move
    const parts: ReadonlyArray<Message.AssistantPart> = [
      ...(text === "" ? [] : [{ type: "text" as const, text }]),
      ...made.map((call, index) => ({
        type: "tool-call" as const,
        id: `call-${step}-${index}`,
        name: call.tool,
        arguments: JSON.stringify(call.arguments)
      }))
    ]
    return { parts, finishReason: made.length === 0 ? "stop" as const : "tool-calls" as const, usage }
  })
})
