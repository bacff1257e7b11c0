/**
 * Rows of a SQLite file, and what operations make of them.
 *
 * @since 0.1.0
 */
import type { ListedThread, RunRow } from "../service/RunRow.ts"
import * as Ids from "../values/Ids.ts"

/**
 * A thread as it is stored: who holds it until when.
 *
 * @category models
 * @since 0.1.0
 */
export interface ThreadRow {
  readonly id: number
  readonly tenant: string
  readonly epoch: number
  readonly holder: string | null
  readonly expiresAt: number
}

/**
 * What operations need to know of a run: where it is, not what it holds.
 * `sequence` is the number of its tree's last event.
 *
 * @category models
 * @since 0.1.0
 */
export interface Place {
  readonly id: number
  readonly thread: number
  readonly root: number
  readonly state: RunRow["state"]
  readonly ephemeral: number
  readonly firstEvent: string | null
  readonly epoch: number
  readonly sequence: number
}

/**
 * A run as it is stored.
 *
 * @category models
 * @since 0.1.0
 */
export interface StoredRun extends Place, Omit<RunRow, "runId" | "parentRunId" | "state" | "ephemeral"> {
  readonly number: number
  readonly parentThreadId: string | null
  readonly parentNumber: number | null
}

/**
 * An event as it is stored, with what is kept of it in its run's row.
 *
 * @category models
 * @since 0.1.0
 */
export interface StoredEvent {
  readonly sequence: number
  readonly shared: number
  readonly rest: string
  readonly cut: number | null
  readonly firstEvent: string | null
  readonly usage: string | null
}

/**
 * The row of a stored run, as operations give it.
 *
 * @category getters
 * @since 0.1.0
 */
export const rowOf = (run: StoredRun): RunRow => ({
  format: run.format,
  tenant: run.tenant,
  threadId: run.threadId,
  runId: Ids.runId(run.threadId, run.number),
  rootThreadId: run.rootThreadId,
  parentRunId: run.parentThreadId === null ? null : Ids.runId(run.parentThreadId, run.parentNumber ?? 0),
  callKey: run.callKey,
  toolCallId: run.toolCallId,
  agentId: run.agentId,
  agentPath: run.agentPath,
  shape: run.shape,
  depth: run.depth,
  depthLeft: run.depthLeft,
  limits: run.limits,
  binding: run.binding,
  budget: run.budget,
  input: run.input,
  prompt: run.prompt,
  ephemeral: run.ephemeral === 1,
  startedAt: run.startedAt,
  stoppedAt: run.stoppedAt,
  state: run.state,
  outcome: run.outcome,
  usage: run.usage,
  messages: run.messages,
  activeMillis: run.activeMillis
})

/**
 * A root thread as it is stored, with its last run.
 *
 * @category models
 * @since 0.1.0
 */
export interface StoredThread extends Omit<ListedThread, "runId"> {
  readonly number: number
}

/**
 * A root thread as operations give it.
 *
 * @category getters
 * @since 0.1.0
 */
export const listedOf = ({ number, ...thread }: StoredThread): ListedThread => ({
  ...thread,
  runId: Ids.runId(thread.threadId, number)
})

/**
 * Splits a run id into its thread and its number there. A text that is no run
 * id gets a number that no run has.
 *
 * @category getters
 * @since 0.1.0
 */
export const split = (runId: string): readonly [threadId: string, number: number] => {
  const at = runId.lastIndexOf("#")
  const number = Number(runId.slice(at + 1))
  return at >= 0 && Number.isSafeInteger(number) && Ids.runId(runId.slice(0, at), number) === runId
    ? [runId.slice(0, at), number]
    : ["", -1]
}

/**
 * What is stored of an event of a run that begins with `firstEvent`, and that
 * has settled with `usage` if it has settled.
 *
 * @category getters
 * @since 0.1.0
 */
export const shorten = (
  json: string,
  firstEvent: string | null,
  usage: string | undefined
): Pick<StoredEvent, "shared" | "rest" | "cut"> => {
  const shared = sharedLength(firstEvent ?? "", json)
  const rest = json.slice(shared)
  const cut = usage === undefined ? -1 : rest.indexOf(usage)
  return cut < 0
    ? { shared, rest, cut: null }
    : { shared, rest: rest.slice(0, cut) + rest.slice(cut + usage!.length), cut }
}

/**
 * An event as it came.
 *
 * @category getters
 * @since 0.1.0
 */
export const eventOf = ({ cut, firstEvent, rest, sequence, shared, usage }: StoredEvent) => ({
  sequence,
  json: (firstEvent ?? "").slice(0, shared) + (cut === null ? rest : rest.slice(0, cut) + usage + rest.slice(cut))
})

// It never parts a surrogate pair, of which no half could be stored.
const sharedLength = (text: string, other: string): number => {
  const limit = Math.min(text.length, other.length)
  let length = 0
  while (length < limit && text.charCodeAt(length) === other.charCodeAt(length)) length++
  const last = text.charCodeAt(length - 1)
  return last >= 0xd800 && last <= 0xdbff ? length - 1 : length
}
