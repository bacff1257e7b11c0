/**
 * Runs as they were stored, decoded.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as CorruptRow from "../service/CorruptRow.ts"
import type { LoadedRun, RunRow } from "../service/RunRow.ts"
import { RunState } from "../values/RunOutcome.ts"
import * as ActiveRun from "./ActiveRun.ts"
import * as Journal from "./Journal.ts"

/**
 * An open run with all that it recorded.
 *
 * @category models
 * @since 0.1.0
 */
export interface OpenRun {
  readonly run: ActiveRun.ActiveRun
  readonly records: Journal.Records
}

/**
 * Decodes an open run with its records.
 *
 * @category constructors
 * @since 0.1.0
 */
export const decode = ({ records, row }: LoadedRun): Result.Result<OpenRun, CorruptRow.CorruptRow> =>
  Result.mapError(
    Result.gen(function*() {
      yield* isState(row.state) ? Result.void : Result.fail(noState)
      const journal = yield* Journal.decode(records)
      return { run: { ...yield* ActiveRun.fromRow(row), ...journal.start }, records: journal }
    }),
    (detail) => CorruptRow.of(row, detail)
  )

/**
 * A run of any state without its records: what it is, not how it stands.
 *
 * @category constructors
 * @since 0.1.0
 */
export const place = (row: RunRow): Result.Result<ActiveRun.ActiveRun, CorruptRow.CorruptRow> =>
  Result.mapError(ActiveRun.fromRow(row), (detail) => CorruptRow.of(row, detail))

/**
 * The state of a run.
 *
 * @category getters
 * @since 0.1.0
 */
export const state = (
  row: Pick<RunRow, "runId" | "state" | "threadId">
): Result.Result<RunState, CorruptRow.CorruptRow> =>
  isState(row.state) ? Result.succeed(row.state) : Result.fail(CorruptRow.of(row, noState))

const isState = Schema.is(RunState)
const noState = "state: it is none that a run can be in"
