/**
 * The loop: drives one run from where its records leave off.
 *
 * **Details**
 *
 * Invariants:
 *
 * 1. The loop is a function of the run's row, its records and what models and
 *    tools answer. Driven again, it finds its records and goes the same way.
 * 2. A response is recorded before its calls start; the last response of a run
 *    is recorded by settling.
 * 3. All branches of a message are awaited before the run suspends or fails.
 * 4. A run that lost its fence writes nothing more and gives no value.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as CorruptRow from "../service/CorruptRow.ts"
import type { DriveEnd } from "../service/RunHost.ts"
import type { Fenced, StoreError } from "../service/RunStore.ts"
import * as StoreFailure from "../service/StoreFailure.ts"
import * as Ids from "../values/Ids.ts"
import type { PendingInterrupt } from "../values/Interrupt.ts"
import { type Message, toolCalls } from "../values/Message.ts"
import type { ModelError } from "../values/ModelError.ts"
import * as ModelFailureText from "../values/ModelFailureText.ts"
import type { NewEvent } from "../values/RunEvent.ts"
import type { Failure, Settled } from "../values/RunOutcome.ts"
import { resultKey, stepKey, type StepRecord } from "../values/RunRecord.ts"
import * as Usage from "../values/Usage.ts"
import * as ActiveRun from "./ActiveRun.ts"
import * as Announce from "./Announce.ts"
import * as CallIds from "./CallIds.ts"
import type { Drive } from "./Drive.ts"
import * as Interrupts from "./Interrupts.ts"
import * as ModelStep from "./ModelStep.ts"
import * as NextStep from "./NextStep.ts"
import * as Pending from "./Pending.ts"
import * as RefusedRequest from "./RefusedRequest.ts"
import * as Repeats from "./Repeats.ts"
import * as RunContext from "./RunContext.ts"
import * as ToolCalls from "./ToolCalls.ts"
import * as Transcript from "./Transcript.ts"

/**
 * Drives a run until it settles, suspends or fails.
 *
 * @category running
 * @since 0.1.0
 */
export const drive = (self: Drive, earlier: ReadonlyArray<Message>): Effect.Effect<DriveEnd, Fenced | StoreError> => {
  const { agentId, runId, spent } = self.run
  const transcript = Transcript.make(earlier, ActiveRun.userMessage(self.run), spent)
  const driven = self.agent.declares === undefined
    ? steps(self, transcript)
    : Effect.flatMap(
      Effect.result(RunContext.read(self, self.agent.declares)),
      (read) =>
        Result.isSuccess(read) ? steps(read.success, transcript) : fail(self, CorruptRow.failure(read.failure), spent)
    )
  return driven.pipe(
    // Where nobody has interrupted the drive, an interruption is what code below it made of a failure of its own.
    Effect.catchCauseIf((cause) => Cause.hasDies(cause) || Cause.hasInterrupts(cause), (cause) =>
      Effect.andThen(
        Effect.logError(`The run "${runId}" failed by a bug`, cause),
        fail(self, { _tag: "Defect", where: `the agent "${agentId}"` }, spent, Cause.squash(cause))
      )),
    // Whoever goes on with it need not wait for this process to give it up. A store that is down cannot note even that.
    Effect.catchTag("StoreError", (error) =>
      Effect.catchTag(
        fail(self, StoreFailure.of(error), spent),
        "StoreError",
        () => Effect.fail(error)
      ))
  )
}

const steps = Effect.fnUntraced(function*(
  self: Drive,
  transcript: Transcript.Transcript
): Effect.fn.Return<DriveEnd, Fenced | StoreError> {
  const { journal, run } = self
  const ids = CallIds.inMessages(transcript.messages)
  const repeats = Repeats.make(run.limits.maxRepeats)
  let tasks = 0
  for (;;) {
    const step = transcript.step
    let record = journal.records.steps.get(stepKey(step))
    let json: string | undefined
    if (record === undefined) {
      if (self.meter?.isOutOfTokens() === true) {
        return yield* settle(self, transcript, NextStep.outOfTreeTokens.outcome, [])
      }
      Transcript.flushReask(transcript)
      const asked = yield* ModelStep.run(self, transcript.messages, step, ids)
      if (Result.isFailure(asked)) {
        const { error, spent } = asked.failure
        transcript.own = Usage.add(transcript.own, spent)
        if (error === undefined) return yield* settle(self, transcript, NextStep.outOfTreeTokens.outcome, [])
        yield* RefusedRequest.note(self, step, error.reason)
        return yield* fail(self, modelFailed(error), Usage.add(run.spent, spent))
      }
      record = asked.success.record
      json = asked.success.json
    }
    const repeated = Repeats.add(repeats, record)
    record = Interrupts.edited(record, step, journal.records)
    CallIds.addAll(ids, record.response.parts)
    Transcript.addStep(transcript, record)
    const responded = json === undefined ? [] : [modelCallCompleted(self, step, record)]
    const next = json === undefined
      ? NextStep.recorded(record)
      : NextStep.after(record, transcript, run.limits, run.budget, self.meter, repeated.stuckOn)
    if (next._tag === "End") {
      Transcript.addResults(transcript, record, () => undefined, next.notRun)
      return yield* settle(self, transcript, next.outcome, responded)
    }
    if (json !== undefined) {
      if (next._tag === "Calls") self.meter?.takeCalls(toolCalls(record.response.parts).length)
      yield* journal.append({ records: [{ key: stepKey(step), json }], events: responded })
    }
    if (next._tag === "Calls") {
      const end = yield* calls(self, transcript, step, record, tasks, repeated)
      if (end !== undefined) return end
    }
    tasks += ToolCalls.countTasks(self, record)
    Transcript.addResults(
      transcript,
      record,
      (index) => journal.records.results.get(resultKey(Ids.callKey(step, index))),
      ""
    )
  }
})

// Runs the calls of a step until each has its result. Gives how the run ends for now where one has none.
const calls = Effect.fnUntraced(function*(
  self: Drive,
  transcript: Transcript.Transcript,
  step: number,
  record: StepRecord,
  tasksBefore: number,
  repeated: Repeats.Repeated
): Effect.fn.Return<DriveEnd | undefined, Fenced | StoreError> {
  const { run, runtime } = self
  for (let drive = self;; drive = { ...self, isRecovery: true }) {
    const branches = yield* ToolCalls.run(drive, step, record, tasksBefore, repeated)
    const failed = branches.find((branch) => branch._tag === "Fail")
    if (failed !== undefined) return yield* fail(self, failed.failure, run.spent, failed.cause)
    if (!branches.some((branch) => branch._tag === "Waiting")) return undefined
    // The children that wait are suspended by now, so their rows say on what.
    const end = yield* Effect.all([Pending.list(runtime.store, run.runId), usageOf(self, transcript)]).pipe(
      Effect.flatMap(([pending, usage]) => suspend(self, usage, pending)),
      Effect.catchTag("CorruptRow", (row) => fail(self, CorruptRow.failure(row), run.spent))
    )
    if (end !== undefined) return end
    // What a call waited for was cancelled before the others had ended. What they started is there by now.
  }
})

const settle = (
  self: Drive,
  transcript: Transcript.Transcript,
  end: Settled,
  responded: ReadonlyArray<NewEvent>
): Effect.Effect<DriveEnd, Fenced | StoreError> => {
  const reportsInText = Announce.isDelegated(self.run) && self.agent.answer === undefined
  const outcome: Settled = end._tag === "BudgetExceeded" && reportsInText
    ? { ...end, said: Transcript.lastText(transcript) }
    : end
  const usage = Transcript.usage(transcript)
  const messages = RefusedRequest.keptMessages(transcript, self.journal.records, outcome)
  const origin = ActiveRun.origin(self.run)
  const at = self.now()
  const events: ReadonlyArray<NewEvent> = [
    ...responded,
    ...(outcome._tag === "Blocked"
      ? [{ ...origin, at, _tag: "Blocked" as const, guardrail: outcome.guardrail, reason: outcome.reason }]
      : []),
    ...Announce.settled(self.run, outcome, usage, at)
  ]
  // Once it has begun, an interruption waits for it: how the run ended is then known here too.
  return Effect.uninterruptible(Effect.as(
    self.journal.settle(
      {
        outcome: JSON.stringify(outcome),
        usage: JSON.stringify(Usage.storedRun(usage)),
        messages: JSON.stringify(messages),
        activeMillis: self.activeMillis(),
        stoppedAt: at
      },
      events,
      self.run.limits.childRetention
    ),
    { _tag: "Settled", outcome, usage }
  ))
}

const fail = (
  self: Drive,
  failure: Failure,
  spent: Usage.Usage,
  cause?: unknown
): Effect.Effect<DriveEnd, Fenced | StoreError> => {
  const at = self.now()
  return Effect.as(
    self.journal.fail(
      {
        outcome: JSON.stringify(failure),
        usage: JSON.stringify(Usage.stored(spent)),
        activeMillis: self.activeMillis(),
        stoppedAt: at
      },
      [{ ...ActiveRun.origin(self.run), at, _tag: "RunFailed", reason: failure._tag }]
    ),
    cause === undefined ? { _tag: "Failed", failure } : { _tag: "Failed", failure, cause }
  )
}

// Nobody but the caller of a root hears what a suspended run has used, and only the store knows that of its children.
const usageOf = (self: Drive, transcript: Transcript.Transcript): Drive["usage"] =>
  self.run.parentRunId === undefined ? self.usage : Effect.succeed(Transcript.usage(transcript))

const suspend = (
  self: Drive,
  usage: Usage.RunUsage,
  pending: ReadonlyArray<PendingInterrupt>
): Effect.Effect<DriveEnd | undefined, Fenced | StoreError> => {
  const at = self.now()
  return Effect.map(
    self.journal.suspend(
      { usage: JSON.stringify(Usage.stored(self.run.spent)), activeMillis: self.activeMillis(), stoppedAt: at },
      [{ ...ActiveRun.origin(self.run), at, _tag: "RunSuspended", pending: pending.map(({ id }) => id) }]
    ),
    (isSuspended) => isSuspended ? { _tag: "Suspended", usage, pending } : undefined
  )
}

const modelFailed = (error: ModelError): Failure => ({
  _tag: "ModelFailed",
  reason: error.reason,
  provider: error.provider,
  modelId: error.modelId,
  ...(error.status === undefined ? {} : { status: error.status }),
  ...ModelFailureText.tokens(error),
  ...(error.detail === undefined ? {} : { detail: error.detail }),
  ...(error.retryAfter === undefined ? {} : { retryAfterMillis: error.retryAfter })
})

const modelCallCompleted = (self: Drive, step: number, record: StepRecord): NewEvent => ({
  ...ActiveRun.origin(self.run),
  _tag: "ModelCallCompleted",
  at: self.now(),
  step,
  provider: self.agent.client.provider,
  modelId: self.agent.client.modelId,
  finishReason: record.response.finishReason,
  usage: record.usage
})
