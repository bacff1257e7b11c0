/**
 * The one case of a store, and what can be done with it. What a former command
 * left unfinished is finished first.
 */
import type { Agent, Answer, Ids, RunError, RunResult } from "@mandate/core"
import { Effect, Fiber } from "effect"
import { Output } from "../../support/src/Output.ts"
import * as Programs from "./Programs.ts"
import * as Runtime from "./Runtime.ts"

/** How a case stands when nobody works on it. */
export type Standing = RunResult.RunResult<string>

type Desk = Agent.Agent<string>

/** The thread of the case. */
export const threadId = "case" as Ids.ThreadId

/** Opens a case, and works on it until it waits. */
export const start = (desk: Desk): Effect.Effect<Standing, RunError.RunError> =>
  leftOpen(desk.run(Programs.request, { threadId }))

/** Gives an answer, and works on the case until it waits again. */
export const answer = (desk: Desk, answer: Answer.Answer): Effect.Effect<Standing, RunError.RunError> =>
  leftOpen(desk.resume(threadId, [answer]))

/** Gives the case up. Gives `false` when none is open. */
export const cancel = Effect.fnUntraced(function*(desk: Desk): Effect.fn.Return<boolean, RunError.RunError> {
  const { status } = yield* desk.status(threadId)
  if (status._tag !== "Running" && status._tag !== "Failed" && status._tag !== "Suspended") return false
  yield* desk.cancel(threadId)
  return true
})

/**
 * How the case stands. One that was left in the middle is gone on with first,
 * and `isRecovered` says so.
 */
export const standing = Effect.fnUntraced(function*(
  desk: Desk
): Effect.fn.Return<{ readonly standing: Standing; readonly isRecovered: boolean }, RunError.RunError, Output> {
  const { runId, status, threadId: thread, usage } = yield* desk.status(threadId)
  if (status._tag !== "Running" && status._tag !== "Failed") {
    return { standing: { threadId: thread, runId, status, usage }, isRecovered: false }
  }
  const output = yield* Output
  yield* output.log(
    status._tag === "Failed"
      ? "The last command failed. Going on with the case."
      : `The last command did not end. Going on with the case once its lease is over, ${Runtime.leaseText} at most.`
  )
  const recovered = yield* leftOpen(desk.recover(threadId)).pipe(
    // Another command was faster.
    Effect.catchReason("RunError", "NothingToRecover", () => Effect.succeed(undefined))
  )
  if (recovered === undefined) return yield* standing(desk)
  return { standing: recovered, isRecovered: true }
})

// Interrupting a verb cancels its run, and Ctrl-C is not meant to: it interrupts the wait alone. The fiber ends when
// the runtime closes, which leaves the run open for the next command.
const leftOpen = <A>(verb: Effect.Effect<A, RunError.RunError>): Effect.Effect<A, RunError.RunError> =>
  Effect.flatMap(Effect.forkDetach(verb), Fiber.join)
