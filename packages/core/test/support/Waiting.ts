import type { Mandate, ModelRegistry, RunStore } from "@mandate/core"
import { type Script, ScriptedModel, StrictProvider, TestRuntime } from "@mandate/testing"
import { Effect, Layer, Schema, type Scope } from "effect"
import * as Tool from "effect/ai/Tool"
import type { Place } from "./Backings.ts"

/** Runs effects one after the other, each in a process of its own, on one store and one model. */
export interface Processes {
  readonly model: ScriptedModel.ScriptedModel["Service"]
  readonly next: <A, E>(
    effect: Effect.Effect<A, E, Mandate.Mandate | ModelRegistry.ModelRegistry | Scope.Scope>
  ) => Effect.Effect<A, E>
}

type Store = RunStore.RunStore["Service"]

/** The processes share a store, or each opens it for itself where it is kept. */
export const processes = (
  store: Store | Place,
  scripts: Script.Scripts
): Effect.Effect<Processes, never, Scope.Scope> =>
  Effect.map(ScriptedModel.make(scripts), (model) => processesOf(store, model))

/** The same, with a model that is there already; `registry` is how the agents find it. */
export const processesOf = (
  store: Store | Place,
  model: ScriptedModel.ScriptedModel["Service"],
  registry: Layer.Layer<ScriptedModel.ScriptedModel | ModelRegistry.ModelRegistry> = ScriptedModel.layerOf(model)
): Processes => {
  let started = 0
  return {
    model,
    next: (effect) =>
      Effect.suspend(() =>
        Effect.scoped(effect).pipe(
          Effect.provide(Layer.merge(runtime(store, `process-${++started}`), StrictProvider.layer(registry)))
        )
      )
  }
}

const runtime = (store: Store | Place, name: string) =>
  Layer.unwrap(Effect.map(
    Effect.isEffect(store) ? store : Effect.succeed(store),
    (opened) => TestRuntime.layerStore(opened, name)
  ))

/** A tool that needs approval, with the arguments it takes. */
export const gated = <const Name extends string, Fields extends Schema.Struct.Fields>(name: Name, fields: Fields) =>
  Tool.make(name, { parameters: Schema.Struct(fields), success: Schema.String, needsApproval: true })
