import type { Mandate, ModelRegistry, RunStore } from "@mandate/core"
import { type Script, ScriptedModel, StrictProvider, TestRuntime } from "@mandate/testing"
import { Effect, Layer, Schema, type Scope } from "effect"
import * as Tool from "effect/ai/Tool"

/** Runs effects one after the other, each in a process of its own, on one store and one model. */
export interface Processes {
  readonly model: ScriptedModel.ScriptedModel["Service"]
  readonly next: <A, E>(
    effect: Effect.Effect<A, E, Mandate.Mandate | ModelRegistry.ModelRegistry | Scope.Scope>
  ) => Effect.Effect<A, E>
}

export const processes = (
  store: RunStore.RunStore["Service"],
  scripts: Script.Scripts
): Effect.Effect<Processes, never, Scope.Scope> =>
  Effect.map(ScriptedModel.make(scripts), (model) => processesOf(store, model))

/** The same, with a model that is there already. */
export const processesOf = (
  store: RunStore.RunStore["Service"],
  model: ScriptedModel.ScriptedModel["Service"]
): Processes => {
  let started = 0
  return {
    model,
    next: (effect) =>
      Effect.suspend(() =>
        Effect.scoped(effect).pipe(
          Effect.provide(Layer.merge(
            TestRuntime.layerStore(store, `process-${++started}`),
            StrictProvider.layer(ScriptedModel.layerOf(model))
          ))
        )
      )
  }
}

/** A tool that needs approval, with the arguments it takes. */
export const gated = <const Name extends string, Fields extends Schema.Struct.Fields>(name: Name, fields: Fields) =>
  Tool.make(name, { parameters: Schema.Struct(fields), success: Schema.String, needsApproval: true })
