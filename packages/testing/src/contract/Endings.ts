/**
 * Properties of calls that fail, or are given up.
 *
 * @since 0.1.0
 */
import { ModelError } from "@mandate/core"
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Asking from "./Asking.ts"
import { response, type Rule } from "./Responses.ts"
import { secret, type Subject } from "./Subject.ts"
import { ContractViolation, holds, same } from "./Violation.ts"

/**
 * The properties of endings. There is one for each failure that the subject
 * can be made to give.
 *
 * @category constructors
 * @since 0.1.0
 */
export const rules = (subject: Subject): ReadonlyArray<Rule> => [
  ...(subject.failures ?? []).map(fails),
  interrupts
]

const fails = (reason: ModelError.ModelErrorReason): Rule => ({
  name: `fails with ${reason}, without a text of the provider, and does not ask again`,
  check: Effect.fnUntraced(function*(subject, way) {
    const whole = response([{ type: "text", text: "not asked for" }])
    const made = yield* subject.make([{ _tag: "Fail", reason }, { _tag: "Respond", response: whole }])
    const exit = yield* Effect.exit(way.ask(made.client, Asking.request()))
    const error = Exit.isFailure(exit) ? Cause.squash(exit.cause) : undefined
    if (!(error instanceof ModelError.ModelError)) {
      return yield* new ContractViolation({ problem: "the call does not fail with a ModelError" })
    }
    const { modelId, provider } = made.client
    yield* same(
      "the error",
      { reason: error.reason, provider: error.provider, modelId: error.modelId },
      { reason, provider, modelId }
    )
    const told = [error.message, String(error), error.stack, JSON.stringify(error), Cause.pretty(exitCause(exit))]
    yield* holds("the error holds a text of the provider", told.every((text) => text?.includes(secret) !== true))
    yield* same("the number of calls", (yield* made.sent).length, 1)
  })
})

const interrupts: Rule = {
  name: "gives the call up when it is interrupted",
  check: Effect.fnUntraced(function*(subject, way) {
    const made = yield* subject.make([{ _tag: "Hang" }])
    const fiber = yield* Effect.forkChild(way.ask(made.client, Asking.request()))
    yield* eventually("the call does not reach the model", Effect.map(made.sent, (all) => all.length === 1))
    yield* Fiber.interrupt(fiber)
    const exit = yield* Fiber.await(fiber)
    yield* holds("the call does not end as interrupted", Exit.hasInterrupts(exit))
    yield* eventually("the model does not see that it was given up", Effect.map(made.interrupted, (n) => n === 1))
  })
}

const maxTurns = 1_000

// Lets everything else go on, without time passing, until something holds.
const eventually = (problem: string, is: Effect.Effect<boolean>): Effect.Effect<void, ContractViolation> => {
  const wait = (turns: number): Effect.Effect<void, ContractViolation> =>
    Effect.flatMap(is, (holds) => {
      if (holds) return Effect.void
      return turns === 0
        ? Effect.fail(new ContractViolation({ problem }))
        : Effect.andThen(Effect.yieldNow, Effect.suspend(() => wait(turns - 1)))
    })
  return wait(maxTurns)
}

const exitCause = <A, E>(exit: Exit.Exit<A, E>): Cause.Cause<E> => Exit.isFailure(exit) ? exit.cause : Cause.empty
