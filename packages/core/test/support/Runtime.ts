/** The memory runtime for tests that leave work hanging. */
import { Mandate, RuntimeConfig } from "@mandate/core"
import { Duration, Layer } from "effect"

/** A runtime in memory whose close waits for nothing. */
export const layer: Layer.Layer<Mandate.Mandate> = Layer.provide(
  Mandate.layerMemory,
  Layer.succeed(RuntimeConfig, {
    leaseTtl: Duration.seconds(15),
    leaseRenewal: Duration.seconds(5),
    cancelGrace: Duration.seconds(5),
    closeGrace: Duration.zero
  })
)
