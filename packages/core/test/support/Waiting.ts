/** Runs that wait for people over several processes, on one store and one model. */
import type { Mandate, ModelRegistry, RunStore } from "@mandate/core"
import { type Script, ScriptedModel, StrictProvider, TestRuntime } from "@mandate/testing"
import { Effect, Layer, Schema, type Scope } from "effect"
import * as Tool from "effect/ai/Tool"
import type { Place } from "./Backings.ts"
import * as CrashingStore from "./CrashingStore.ts"

/** Runs effects one after the other, each in a process of its own, on one store and one model. */
export interface Processes {
  readonly model: ScriptedModel.ScriptedModel["Service"]
  readonly next: InProcess

  /** The same in a process that dies at the end of the effect: nothing is given back, and nothing written later. */
  readonly die: InProcess
}

type InProcess = <A, E>(
  effect: Effect.Effect<A, E, Mandate.Mandate | ModelRegistry.ModelRegistry | Scope.Scope>
) => Effect.Effect<A, E>

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
  // Two of them at once are two processes.
  const runtime = (opened: Store) =>
    Layer.fresh(Layer.merge(TestRuntime.layerStore(opened, `process-${++started}`), StrictProvider.layer(registry)))
  const open = Effect.isEffect(store) ? store : Effect.succeed(store)
  return {
    model,
    next: (effect) => Effect.provide(Effect.scoped(effect), Layer.unwrap(Effect.map(open, runtime))),
    die: (effect) =>
      Effect.scoped(Effect.gen(function*() {
        const { kill, store } = CrashingStore.crashing(yield* open, Number.POSITIVE_INFINITY)
        return yield* Effect.provide(Effect.scoped(Effect.tap(effect, () => Effect.sync(kill))), runtime(store))
      }))
  }
}

// No two processes are one.
let started = 0

/** A tool that needs approval, with the arguments it takes. */
export const gated = <const Name extends string, Fields extends Schema.Struct.Fields>(name: Name, fields: Fields) =>
  Tool.make(name, { parameters: Schema.Struct(fields), success: Schema.String, needsApproval: true })
