import type { RunRow, RunStore } from "@mandate/core"
import { Effect } from "effect"

export type Store = RunStore.RunStore["Service"]

/** A store with one fault, and a property by which it is found. */
export interface Fault {
  readonly breaks: (store: Store) => Store
  readonly found: string
}

/** Faults, each named by what such a store does. */
export type Faults = { readonly [fault: string]: Fault }

export const fault = (found: string, change: (store: Store) => Partial<Store>): Fault => ({
  found,
  breaks: (store) => ({ ...store, ...change(store) })
})

export const settledChildren = (store: Store, runId: string) =>
  Effect.map(store.children(runId), (rows) => rows.filter(({ state }) => state === "Settled"))

/** The fence a run has now, whatever the writer's was. */
export const current = (store: Store, fence: RunRow.Fence) =>
  Effect.map(store.load(fence.runId), (run) => ({ ...fence, epoch: run?.epoch ?? fence.epoch }))
