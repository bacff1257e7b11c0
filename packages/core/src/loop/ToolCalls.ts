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
 * 4. At most `maxConcurrentTools` calls of tools are at work at once; the others
 *    wait in call order, before anything of them is recorded. Calls of tasks
 *    wait for slots of their own and hold none of these.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
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
import type { Drive, LoopTool, ToolCall } from "./Drive.ts"
import * as Gate from "./Gate.ts"
import { decodeText } from "./HandlerTool.ts"
import * as Interrupts from "./Interrupts.ts"
import type { Repeated } from "./Repeats.ts"
import * as ResultBound from "./ResultBound.ts"
import * as Slots from "./Slots.ts"
import * as ToolFailure from "./ToolFailure.ts"

/**
 * Runs the calls of a response and gives their branches in call order.
 *
 * **Details**
 *
 * `tasksBefore` is the number of task calls in the messages before. A call that
 * is over the bound of repeats is an error, and nothing of it starts.
 *
 * @category running
 * @since 0.1.0
 */
export const run = (
  drive: Drive,
  step: number,
  record: StepRecord,
  tasksBefore: number,
  { isOver }: Repeated
): Effect.Effect<ReadonlyArray<Branch>, Fenced> => {
  let tasks = tasksBefore
  const calls = toolCalls(record.response.parts).map((part, index): ToolCall => ({
    key: Ids.callKey(step, index),
    part,
    order: step * maxCallsPerStep + index,
    ordinal: isTask(drive, part) ? ++tasks : 0,
    isRepeated: isOver(index),
    whenEnded: []
  }))
  const single = calls.length === 1 ? calls[0] : undefined
  if (single !== undefined) return Effect.map(branch(drive, record, single, undefined), (only) => [only])
  const { maxConcurrentTools } = drive.run.limits
  const slots = maxConcurrentTools === undefined || calls.length <= maxConcurrentTools
    ? undefined
    : Slots.make(maxConcurrentTools)
  return Effect.forEach(calls, (call) => branch(drive, record, call, slots), { concurrency: "unbounded" })
}

/**
 * Number of task calls in a response, whatever became of them.
 *
 * @category getters
 * @since 0.1.0
 */
export const countTasks = (drive: Drive, record: StepRecord): number =>
  toolCalls(record.response.parts).filter((part) => isTask(drive, part)).length

// Only orders calls; no response has that many parts.
const maxCallsPerStep = 1_000_000

const isTask = (drive: Drive, part: ToolCallPart): boolean => drive.agent.tools.get(part.name)?.isTask === true

const branch = (
  drive: Drive,
  record: StepRecord,
  call: ToolCall,
  slots: Slots.Slots | undefined
): Effect.Effect<Branch, Fenced> => {
  const recorded = drive.journal.records.results.get(resultKey(call.key))
  if (recorded !== undefined) return Effect.succeed({ _tag: "Done", result: recorded })
  if (Interrupts.isOpen(drive.journal.records, call.key)) return Effect.succeed({ _tag: "Waiting" })
  return Effect.flatMap(
    Effect.suspend(() => dispatch(drive, record, call, slots)),
    (branch): Effect.Effect<Branch, Fenced | StoreError> =>
      branch._tag === "Done" ? Effect.as(commit(drive, call, branch), branch) : Effect.succeed(branch)
  ).pipe(
    Effect.catchCause((cause: Cause.Cause<Fenced | StoreError>): Effect.Effect<Branch, Fenced> => {
      // A bug that is not caught as `ToolFailed`, such as a schema that interrupts itself, ends the run once its siblings end.
      if (Cause.hasDies(cause) || Cause.hasInterrupts(cause)) return bug(call, cause)
      const error = Option.getOrUndefined(Cause.findErrorOption(cause))
      return error?._tag === "StoreError"
        ? Effect.succeed({ _tag: "Fail", failure: StoreFailure.of(error) })
        : Effect.failCause(cause as Cause.Cause<Fenced>)
    }),
    Effect.onExit(() => {
      for (const end of call.whenEnded) end()
      return Effect.void
    })
  )
}

const bug = ({ part: { name } }: ToolCall, cause: Cause.Cause<unknown>): Effect.Effect<Branch> =>
  Effect.as(
    ToolFailure.log(Effect.logError, `A call of the tool "${name}" failed by a bug`, cause),
    { _tag: "Fail", failure: { _tag: "Defect", where: `the tool "${name}"` }, cause: Cause.squash(cause) }
  )

const dispatch = (
  drive: Drive,
  record: StepRecord,
  call: ToolCall,
  slots: Slots.Slots | undefined
): Effect.Effect<Branch, Fenced | StoreError> => {
  const { name } = call.part
  if (call.isRepeated) return Effect.succeed(repeated(drive))
  const tool = record.offered.includes(name) ? drive.agent.tools.get(name) : undefined
  if (tool === undefined) {
    const unknown = failed("UnknownTool", `There is no tool "${name}"; tools: ${record.offered.join(", ") || "none"}`)
    return Effect.succeed(ResultBound.hold(unknown, ResultBound.of(drive, undefined)))
  }
  const work = Effect.suspend(() => gated(drive, tool, call))
  if (slots === undefined || tool.isTask) return work
  return Effect.map(slots.enter(call.order, work), ({ leave, value }) => {
    call.whenEnded.push(leave)
    return value
  })
}

const repeated = ({ run: { limits: { maxRepeats = 0 } } }: Drive): Branch =>
  failed(
    "RepeatedCall",
    `This call was made ${maxRepeats} ${maxRepeats === 1 ? "time" : "times"} before with the same arguments, and may ` +
      "not be made again. Use what it gave, or do something else: the run ends if it is made once more"
  )

const gated = (drive: Drive, tool: LoopTool, call: ToolCall): Effect.Effect<Branch, Fenced | StoreError> => {
  if (!Gate.stands(drive, tool)) return tool.execute(call, drive)
  const args = decodeText(call.part.arguments)
  // What is no JSON is the tool's to refuse: it never runs.
  if (Result.isFailure(args)) return tool.execute(call, drive)
  return Effect.flatMap(
    Gate.pass(drive, tool, call, args.success),
    (passed) =>
      passed._tag === "Pass"
        ? tool.execute(withArguments(call, passed), drive)
        : Effect.succeed(ResultBound.hold(passed, ResultBound.of(drive, tool)))
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
