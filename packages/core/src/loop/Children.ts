/**
 * The runs right below a run, for walks over a tree.
 *
 * **Details**
 *
 * Invariants:
 *
 * 1. Each child's thread id is longer than its parent's, since it is made of it.
 *    So every walk over children ends, whatever the store holds.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as CorruptRow from "../service/CorruptRow.ts"
import type { RunRow } from "../service/RunRow.ts"
import type { RunStore, StoreError } from "../service/RunStore.ts"
import * as ActiveRun from "./ActiveRun.ts"

/**
 * The children of a run in the order they were created. Fails with the first
 * whose row does not stand where its parent, its call and its root say.
 *
 * @category getters
 * @since 0.1.0
 */
export const of = (
  store: Pick<RunStore["Service"], "children">,
  runId: string
): Effect.Effect<ReadonlyArray<RunRow>, StoreError | CorruptRow.CorruptRow> =>
  Effect.flatMap(store.children(runId), (rows) => {
    const lost = rows.find((row) => row.parentRunId !== runId || !ActiveRun.isPlaced(row))
    return lost === undefined ? Effect.succeed(rows) : Effect.fail(CorruptRow.of(lost, ActiveRun.misplaced))
  })

/**
 * A row that stands where its parent, its call and its root say.
 *
 * @category getters
 * @since 0.1.0
 */
export const placed = (row: RunRow): Result.Result<RunRow, CorruptRow.CorruptRow> =>
  ActiveRun.isPlaced(row) ? Result.succeed(row) : Result.fail(CorruptRow.of(row, ActiveRun.misplaced))
