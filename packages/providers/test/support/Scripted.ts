/** Scripted models with names of their own. */
import type { ModelClient } from "@mandate/core"
import { ModelError } from "@mandate/core"
import { Script, ScriptedModel, type Step } from "@mandate/testing"
import { Effect, type Scope, Stream } from "effect"

/** A model that does the same at every call, and counts its calls. */
export const always = Effect.fnUntraced(function*(
  name: string,
  step: Step.Step
): Effect.fn.Return<
  { readonly client: ModelClient.ModelClient; readonly calls: Effect.Effect<number> },
  never,
  Scope.Scope
> {
  const { calls, client } = yield* ScriptedModel.make({ agent: Script.program(() => step) })
  const named = (error: ModelError.ModelError) =>
    new ModelError.ModelError({ ...error, provider: name, modelId: "m" } as never)
  return {
    calls,
    client: {
      provider: name,
      modelId: "m",
      structuredAnswers: true,
      generate: (request, call) => Effect.mapError(client.generate(request, call), named),
      stream: (request, call) => Stream.mapError(client.stream!(request, call), named)
    }
  }
})
