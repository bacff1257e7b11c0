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
import type { LoadedRun } from "../service/RunRow.ts"
import type { RunStore, StoreError } from "../service/RunStore.ts"
import { resultKey } from "../values/RunRecord.ts"
import * as Usage from "../values/Usage.ts"
import * as StoredRun from "./StoredRun.ts"

type Read<A> = Effect.Effect<A, StoreError | CorruptRow>

/**
 * What an open run and its tree have used so far.
 *
 * @category getters
 * @since 0.1.0
 */
export const of: (store: RunStore["Service"], loaded: LoadedRun) => Read<Usage.RunUsage> = Effect.fnUntraced(
  function*(store, loaded) {
    const open = yield* Effect.fromResult(OpenRun.decode(loaded))
    return yield* ofOpen(store, open, (below) => Effect.map(of(store, below), ({ tree }) => tree))
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
 * The same of a run that is decoded. `treeOf` says what the tree of an open
 * child has used.
 *
 * @category getters
 * @since 0.1.0
 */
export const ofOpen = Effect.fnUntraced(function*(
  store: RunStore["Service"],
  open: OpenRun.OpenRun,
  treeOf: (child: LoadedRun) => Read<Usage.Usage>
): Effect.fn.Return<Usage.RunUsage, StoreError | CorruptRow> {
  const transcript = StoredRun.transcript(open, "")
  for (const child of yield* Children.of(store, open.run.runId)) {
    if (open.records.results.has(resultKey(child.callKey ?? ""))) continue
    if (child.state === "Settled") {
      Transcript.addChild(transcript, (yield* Effect.fromResult(StoredRun.usage(child))).tree)
      continue
    }
    const below = yield* store.load(child.runId)
    if (below === undefined) continue
    // It may have settled since its row was read.
    const tree = below.row.state === "Settled"
      ? (yield* Effect.fromResult(StoredRun.usage(below.row))).tree
      : yield* treeOf(below)
    Transcript.addChild(transcript, tree)
  }
  return Transcript.usage(transcript)
})
