/**
 * What comes of a posture's run, for whoever called it.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as CloseFailed from "../run/CloseFailed.ts"
import * as LostRun from "../run/LostRun.ts"
import * as RunFailure from "../run/RunFailure.ts"
import type { Started } from "../run/StartRun.ts"
import type { Mandate } from "../service/Mandate.ts"
import type { DriveEnd } from "../service/RunHost.ts"
import type { ResolvedBudget } from "../values/Budget.ts"
import { type DelegateResult, statusOf, type SubSession } from "../values/DelegateResult.ts"
import type { Json } from "../values/Json.ts"
import type { RunBinding } from "../values/RunBinding.ts"
import type { RunError } from "../values/RunError.ts"
import { childFailure, type Settled } from "../values/RunOutcome.ts"
import * as Usage from "../values/Usage.ts"
import type { BoundSpec } from "./BoundSpec.ts"
import type { Kept } from "./EqualResults.ts"
import * as Standing from "./Standing.ts"

/**
 * A posture's run, and when its call began, in milliseconds since 1970.
 *
 * @category models
 * @since 0.1.0
 */
export interface Session {
  readonly subagent: BoundSpec
  readonly binding: RunBinding
  readonly budget: ResolvedBudget
  readonly depth: number
  readonly since: number
}

/**
 * A result, and what of it equal calls may use.
 *
 * @category models
 * @since 0.1.0
 */
export interface Outcome {
  readonly result: DelegateResult
  readonly keep: Kept | undefined
}

/**
 * What is known of a sub-session by now.
 *
 * @category getters
 * @since 0.1.0
 */
export const subSession = (
  runtime: Mandate["Service"],
  { binding, depth, since }: Session,
  subSessionId: string,
  own: Usage.Usage
): Effect.Effect<SubSession> =>
  Effect.map(runtime.lease, ({ now }) => ({
    tokensUsed: Usage.tokens(own),
    toolCallsUsed: own.toolCalls,
    elapsed: now - since,
    subSessionId,
    postureName: binding.delegate?.posture.name ?? "",
    postureVersion: binding.delegate?.version ?? "",
    depth
  }))

/**
 * The result of a drive's end.
 *
 * **Details**
 *
 * A run that failed is closed here: whoever called it has no way to recover it
 * but to call again. What says nothing of the run, such as a store that does
 * not answer, is an error, and leaves it open.
 *
 * @category getters
 * @since 0.1.0
 */
export const of: (
  runtime: Mandate["Service"],
  session: Session,
  started: Started,
  end: DriveEnd
) => Effect.Effect<Outcome, RunError> = Effect.fnUntraced(function*(
  runtime,
  session,
  started,
  end
) {
  const { runId, threadId } = started
  switch (end._tag) {
    case "Suspended":
      return {
        result: {
          ...(yield* subSession(runtime, session, threadId, end.usage.own)),
          status: "suspended",
          pending: end.pending
        },
        keep: undefined
      }
    case "Settled":
      return yield* settled(runtime, session, started, end.outcome, end.usage.own)
    case "Lost":
      return yield* of(runtime, session, started, yield* LostRun.end(runtime, started, end))
    case "Failed": {
      const closed = yield* RunFailure.fromStore(threadId)(
        CloseFailed.close(runtime, runId, session.subagent.agent.id, end.failure)
      )
      return closed === undefined
        ? yield* RunFailure.ofDrive(threadId, end)
        : yield* settled(runtime, session, started, closed.outcome, closed.usage.own)
    }
  }
})

const settled = Effect.fnUntraced(function*(
  runtime: Mandate["Service"],
  session: Session,
  started: Started,
  outcome: Settled,
  own: Usage.Usage
): Effect.fn.Return<Outcome, RunError> {
  const known = yield* subSession(runtime, session, started.threadId, own)
  const status = statusOf(outcome, own, session.budget)
  const error = childFailure(outcome) ?? { _tag: "BudgetExceeded", limit: "tokens" } as const
  if (status !== "success" && status !== "partial") return { result: { ...known, status, error }, keep: undefined }
  const result = yield* resultOf(session, started, outcome)
  const json = encodedOf(outcome)
  return status === "success"
    ? { result: { ...known, status, result }, keep: json === undefined ? undefined : { json, error: undefined } }
    : { result: { ...known, status, result, error }, keep: json === undefined ? undefined : { json, error } }
})

const encodedOf = (outcome: Settled): Json | undefined => {
  switch (outcome._tag) {
    case "Completed":
      return outcome.answer as Json
    case "BudgetExceeded":
      return outcome.said
    default:
      return undefined
  }
}

const resultOf = (
  { subagent }: Session,
  started: Started,
  outcome: Settled
): Effect.Effect<unknown, RunError> => {
  if (outcome._tag === "BudgetExceeded") return Effect.succeed(outcome.said)
  return Effect.map(
    Standing.settled<unknown>(subagent, started, outcome),
    (status) => status._tag === "Completed" ? status.answer : undefined
  )
}
