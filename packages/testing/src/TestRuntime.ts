/**
 * The runtime as tests want it: in memory, with fixed ids, closing at once.
 *
 * @since 0.1.0
 */
import { IdSource, Mandate, MemoryRunStore, RunStore } from "@mandate/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as FixedIds from "./FixedIds.ts"

/**
 * Times of the runtime for tests: the defaults, but closing waits for nothing.
 *
 * **Details**
 *
 * Closing waits in real time, which no test clock can move.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig: Layer.Layer<never> = Mandate.layerConfig({ closeGrace: 0 })

/**
 * Layer with the runtime over a store. Several on one store stand for several
 * processes; give each an `instance` of its own, which holds its leases.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerStore = (
  store: RunStore.RunStore["Service"],
  instance = "instance-1"
): Layer.Layer<Mandate.Mandate> =>
  Mandate.layer.pipe(
    Layer.provide(Layer.succeed(RunStore.RunStore, store)),
    Layer.provide(layerConfig),
    Layer.provide(Layer.effect(
      IdSource,
      Effect.map(IdSource, (ids) => ({ ...ids, instanceId: Effect.succeed(instance) }))
    )),
    Layer.provide(FixedIds.layer)
  )

/**
 * Layer with the runtime over a store of its own.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<Mandate.Mandate> = Layer.suspend(() => layerStore(MemoryRunStore.make()))
