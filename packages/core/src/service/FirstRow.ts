/**
 * The row of a run that starts.
 *
 * @since 0.1.0
 */
import * as Ids from "../values/Ids.ts"
import type { NewRun, RunRow } from "./RunRow.ts"

/**
 * The row of the `number`-th run of a thread, counted from 0, as every store
 * keeps it at first.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (run: NewRun, number: number): RunRow => {
  const row = {
    ...run,
    runId: Ids.runId(run.threadId, number),
    state: "Running" as const,
    stoppedAt: null,
    outcome: null,
    usage: null,
    messages: null,
    activeMillis: 0
  }
  if (!("records" in run)) return row
  const { records: _, ...withoutRecords } = row
  return withoutRecords
}
