/**
 * How runs stand, typed: answers are decoded here and nowhere else.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Pending from "../loop/Pending.ts"
import * as OpenUsage from "../run/OpenUsage.ts"
import * as RunFailure from "../run/RunFailure.ts"
import * as StoredRun from "../run/StoredRun.ts"
import type { RunRow } from "../service/RunRow.ts"
import type * as Ids from "../values/Ids.ts"
import type { RunError } from "../values/RunError.ts"
import type { Settled } from "../values/RunOutcome.ts"
import type { Completed, CurrentStatus, Refused, RunResult, SettledRun } from "../values/RunResult.ts"
import type { BoundSpec } from "./BoundSpec.ts"

interface Place {
  readonly threadId: string
  readonly runId: string
}

/**
 * The status of a settled run. An answer is decoded from what is stored, so
 * the first reading and every later one are equal.
 *
 * @category getters
 * @since 0.1.0
 */
export const settled = <O>(
  spec: BoundSpec,
  place: Place,
  outcome: Settled
): Effect.Effect<Completed<O> | Refused, RunError> => {
  switch (outcome._tag) {
    case "Completed":
      return Effect.map(answer<O>(spec, place, outcome.answer), (answer) => ({ _tag: "Completed", answer }))
    // Only a parent closes a run with these, and a run with a parent is not asked for here.
    case "ModelFailed":
    case "ToolFatal":
      return RunFailure.fail({ _tag: "CorruptRun", ...place, detail: `a root cannot end with ${outcome._tag}` })
    default:
      return Effect.succeed(outcome)
  }
}

/**
 * How the run of a row stands.
 *
 * @category getters
 * @since 0.1.0
 */
export const current = Effect.fnUntraced(function*<O>(
  spec: BoundSpec,
  row: RunRow
): Effect.fn.Return<RunResult<O, CurrentStatus<O>>, RunError> {
  const place = { threadId: row.threadId as Ids.ThreadId, runId: row.runId as Ids.RunId }
  if (row.state === "Settled") {
    const { messages: _, ...result } = yield* settledRun<O>(spec, row)
    return result
  }
  const usage = yield* RunFailure.fromStore(row.threadId)(OpenUsage.byId(spec.runtime.store, row.runId))
  switch (row.state) {
    case "Running":
      return { ...place, status: { _tag: "Running" }, usage }
    case "Suspended":
      return {
        ...place,
        status: {
          _tag: "Suspended",
          pending: yield* RunFailure.fromStore(row.threadId)(Pending.list(spec.runtime.store, row.runId))
        },
        usage
      }
    case "Failed": {
      const failure = yield* RunFailure.decoded(StoredRun.failure(row))
      return { ...place, status: { _tag: "Failed", reason: RunFailure.reason(row.threadId, failure) }, usage }
    }
  }
})

/**
 * A settled run with the messages it left.
 *
 * @category getters
 * @since 0.1.0
 */
export const settledRun = Effect.fnUntraced(function*<O>(
  spec: BoundSpec,
  row: RunRow
): Effect.fn.Return<SettledRun<O>, RunError> {
  const outcome = yield* RunFailure.decoded(StoredRun.outcome(row))
  return {
    threadId: row.threadId as Ids.ThreadId,
    runId: row.runId as Ids.RunId,
    status: yield* settled<O>(spec, row, outcome),
    usage: yield* RunFailure.decoded(StoredRun.usage(row)),
    messages: yield* RunFailure.decoded(StoredRun.messages(row))
  }
})

const answer = <O>(spec: BoundSpec, place: Place, json: unknown): Effect.Effect<O, RunError> =>
  spec.report === undefined
    ? Effect.succeed(json as O)
    : Effect.provideContext(
      Effect.catch(
        spec.report.decode(json),
        (issues) => RunFailure.fail({ _tag: "CorruptRun", ...place, detail: `answer: ${issues.join("; ")}` })
      ) as Effect.Effect<O, RunError>,
      spec.agent.context
    )
