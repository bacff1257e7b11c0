/**
 * What a tree of runs has spent, as its store knows it.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as OpenRun from "../loop/OpenRun.ts"
import type { CorruptRow } from "../service/CorruptRow.ts"
import type { LoadedRun } from "../service/RunRow.ts"
import type { RunStore, StoreError } from "../service/RunStore.ts"
import * as Measure from "../values/Measure.ts"
import { toolCalls } from "../values/Message.ts"
import type * as Usage from "../values/Usage.ts"
import * as OpenUsage from "./OpenUsage.ts"

/**
 * What an open run and all runs below it have spent.
 *
 * **Details**
 *
 * Each run counts once, pruned ones by what their parent has recorded of them.
 * Calls that have started count, whether they have a result or not.
 *
 * @category getters
 * @since 0.1.0
 */
export const of: (
  store: RunStore["Service"],
  loaded: LoadedRun
) => Effect.Effect<Usage.Usage, StoreError | CorruptRow> = Effect.fnUntraced(function*(store, loaded) {
  const open = yield* Effect.fromResult(OpenRun.decode(loaded))
  const { own, tree } = yield* OpenUsage.ofOpen(
    store,
    open,
    (child) => OpenUsage.treeOf(store, child, (below) => of(store, below))
  )
  return { ...tree, toolCalls: Measure.add(tree.toolCalls - own.toolCalls, started(open)) }
})

const started = ({ records }: OpenRun.OpenRun): number => {
  let count = 0
  for (const { response, verdict } of records.steps.values()) {
    if (verdict._tag === "Calls") count += toolCalls(response.parts).length
  }
  return count
}
