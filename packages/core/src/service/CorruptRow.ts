/**
 * A stored row that cannot be read.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as ErrorClass from "../values/ErrorClass.ts"
import type { Failure } from "../values/RunOutcome.ts"
import type { RunRow } from "./RunRow.ts"

/**
 * A row of a run, or one of its records, cannot be read: it is damaged, it was
 * edited, or a newer version wrote it. `detail` says what is wrong and quotes
 * nothing.
 *
 * @category errors
 * @since 0.1.0
 */
export class CorruptRow extends ErrorClass.TaggedError<CorruptRow>("~mandate/CorruptRow")("CorruptRow", {
  threadId: Schema.String,
  runId: Schema.String,
  detail: Schema.String
}) {
  override get message(): string {
    return `The run "${this.runId}" cannot be read: ${this.detail}`
  }
}

/**
 * A row that cannot be read, and why.
 *
 * @category constructors
 * @since 0.1.0
 */
export const of = ({ runId, threadId }: Pick<RunRow, "runId" | "threadId">, detail: string): CorruptRow =>
  new CorruptRow({ threadId, runId, detail })

/**
 * Why a run is `Failed` that met such a row below it.
 *
 * @category getters
 * @since 0.1.0
 */
export const failure = ({ detail, runId, threadId }: CorruptRow): Failure => ({
  _tag: "CorruptRun",
  threadId,
  runId,
  detail
})
