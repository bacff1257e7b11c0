/**
 * What is said when a run starts and when it settles.
 *
 * **Details**
 *
 * A run of a posture starts and ends with a pair of its own, in the same
 * transactions, so that there is one of each whatever ends it.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { DelegateInput } from "../values/DelegateInput.ts"
import { statusOf } from "../values/DelegateResult.ts"
import type { NewEvent } from "../values/RunEvent.ts"
import type { Settled } from "../values/RunOutcome.ts"
import * as Usage from "../values/Usage.ts"
import * as ActiveRun from "./ActiveRun.ts"

type Run = Omit<ActiveRun.ActiveRun, "format" | "spent">

/**
 * The events of a run that starts.
 *
 * @category constructors
 * @since 0.1.0
 */
export const started = (run: Run, at: number): ReadonlyArray<NewEvent> => [
  ...delegated(run, (pair) => ({ ...pair, _tag: "DelegateStart", at })),
  { ...ActiveRun.origin(run), _tag: "RunStarted", at }
]

/**
 * The events of a run that settles.
 *
 * @category constructors
 * @since 0.1.0
 */
export const settled = (run: Run, outcome: Settled, usage: Usage.RunUsage, at: number): ReadonlyArray<NewEvent> => [
  { ...ActiveRun.origin(run), _tag: "RunSettled", at, status: outcome._tag, usage },
  ...delegated(run, (pair) => ({
    ...pair,
    _tag: "DelegateComplete",
    at,
    status: statusOf(outcome, usage.own, run.budget),
    tokensUsed: Usage.tokens(usage.own),
    toolCallsUsed: usage.own.toolCalls
  }))
]

/**
 * The pair of a call whose result an equal call had given before: no run is
 * started for it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const hit = (run: Run, at: number): ReadonlyArray<NewEvent> => [
  ...delegated(run, (pair) => ({ ...pair, _tag: "DelegateStart", at })),
  ...delegated(run, (pair) => ({
    ...pair,
    _tag: "DelegateComplete",
    at,
    status: "cache_hit",
    tokensUsed: 0,
    toolCallsUsed: 0
  }))
]

/**
 * Whether a run is of a posture, and so has a pair of its own.
 *
 * @category getters
 * @since 0.1.0
 */
export const isDelegated = ({ binding }: Pick<Run, "binding">): boolean => binding?.delegate !== undefined

const delegated = (run: Run, event: (pair: ReturnType<typeof pairOf>) => NewEvent): ReadonlyArray<NewEvent> =>
  run.binding?.delegate === undefined ? [] : [event(pairOf(run, run.binding.delegate))]

const pairOf = (run: Run, { posture, version }: NonNullable<NonNullable<Run["binding"]>["delegate"]>) => {
  const parentTurn = Result.getOrUndefined(decodeInput(run.input))?.parentTurn
  return {
    ...ActiveRun.origin(run),
    subSessionId: run.threadId as string,
    posture: posture.name,
    postureVersion: version,
    ...(run.parentRunId === undefined ? {} : { callerRunId: run.parentRunId }),
    ...(parentTurn === undefined ? {} : { parentTurn })
  }
}

const decodeInput = Schema.decodeUnknownResult(Schema.fromJsonString(DelegateInput))
