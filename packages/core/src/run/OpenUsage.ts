/**
 * What an open run has used so far: the one definition that every verb gives.
 *
 * **Details**
 *
 * Invariants:
 *
 * 1. `own` is what the run's records add up to. `tree` counts each run below it
 *    once: by the record of its result, by its row once it is settled, and by
 *    its own records while it is open.
 * 2. It is read from the store alone, so that the process which drives the run
 *    and any other give the same.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Children from "../loop/Children.ts"
import * as OpenRun from "../loop/OpenRun.ts"
import * as Transcript from "../loop/Transcript.ts"
import type { CorruptRow } from "../service/CorruptRow.ts"
import type { LoadedRun, RunRow } from "../service/RunRow.ts"
import type { RunStore, StoreError } from "../service/RunStore.ts"
import { resultKey } from "../values/RunRecord.ts"
import * as Usage from "../values/Usage.ts"
import * as StoredRun from "./StoredRun.ts"

type Read<A> = Effect.Effect<A, StoreError | CorruptRow>

/**
 * What an open run and its tree have used so far. A child that cannot be read
 * counts as a run that has used nothing: it must not hide how its parent stands.
 *
 * @category getters
 * @since 0.1.0
 */
export const of: (store: RunStore["Service"], loaded: LoadedRun) => Read<Usage.RunUsage> = Effect.fnUntraced(
  function*(store, loaded) {
    const open = yield* Effect.fromResult(OpenRun.decode(loaded))
    return yield* ofOpen(store, open, (child) =>
      Effect.catchTag(
        treeOf(store, child, (below) => Effect.map(of(store, below), ({ tree }) => tree)),
        "CorruptRow",
        () => Effect.succeed(Usage.zero)
      ))
  }
)

/**
 * The same of a run by its id. One that is settled or gone has used nothing
 * that is still open.
 *
 * @category getters
 * @since 0.1.0
 */
export const byId = (store: RunStore["Service"], runId: string): Read<Usage.RunUsage> =>
  Effect.flatMap(store.load(runId), (loaded) =>
    loaded === undefined
      ? Effect.succeed(Usage.zeroRun)
      : loaded.row.state === "Settled"
      ? Effect.fromResult(StoredRun.usage(loaded.row))
      : of(store, loaded))

/**
 * The same of a run that is decoded. `read` says what the tree of a child has
 * used whose result the run has not recorded.
 *
 * @category getters
 * @since 0.1.0
 */
export const ofOpen = Effect.fnUntraced(function*(
  store: RunStore["Service"],
  open: OpenRun.OpenRun,
  read: (child: RunRow) => Read<Usage.Usage>
): Effect.fn.Return<Usage.RunUsage, StoreError | CorruptRow> {
  const transcript = StoredRun.transcript(open, "")
  for (const child of yield* Children.of(store, open.run.runId)) {
    if (open.records.results.has(resultKey(child.callKey ?? ""))) continue
    Transcript.addChild(transcript, yield* read(child))
  }
  return Transcript.usage(transcript)
})

/**
 * What the tree of a child has used, by its row once it is settled. `ofOpen`
 * says it of one that is open.
 *
 * @category getters
 * @since 0.1.0
 */
export const treeOf = (
  store: RunStore["Service"],
  child: RunRow,
  ofOpen: (child: LoadedRun) => Read<Usage.Usage>
): Read<Usage.Usage> => {
  const settled = (row: RunRow) => Effect.map(Effect.fromResult(StoredRun.usage(row)), ({ tree }) => tree)
  if (child.state === "Settled") return settled(child)
  return Effect.flatMap(store.load(child.runId), (loaded) => {
    if (loaded === undefined) return Effect.succeed(Usage.zero)
    // It may have settled since its row was read.
    return loaded.row.state === "Settled" ? settled(loaded.row) : ofOpen(loaded)
  })
}
