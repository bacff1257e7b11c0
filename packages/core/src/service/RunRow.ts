/**
 * Rows of a run store, and what its operations take and give.
 *
 * @since 0.1.0
 */

/**
 * The newest format of a row's JSON columns and of records. Rows of a newer
 * one, which a newer version wrote, are refused as corrupt.
 *
 * @category constants
 * @since 0.1.0
 */
export const rowFormat = 1

/**
 * A row of the run table.
 *
 * **Details**
 *
 * - `format`: what wrote the JSON columns and the records, see
 *   {@link rowFormat}
 * - `tenant`: whose thread it is; empty for nobody's
 * - `rootThreadId`: the thread of the run at the top of the tree
 * - `parentRunId`, `callKey`, `toolCallId`: the task call that started the
 *   run; `null` for a root
 * - `agentPath`, `limits`, `budget`: JSON
 * - `binding`: JSON of a `RunBinding`; empty for a run that is made of its
 *   agent's definition alone
 * - `input`: canonical JSON of the encoded input; `prompt`: the text of the
 *   run's user message
 * - `ephemeral`: the thread was made for this run and goes when it settles
 * - `startedAt`, `stoppedAt`: milliseconds of the Unix epoch. A run has stopped
 *   when it is suspended, failed or settled; `null` while it runs
 * - `outcome`: JSON of how it ended, or why it failed; `null` before that
 * - `usage`: JSON of own and tree usage of a settled run; of an open one, the
 *   usage of failed attempts in former drives
 * - `messages`: JSON of the messages the run left on its thread
 * - `activeMillis`: active time in milliseconds
 *
 * @category models
 * @since 0.1.0
 */
export interface RunRow {
  readonly format: number
  readonly tenant: string
  readonly threadId: string
  readonly runId: string
  readonly rootThreadId: string
  readonly parentRunId: string | null
  readonly callKey: string | null
  readonly toolCallId: string | null
  readonly agentId: string
  readonly agentPath: string
  readonly shape: string
  readonly depth: number
  readonly depthLeft: number
  readonly limits: string
  readonly binding: string
  readonly budget: string
  readonly input: string
  readonly prompt: string
  readonly ephemeral: boolean
  readonly startedAt: number
  readonly stoppedAt: number | null
  readonly state: "Running" | "Suspended" | "Failed" | "Settled"
  readonly outcome: string | null
  readonly usage: string | null
  readonly messages: string | null
  readonly activeMillis: number
}

/**
 * A row to insert. It starts `Running`; a root's run id is given by the store.
 * `records` are the first of its journal; absent for none.
 *
 * @category models
 * @since 0.1.0
 */
export interface NewRun
  extends Omit<RunRow, "runId" | "stoppedAt" | "state" | "outcome" | "usage" | "messages" | "activeMillis">
{
  readonly records?: ReadonlyArray<Record>
}

/**
 * A record of a run's journal.
 *
 * @category models
 * @since 0.1.0
 */
export interface Record {
  readonly key: string
  readonly json: string
}

/**
 * Who asks for a lease: a process instance, the time now and how long the
 * lease lasts, both in milliseconds.
 *
 * @category models
 * @since 0.1.0
 */
export interface LeaseRequest {
  readonly holder: string
  readonly now: number
  readonly ttl: number
}

/**
 * What a writer holds: its run, and the epoch of its thread.
 *
 * @category models
 * @since 0.1.0
 */
export interface Fence {
  readonly threadId: string
  readonly runId: string
  readonly epoch: number
}

/**
 * Durable events of one transaction, all of one tree: the run each belongs to,
 * and its JSON without the number.
 *
 * @category models
 * @since 0.1.0
 */
export type Events = ReadonlyArray<{ readonly runId: string; readonly json: string }>

/**
 * What a run that stops has used, as JSON, how long it was active, and when it
 * stops.
 *
 * @category models
 * @since 0.1.0
 */
export interface Stopped {
  readonly usage: string
  readonly activeMillis: number
  readonly stoppedAt: number
}

/**
 * How a run is settled.
 *
 * @category models
 * @since 0.1.0
 */
export interface Settlement extends Stopped {
  readonly outcome: string
  readonly messages: string
}

/**
 * How a run is settled by another, and to how many its settled child threads
 * are pruned then.
 *
 * @category models
 * @since 0.1.0
 */
export interface ClosedRun {
  readonly settlement: Settlement
  readonly keepChildren: number
}

/**
 * Answers to store in one run. A run on the way to one that asked has none.
 *
 * @category models
 * @since 0.1.0
 */
export interface Answered {
  readonly runId: string
  readonly records: ReadonlyArray<Record>
}

/**
 * A run as it is read: its row, its records, and the epoch of its thread.
 *
 * @category models
 * @since 0.1.0
 */
export interface LoadedRun {
  readonly row: RunRow
  readonly records: ReadonlyArray<Record>
  readonly epoch: number
}

/**
 * What `open` found: it started the run, the thread has an open one, or it is
 * another tenant's. `sequence` is the number of the first event.
 *
 * @category models
 * @since 0.1.0
 */
export type Opened =
  | { readonly _tag: "Started"; readonly runId: string; readonly epoch: number; readonly sequence: number }
  | { readonly _tag: "Occupied"; readonly run: RunRow; readonly held: boolean }
  | { readonly _tag: "OtherTenant" }

/**
 * What `lease` found: it is yours now, or another instance holds it until a
 * time in milliseconds.
 *
 * @category models
 * @since 0.1.0
 */
export type Leased =
  | { readonly _tag: "Taken"; readonly epoch: number }
  | { readonly _tag: "Held"; readonly until: number }

/**
 * Which root threads to list, by their last run.
 *
 * **Details**
 *
 * - `after`: only threads whose id is greater; `""` for all
 * - `limit`: how many at most
 * - `states`, `tenant`, `agentId`: only those; absent for any
 * - `stoppedBefore`: only those whose run has stopped, before that time in
 *   milliseconds
 * - `freeAt`: only threads that nobody holds at that time in milliseconds
 *
 * @category models
 * @since 0.1.0
 */
export interface ThreadQuery {
  readonly after: string
  readonly limit: number
  readonly states?: ReadonlyArray<RunRow["state"]>
  readonly tenant?: string
  readonly agentId?: string
  readonly stoppedBefore?: number
  readonly freeAt?: number
}

/**
 * A root thread as it is listed: its last run, and who holds it until when.
 *
 * @category models
 * @since 0.1.0
 */
export interface ListedThread
  extends Pick<RunRow, "threadId" | "tenant" | "runId" | "agentId" | "shape" | "state" | "startedAt" | "stoppedAt">
{
  readonly holder: string | null
  readonly expiresAt: number
}
