/**
 * An open run as it was stored, decoded.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import { CorruptRow } from "../service/CorruptRow.ts"
import type { LoadedRun } from "../service/RunRow.ts"
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
export const decode = ({ records, row }: LoadedRun): Result.Result<OpenRun, CorruptRow> =>
  Result.mapError(
    Result.gen(function*() {
      return { run: yield* ActiveRun.fromRow(row), records: yield* Journal.decode(records) }
    }),
    (detail) => new CorruptRow({ threadId: row.threadId, runId: row.runId, detail })
  )
