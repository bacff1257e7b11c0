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
export const make = ({ records: _, ...run }: NewRun, number: number): RunRow => ({
  ...run,
  runId: Ids.runId(run.threadId, number),
  state: "Running",
  stoppedAt: null,
  outcome: null,
  usage: null,
  messages: null,
  activeMillis: 0
})
