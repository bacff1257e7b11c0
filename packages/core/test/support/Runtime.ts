/** The memory runtime for tests that leave work hanging. */
import { Mandate } from "@mandate/core"
import { TestRuntime } from "@mandate/testing"
import { Layer } from "effect"

/** A runtime in memory whose close waits for nothing. */
export const layer: Layer.Layer<Mandate.Mandate> = Layer.provide(Mandate.layerMemory, TestRuntime.layerConfig)
