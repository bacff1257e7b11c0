/**
 * The tool calls of one response.
 *
 * **Details**
 *
 * Invariants:
 *
 * 1. Every call ends in a branch, in call order; one that fails does not stop
 *    its siblings, and all are awaited.
 * 2. A recorded call does not run again.
 * 3. A call is dispatched only to a tool that its request offered.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { Fenced, StoreError } from "../service/RunStore.ts"
import * as StoreFailure from "../service/StoreFailure.ts"
import * as Ids from "../values/Ids.ts"
import * as Json from "../values/Json.ts"
import { type ToolCallPart, toolCalls } from "../values/Message.ts"
import type { NewEvent } from "../values/RunEvent.ts"
import { resultKey, type ResultRecord, type StepRecord } from "../values/RunRecord.ts"
import * as ActiveRun from "./ActiveRun.ts"
import { type Branch, type Done, failed } from "./Branch.ts"
import type { Drive, ToolCall } from "./Drive.ts"
import * as Gate from "./Gate.ts"
import { decodeText } from "./HandlerTool.ts"
import * as Interrupts from "./Interrupts.ts"

/**
 * Runs the calls of a response and gives their branches in call order.
 *
 * **Details**
 *
 * `tasksBefore` is the number of task calls in the messages before.
 *
 * @category running
 * @since 0.1.0
 */
export const run = (
  drive: Drive,
  step: number,
  record: StepRecord,
  tasksBefore: number
): Effect.Effect<ReadonlyArray<Branch>, Fenced> => {
  let tasks = tasksBefore
  const calls = toolCalls(record.response.parts).map((part, index): ToolCall => ({
    key: Ids.callKey(step, index),
    part,
    order: step * maxCallsPerStep + index,
    ordinal: isTask(drive, part) ? ++tasks : 0,
    whenEnded: []
  }))
  const single = calls.length === 1 ? calls[0] : undefined
  return single !== undefined
    ? Effect.map(branch(drive, record, single), (only) => [only])
    : Effect.forEach(calls, (call) => branch(drive, record, call), { concurrency: "unbounded" })
}

/**
 * Number of task calls in a response, whatever became of them.
 *
 * @category getters
 * @since 0.1.0
 */
export const countTasks = (drive: Drive, record: StepRecord): number =>
  toolCalls(record.response.parts).filter((part) => isTask(drive, part)).length

// Only orders calls; no model makes that many at once.
const maxCallsPerStep = 1_000_000

const isTask = (drive: Drive, part: ToolCallPart): boolean => drive.agent.tools.get(part.name)?.isTask === true

const branch = (drive: Drive, record: StepRecord, call: ToolCall): Effect.Effect<Branch, Fenced> => {
  const recorded = drive.journal.records.results.get(resultKey(call.key))
  if (recorded !== undefined) return Effect.succeed({ _tag: "Done", result: recorded })
  if (Interrupts.isOpen(drive.journal.records, call.key)) return Effect.succeed({ _tag: "Waiting" })
  return Effect.flatMap(
    Effect.suspend(() => dispatch(drive, record, call)),
    (branch) => Effect.as(branch._tag === "Done" ? commit(drive, call, branch) : Effect.void, branch)
  ).pipe(
    Effect.catchTag(
      "StoreError",
      (error) => Effect.succeed<Branch>({ _tag: "Fail", failure: StoreFailure.of(error) })
    ),
    // A bug beside the handler, such as in a schema, ends the run when its siblings have ended too.
    Effect.catchCauseIf((cause) => Cause.hasDies(cause) || Cause.hasInterrupts(cause), (cause) => bug(call, cause)),
    Effect.ensuring(Effect.sync(() => call.whenEnded.forEach((end) => end())))
  )
}

const bug = ({ part: { name } }: ToolCall, cause: Cause.Cause<unknown>): Effect.Effect<Branch> =>
  Effect.as(
    Effect.logError(`A call of the tool "${name}" failed by a bug`, cause),
    { _tag: "Fail", failure: { _tag: "Defect", where: `the tool "${name}"` }, cause: Cause.squash(cause) }
  )

const dispatch = (
  drive: Drive,
  record: StepRecord,
  call: ToolCall
): Effect.Effect<Branch, Fenced | StoreError> => {
  const { name } = call.part
  const tool = record.offered.includes(name) ? drive.agent.tools.get(name) : undefined
  if (tool === undefined) {
    return Effect.succeed(
      failed("UnknownTool", `There is no tool "${name}"; tools: ${record.offered.join(", ") || "none"}`)
    )
  }
  if (!Gate.stands(drive, tool)) return tool.execute(call, drive)
  const args = decodeText(call.part.arguments)
  // What is no JSON is the tool's to refuse: it never runs.
  if (Result.isFailure(args)) return tool.execute(call, drive)
  return Effect.flatMap(
    Gate.pass(drive, tool, call, args.success),
    (passed) => passed._tag === "Pass" ? tool.execute(withArguments(call, passed), drive) : Effect.succeed(passed)
  )
}

const withArguments = (call: ToolCall, { arguments: args }: Gate.Pass): ToolCall => ({
  ...call,
  part: { ...call.part, arguments: Json.canonical(args) }
})

const commit = (drive: Drive, call: ToolCall, ended: Done) => {
  const { text, value } = Json.stringify<ResultRecord>({ ...ended.result, activeMillis: drive.activeMillis() })
  const executed = (): NewEvent => ({
    ...ActiveRun.origin(drive.run),
    _tag: "ToolExecuted",
    at: drive.now(),
    key: call.key,
    toolCallId: call.part.id,
    tool: call.part.name,
    isError: value.isError
  })
  drive.journal.records.results.set(resultKey(call.key), value)
  return drive.journal.append({
    records: [{ key: resultKey(call.key), json: text }],
    events: ended.events ?? [executed()],
    ...(ended.close === undefined ? {} : { close: ended.close }),
    ...(ended.keepChildren === undefined ? {} : { keepChildren: ended.keepChildren })
  })
}
