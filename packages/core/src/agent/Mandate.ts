/**
 * The runtime that agents are bound to, as layers.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schedule from "effect/Schedule"
import * as LocalHost from "../run/LocalHost.ts"
import * as AgentRegistry from "../service/AgentRegistry.ts"
import { IdSource } from "../service/IdSource.ts"
import * as Leases from "../service/Leases.ts"
import { Mandate } from "../service/Mandate.ts"
import * as MemoryRunStore from "../service/MemoryRunStore.ts"
import * as RunEvents from "../service/RunEvents.ts"
import { RunStore } from "../service/RunStore.ts"
import { RuntimeConfig } from "../service/RuntimeConfig.ts"
import * as StoreFailure from "../service/StoreFailure.ts"
import * as Options from "../values/Options.ts"

export {
  /**
   * Service that bundles what agents run on.
   *
   * @category services
   * @since 0.1.0
   */
  Mandate
}

/**
 * Layer with the runtime over the `RunStore` it is given. Runs are driven in
 * this process. Closing it interrupts them and leaves them open, to be
 * recovered. A `leaseRenewal` that is not less than the `leaseTtl` is a defect.
 *
 * **Example** (Another store, another lease)
 *
 * ```ts
 * import { Mandate, MemoryRunStore } from "@mandate/core"
 * import { Layer } from "effect"
 *
 * const runtime = Mandate.layer.pipe(
 *   Layer.provide(MemoryRunStore.layer),
 *   Layer.provide(Mandate.layerConfig({ leaseTtl: "30 seconds", leaseRenewal: "10 seconds" }))
 * )
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<Mandate, never, RunStore> = Layer.effect(
  Mandate,
  Effect.gen(function*() {
    const store = StoreFailure.logged(yield* RunStore)
    const config = yield* RuntimeConfig
    const ids = yield* IdSource
    const holder = yield* ids.instanceId
    const ttl = Duration.toMillis(config.leaseTtl)
    const renewal = Duration.toMillis(config.leaseRenewal)
    // Between two renewals every thread would be free for another process to take.
    if (!(renewal > 0 && renewal < ttl)) {
      return yield* Effect.die(
        new RangeError(`leaseRenewal must be positive and less than leaseTtl, ${ttl} ms, not ${renewal} ms`)
      )
    }
    const leases = Leases.make(store, holder, ttl)
    const events = RunEvents.make()
    yield* Effect.addFinalizer(() => Effect.ignore(store.release(holder)))
    yield* leases.renew.pipe(
      Effect.catchCause((cause) => Effect.logError("The leases could not be renewed", cause)),
      Effect.repeat(Schedule.spaced(config.leaseRenewal)),
      Effect.forkScoped
    )
    // Closed before the leases are given back: finalizers run in reverse order.
    const lease = leases.request
    const host = yield* LocalHost.make({ store, events, lease, ...config })
    return Mandate.of({ store, host, agents: AgentRegistry.make(), events, lease, leases, newThreadId: ids.threadId })
  })
)

/**
 * Layer with the whole runtime in memory. Runs are lost with the process.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerMemory: Layer.Layer<Mandate> = Layer.provide(layer, MemoryRunStore.layer)

/**
 * Times of a runtime, those of `RuntimeConfig`. One that is absent stays as it
 * was.
 *
 * @category models
 * @since 0.1.0
 */
export type Times = { readonly [K in keyof (typeof RuntimeConfig)["Service"]]?: Duration.Input }

/**
 * Layer that sets times of the runtimes it is provided to.
 *
 * **Gotchas**
 *
 * All processes on one store should have the same `leaseTtl`, and a
 * `leaseRenewal` of a third of it or less. Times that are not valid are a
 * defect, an `InvalidOptions`.
 *
 * @category layers
 * @since 0.1.0
 */
export const layerConfig = (times: Times): Layer.Layer<never> =>
  Layer.effect(
    RuntimeConfig,
    Effect.flatMap(Options.orDie("Mandate.layerConfig", decodeTimes(times)), (given) =>
      Effect.map(RuntimeConfig, (before) => ({
        leaseTtl: Duration.fromInputUnsafe(given.leaseTtl ?? before.leaseTtl),
        leaseRenewal: Duration.fromInputUnsafe(given.leaseRenewal ?? before.leaseRenewal),
        cancelGrace: Duration.fromInputUnsafe(given.cancelGrace ?? before.cancelGrace),
        closeGrace: Duration.fromInputUnsafe(given.closeGrace ?? before.closeGrace)
      })))
  )

const time = Options.checked<Duration.Input>("a finite duration from 0 on", (value) => {
  const millis = Options.millisOf(value)
  return millis >= 0 && millis < Number.POSITIVE_INFINITY
})
const decodeTimes = Options.make<Times>("time", {
  leaseTtl: time,
  leaseRenewal: time,
  cancelGrace: time,
  closeGrace: time
})
