/**
 * How one tool call ends.
 *
 * @since 0.1.0
 */
import type { ClosedRun } from "../service/RunRow.ts"
import type { Json } from "../values/Json.ts"
import type { NewEvent } from "../values/RunEvent.ts"
import type { Failure } from "../values/RunOutcome.ts"
import type { ResultRecord } from "../values/RunRecord.ts"

/**
 * How a branch, that is one tool call of a message, ended.
 *
 * **Details**
 *
 * - `Done`: its result, and what has to be committed in the transaction of its
 *   record
 * - `Waiting`: it waits for an answer
 * - `Fail`: it fails the run
 *
 * @category models
 * @since 0.1.0
 */
export type Branch = Done | Waiting | Fail

/**
 * A branch that ended with a result.
 *
 * @category models
 * @since 0.1.0
 */
export interface Done {
  readonly _tag: "Done"
  readonly result: Omit<ResultRecord, "activeMillis">
  readonly events?: ReadonlyArray<NewEvent>
  readonly close?: ReadonlyArray<ClosedRun & { readonly runId: string }>
  readonly keepChildren?: number
}

/**
 * A branch that waits for an answer.
 *
 * @category models
 * @since 0.1.0
 */
export interface Waiting {
  readonly _tag: "Waiting"
}

/**
 * A branch that fails the run. `cause` is what was thrown in this process, and
 * is never stored.
 *
 * @category models
 * @since 0.1.0
 */
export interface Fail {
  readonly _tag: "Fail"
  readonly failure: Failure
  readonly cause?: unknown
}

/**
 * A branch that ended with an error for the model to read.
 *
 * @category constructors
 * @since 0.1.0
 */
export const failed = (reason: string, message: string): Done => ({
  _tag: "Done",
  result: { output: errorOutput({ reason, message }), isError: true }
})

/**
 * The output of a failed call: `{"error": {...}}`, which no success has.
 *
 * @category constructors
 * @since 0.1.0
 */
export const errorOutput = (error: Json): { readonly type: "json"; readonly value: Json } => ({
  type: "json",
  value: { error }
})
