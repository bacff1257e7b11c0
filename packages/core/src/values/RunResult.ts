/**
 * What the verbs of agents give back.
 *
 * @since 0.1.0
 */
import type { Limit } from "./Budget.ts"
import type { ChildFailure } from "./ChildFailure.ts"
import type { ChildRun } from "./ChildRun.ts"
import type { RunId, ThreadId } from "./Ids.ts"
import type { PendingInterrupt } from "./Interrupt.ts"
import type { Message } from "./Message.ts"
import type { RunErrorReason } from "./RunError.ts"
import type { RunUsage } from "./Usage.ts"

/**
 * The run ended with an answer.
 *
 * @category models
 * @since 0.1.0
 */
export interface Completed<out O> {
  readonly _tag: "Completed"
  readonly answer: O
}

/**
 * The run waits for answers. Plain data: it encodes as JSON and is the same
 * from `status` in another process. `pending` lists what the run and every run
 * below it wait on.
 *
 * @category models
 * @since 0.1.0
 */
export interface Suspended {
  readonly _tag: "Suspended"
  readonly pending: ReadonlyArray<PendingInterrupt>
}

/**
 * Ends of a run without an answer.
 *
 * **Details**
 *
 * - `Blocked`: the provider (`guardrail` is then `provider`) or a guardrail
 *   refused
 * - `InvalidReport`: no answer decoded, re-asks included
 * - `StepLimitReached`: still working after `maxSteps` model responses, or when
 *   it had made a call of the tool `repeated` more often than `withMaxRepeats`
 *   allows
 * - `BudgetExceeded`: a limit of the run's budget was reached
 * - `Cancelled`: the run was cancelled
 *
 * @category models
 * @since 0.1.0
 */
export type Refused =
  | { readonly _tag: "Blocked"; readonly guardrail: string; readonly reason: string }
  | { readonly _tag: "InvalidReport"; readonly issues: ReadonlyArray<string> }
  | { readonly _tag: "StepLimitReached"; readonly maxSteps: number; readonly repeated?: string }
  | { readonly _tag: "BudgetExceeded"; readonly limit: Limit }
  | { readonly _tag: "Cancelled" }

/**
 * How a drive of a run came out.
 *
 * @category models
 * @since 0.1.0
 */
export type RunStatus<O> = Completed<O> | Suspended | Refused

/**
 * How a run stands: what a drive can come out as, `Running`, or `Failed` with
 * the reason that its verb failed with.
 *
 * @category models
 * @since 0.1.0
 */
export type CurrentStatus<O> =
  | RunStatus<O>
  | { readonly _tag: "Running" }
  | { readonly _tag: "Failed"; readonly reason: RunErrorReason }

/**
 * What a run of an agent gives back. `usage` counts the run's own and the
 * whole tree's tokens and calls: all of it once it is settled, and until then
 * what it and each run below it have used so far. Every verb gives the same at
 * the same moment.
 *
 * @category models
 * @since 0.1.0
 */
export interface RunResult<out O, out S = RunStatus<O>> {
  readonly threadId: ThreadId
  readonly runId: RunId
  readonly status: S
  readonly usage: RunUsage
}

/**
 * A settled run as `history` gives it: the result, and the messages the run
 * left on its thread, its user message first.
 *
 * @category models
 * @since 0.1.0
 */
export interface SettledRun<out O> extends RunResult<O, Completed<O> | Refused> {
  readonly messages: ReadonlyArray<Message>
}

/**
 * The subagent gave a report.
 *
 * @category models
 * @since 0.1.0
 */
export interface Reported<out O> {
  readonly _tag: "Reported"
  readonly report: O
  readonly child: ChildRun
  readonly usage: RunUsage
}

/**
 * The subagent gave no report.
 *
 * @category models
 * @since 0.1.0
 */
export interface NotReported {
  readonly _tag: "NotReported"
  readonly failure: ChildFailure
  readonly child: ChildRun
  readonly usage: RunUsage
}

/**
 * The subagent waits for answers; go on with `BoundAgent.resume`.
 *
 * @category models
 * @since 0.1.0
 */
export interface TaskSuspended {
  readonly _tag: "Suspended"
  readonly pending: ReadonlyArray<PendingInterrupt>
  readonly child: ChildRun
  readonly usage: RunUsage
}

/**
 * What a run of a bound subagent gives back.
 *
 * @category models
 * @since 0.1.0
 */
export type TaskOutcome<O> = Reported<O> | NotReported | TaskSuspended

/**
 * The last element of a streamed run: what the run gave back.
 *
 * @category models
 * @since 0.1.0
 */
export interface RunFinished<out A> {
  readonly _tag: "RunFinished"
  readonly result: A
}
