/**
 * A run as its loop knows it: the row, decoded.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { type Fence, type NewRun, type Record, rowFormat, type RunRow } from "../service/RunRow.ts"
import { ResolvedBudget } from "../values/Budget.ts"
import { ParentCall } from "../values/ChildRun.ts"
import { AgentId, type CallKey, childThreadId, isChildThread, lineOf, RunId, ThreadId } from "../values/Ids.ts"
import { type Message, userInput } from "../values/Message.ts"
import { RunBinding } from "../values/RunBinding.ts"
import type { Origin } from "../values/RunEvent.ts"
import { RunLimits } from "../values/RunLimits.ts"
import { contextKey, filesKey, type StartRecords } from "../values/RunRecord.ts"
import * as SchemaIssues from "../values/SchemaIssues.ts"
import * as Usage from "../values/Usage.ts"

const Depth = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1_000_000 }))

const Fields = Schema.Struct({
  format: Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: rowFormat })),
  tenant: Schema.String,
  threadId: ThreadId,
  runId: RunId,
  rootThreadId: ThreadId,
  parentRunId: Schema.UndefinedOr(RunId),
  call: Schema.UndefinedOr(ParentCall),
  agentId: AgentId,
  agentPath: Schema.Array(Schema.String),
  shape: Schema.String,
  depth: Depth,
  depthLeft: Depth,
  limits: RunLimits,
  binding: Schema.UndefinedOr(RunBinding),
  budget: ResolvedBudget,
  input: Schema.String,
  prompt: Schema.String,
  ephemeral: Schema.Boolean,
  spent: Usage.Usage
})

/**
 * A run as its loop knows it.
 *
 * **Details**
 *
 * `limits` and `budget` were fixed when the run started. `spent` is the usage
 * of failed attempts in former drives. `files` and `context` are not of the
 * row: they are the run's first records.
 *
 * @category models
 * @since 0.1.0
 */
export interface ActiveRun extends FromRow, StartRecords {}

type FromRow = typeof Fields.Type

/**
 * A run that is about to start. A root's run id is given by the store.
 *
 * @category models
 * @since 0.1.0
 */
export type StartingRun = Omit<ActiveRun, "format" | "runId" | "spent">

/**
 * The row of a run that is about to start, at a time in milliseconds.
 *
 * @category constructors
 * @since 0.1.0
 */
export const toRow = (run: StartingRun, startedAt: number): NewRun => ({
  format: rowFormat,
  tenant: run.tenant,
  threadId: run.threadId,
  rootThreadId: run.rootThreadId,
  parentRunId: run.parentRunId ?? null,
  callKey: run.call?.key ?? null,
  toolCallId: run.call?.toolCallId ?? null,
  agentId: run.agentId,
  agentPath: JSON.stringify(run.agentPath),
  shape: run.shape,
  depth: run.depth,
  depthLeft: run.depthLeft,
  limits: JSON.stringify(run.limits),
  binding: run.binding === undefined ? "" : JSON.stringify(run.binding),
  budget: JSON.stringify(run.budget),
  input: run.input,
  prompt: run.prompt,
  ephemeral: run.ephemeral,
  startedAt,
  ...(run.files === undefined && run.context === undefined ? {} : { records: startRecords(run) })
})

const startRecords = ({ context, files }: StartRecords): ReadonlyArray<Record> => [
  ...(files === undefined ? [] : [{ key: filesKey, json: JSON.stringify(files) }]),
  ...(context === undefined ? [] : [{ key: contextKey, json: JSON.stringify(context) }])
]

/**
 * A run that has just started.
 *
 * @category constructors
 * @since 0.1.0
 */
export const started = (run: StartingRun, runId: RunId): ActiveRun => ({
  ...run,
  format: rowFormat,
  runId,
  spent: Usage.zero
})

/**
 * Decodes a stored row. Fails with what is wrong with it, quoting nothing.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromRow = (row: RunRow): Result.Result<ActiveRun, string> =>
  Result.flatMap(
    Result.try({
      try: () => ({
        ...row,
        parentRunId: row.parentRunId ?? undefined,
        call: row.callKey === null ? undefined : { key: row.callKey, toolCallId: row.toolCallId },
        agentPath: JSON.parse(row.agentPath),
        limits: JSON.parse(row.limits),
        binding: row.binding === "" ? undefined : JSON.parse(row.binding),
        budget: JSON.parse(row.budget),
        spent: row.state === "Settled" || row.usage === null ? Usage.zero : JSON.parse(row.usage)
      }),
      catch: () => "a column does not hold JSON"
    }),
    (fields) => Result.mapError(decode(fields), (error) => SchemaIssues.lines(error).join("; "))
  ).pipe(Result.flatMap((run) => isPlaced(row) ? Result.succeed(run) : Result.fail(misplaced)))

/**
 * Whether a row stands where its parent, its call and its root say: the thread
 * of a child is made of its parent's run and of the call that started it.
 *
 * @category getters
 * @since 0.1.0
 */
export const isPlaced = (
  { callKey, parentRunId, rootThreadId, threadId }: Pick<
    RunRow,
    "callKey" | "parentRunId" | "rootThreadId" | "threadId"
  >
): boolean =>
  rootThreadId === lineOf(threadId).at(-1) && (parentRunId === null || callKey === null
    ? parentRunId === null && callKey === null && !isChildThread(threadId)
    : threadId === childThreadId(parentRunId as RunId, callKey as CallKey))

/**
 * What is wrong with a row that {@link isPlaced} refuses.
 *
 * @category constants
 * @since 0.1.0
 */
export const misplaced = "its thread is not that of its parent's call or of its root"

const decode = Schema.decodeUnknownResult(Fields, { errors: "all" })

/**
 * The message that the run begins with, as its models see it.
 *
 * @category getters
 * @since 0.1.0
 */
export const userMessage = ({ files = [], prompt }: ActiveRun): Message => userInput(prompt, files)

/**
 * What a writer of this run holds.
 *
 * @category getters
 * @since 0.1.0
 */
export const fence = (run: ActiveRun, epoch: number): Fence => ({ threadId: run.threadId, runId: run.runId, epoch })

/**
 * Where in its tree the run stands, for events.
 *
 * @category getters
 * @since 0.1.0
 */
export const origin = (run: Omit<ActiveRun, "format" | "spent">): Origin => ({
  rootThreadId: run.rootThreadId,
  threadId: run.threadId,
  runId: run.runId,
  agentId: run.binding?.delegate === undefined ? run.agentId : `delegate/${run.agentId}/${run.threadId}`,
  agentPath: run.agentPath,
  depth: run.depth,
  ...(run.call === undefined ? {} : { call: run.call })
})
