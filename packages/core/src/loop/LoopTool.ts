/**
 * A tool as the loop runs it. To the loop a task tool is one more tool that
 * may wait.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type { Settlement } from "../service/RunRow.ts"
import type { Fenced, StoreError } from "../service/RunStore.ts"
import type { CallKey } from "../values/Ids.ts"
import type { Json } from "../values/Json.ts"
import type { ToolCallPart } from "../values/Message.ts"
import type { ModelTool } from "../values/ModelRequest.ts"
import type { NewEvent } from "../values/RunEvent.ts"
import type { Failure } from "../values/RunOutcome.ts"
import type { ResultRecord } from "../values/RunRecord.ts"
import type { Drive } from "./Drive.ts"

/**
 * One call of a tool.
 *
 * **Details**
 *
 * `ordinal` is the position of the call among the calls of task tools of its
 * run, from 1, counted over the stored messages; 0 for other tools. `order`
 * orders the calls of a run.
 *
 * @category models
 * @since 0.1.0
 */
export interface ToolCall {
  readonly key: CallKey
  readonly part: ToolCallPart
  readonly order: number
  readonly ordinal: number
}

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
export type Branch =
  | {
    readonly _tag: "Done"
    readonly result: Omit<ResultRecord, "activeMillis">
    readonly events?: ReadonlyArray<NewEvent>
    readonly close?: ReadonlyArray<{ readonly runId: string; readonly settlement: Settlement }>
    readonly keepChildren?: number
  }
  | { readonly _tag: "Waiting" }
  | { readonly _tag: "Fail"; readonly failure: Failure }

/**
 * A tool as the loop runs it.
 *
 * @category models
 * @since 0.1.0
 */
export interface LoopTool {
  readonly definition: ModelTool
  readonly isTask: boolean
  readonly execute: (call: ToolCall, drive: Drive) => Effect.Effect<Branch, Fenced | StoreError>
}

/**
 * A branch that ended with an error for the model to read.
 *
 * @category constructors
 * @since 0.1.0
 */
export const failed = (reason: string, message: string): Branch & { readonly _tag: "Done" } => ({
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
