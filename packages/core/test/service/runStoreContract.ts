import { describe, it } from "@effect/vitest"
import type { RunStore } from "@mandate/core"
import { Effect, type Layer } from "effect"
import { answers } from "./runStoreAnswers.ts"
import { events } from "./runStoreEvents.ts"
import { fences } from "./runStoreFences.ts"
import { leases } from "./runStoreLeases.ts"
import type { Check } from "./runStoreRows.ts"
import { runs } from "./runStoreRuns.ts"
import { trees } from "./runStoreTrees.ts"

/**
 * The contract of `RunStore`, as tests of one store. `makeLayer` gives an empty
 * store each time it is called.
 */
export const runStoreContract = (name: string, makeLayer: () => Layer.Layer<RunStore.RunStore, unknown>): void => {
  const check: Check = (title, test) => it.effect(title, () => Effect.provide(test(), makeLayer()))

  describe(name, () => {
    runs(check)
    fences(check)
    leases(check)
    trees(check)
    events(check)
    answers(check)
  })
}
