import { assert, describe, it } from "@effect/vitest"
import { Mandate, MemoryRunStore, RunStore, RuntimeConfig } from "@mandate/core"
import { TestRuntime } from "@mandate/testing"
import { Cause, Duration, Effect, Exit, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import { by, open } from "../support/StoreRows.ts"

const millis = Effect.map(
  RuntimeConfig,
  (config) => [config.leaseTtl, config.leaseRenewal, config.cancelGrace, config.closeGrace].map(Duration.toMillis)
)

const lease = Effect.flatMap(Mandate.Mandate, (runtime) => Effect.map(runtime.lease, ({ ttl }) => ttl))

describe("Mandate.layerConfig", () => {
  it.effect("sets the times it is given, and leaves the others as they were", () =>
    Effect.gen(function*() {
      const some = Mandate.layerConfig({ leaseTtl: "30 seconds", closeGrace: 0 })
      const more = Mandate.layerConfig({ leaseRenewal: Duration.seconds(1), cancelGrace: "1 minute" })

      assert.deepStrictEqual(yield* millis, [15_000, 5000, 5000, 5000])
      assert.deepStrictEqual(yield* Effect.provide(millis, Mandate.layerConfig({})), [15_000, 5000, 5000, 5000])
      assert.deepStrictEqual(yield* Effect.provide(millis, some), [30_000, 5000, 5000, 0])
      assert.deepStrictEqual(yield* Effect.provide(millis, Layer.provideMerge(more, some)), [30_000, 1000, 60_000, 0])
    }))

  it.effect("holds for the runtimes it is provided to", () =>
    Effect.gen(function*() {
      const config = Mandate.layerConfig({ leaseTtl: "30 seconds", closeGrace: 0 })
      const set = yield* Effect.provide(lease, Layer.provide(Mandate.layerMemory, config))
      const unset = yield* Effect.provide(lease, Mandate.layerMemory)

      assert.deepStrictEqual([set, unset], [30_000, 15_000])
    }))

  it.effect("refuses to renew leases after they have run out", () =>
    Effect.gen(function*() {
      const exits = yield* Effect.forEach(
        ["15 seconds", "1 minute", "0 seconds"] as const,
        (leaseRenewal) =>
          Effect.exit(
            Effect.provide(Mandate.Mandate, Layer.provide(Mandate.layerMemory, Mandate.layerConfig({ leaseRenewal })))
          )
      )

      assert.deepStrictEqual(
        exits.map((exit) => Exit.isFailure(exit) && String(Cause.squash(exit.cause))),
        ["15000", "60000", "0"].map((given) =>
          `RangeError: leaseRenewal must be positive and less than leaseTtl, 15000 ms, not ${given} ms`
        )
      )
    }))
})

describe("the leases of a runtime", () => {
  it.effect("are renewed every five seconds, also after renewals that failed", () =>
    Effect.gen(function*() {
      const store = MemoryRunStore.make()
      let renewals = 0
      const renew: typeof store.renew = (lease) =>
        ++renewals <= 2 ? Effect.fail(new RunStore.StoreError({ operation: "renew" })) : store.renew(lease)
      const held = yield* Effect.gen(function*() {
        yield* open("t", {}, { holder: "instance-1", now: 0, ttl: 15_000 })
        return yield* Effect.forEach(Array.from({ length: 5 }), () =>
          Effect.andThen(
            TestClock.adjust("5 seconds"),
            Effect.flatMap(
              Mandate.Mandate,
              ({ lease }) => Effect.flatMap(lease, ({ now }) => store.isHeld("t", by("other", now)))
            )
          ))
      }).pipe(
        Effect.provide(TestRuntime.layerStore({ ...store, renew })),
        Effect.provideService(RunStore.RunStore, store),
        Effect.provide(Logger.layer([]))
      )

      assert.deepStrictEqual([renewals, held], [6, [true, true, true, true, true]])
    }))
})
