/**
 * From what the store and the loop say to the errors that callers get.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { CorruptRow } from "../service/CorruptRow.ts"
import { Fenced, StoreError } from "../service/RunStore.ts"
import * as StoreFailure from "../service/StoreFailure.ts"
import * as ErrorClass from "../values/ErrorClass.ts"
import * as Ids from "../values/Ids.ts"
import { RunError, type RunErrorReason } from "../values/RunError.ts"
import * as RunInput from "../values/RunInput.ts"
import type { Failure } from "../values/RunOutcome.ts"

/**
 * An effect that fails with a reason.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fail = (reason: RunErrorReason): Effect.Effect<never, RunError> => Effect.fail(new RunError({ reason }))

/**
 * Takes what was decoded of a call, or fails with `InvalidInput` of the field.
 *
 * @category combinators
 * @since 0.1.0
 */
export const valid = <A>(field: string, decoded: Result.Result<A, ReadonlyArray<string>>): Effect.Effect<A, RunError> =>
  Result.match(decoded, {
    onSuccess: Effect.succeed,
    onFailure: (issues) => fail({ _tag: "InvalidInput", field, issues })
  })

/**
 * Fails with `InvalidInput` for what is no text: what comes from outside may be
 * anything, whatever the types say.
 *
 * @category running
 * @since 0.1.0
 */
export const textOnly = (field: string, value: unknown): Effect.Effect<void, RunError> =>
  typeof value === "string" ? Effect.void : fail({ _tag: "InvalidInput", field, issues: ["it is not a text"] })

/**
 * Takes the input of a run, or fails with `InvalidInput` for one that no run may
 * start with.
 *
 * @category running
 * @since 0.1.0
 */
export const runInput = (input: RunInput.RunInput): Effect.Effect<RunInput.RunInput, RunError> => {
  const issues = RunInput.problems(input)
  return issues.length === 0 ? Effect.succeed(input) : fail({ _tag: "InvalidInput", field: "input", issues })
}

/**
 * Fails with `ChildThread` for the thread of a child, and as {@link textOnly} does.
 *
 * @category running
 * @since 0.1.0
 */
export const rootOnly = (threadId: string): Effect.Effect<void, RunError> =>
  Effect.flatMap(
    textOnly("thread id", threadId),
    () => Ids.isChildThread(threadId) ? fail({ _tag: "ChildThread", threadId }) : Effect.void
  )

/**
 * The reason that a failed run gives its caller.
 *
 * @category getters
 * @since 0.1.0
 */
export const reason = (threadId: string, failure: Failure): RunErrorReason =>
  failure._tag === "CorruptRun" ? failure : { ...failure, threadId }

/**
 * Fails as a run did: with the reason that its caller gets, caused by what was
 * thrown in this process.
 *
 * @category constructors
 * @since 0.1.0
 */
export const ofDrive = (
  threadId: string,
  { cause, failure }: { readonly failure: Failure; readonly cause?: unknown }
): Effect.Effect<never, RunError> =>
  Effect.suspend(() => Effect.fail(ErrorClass.withCause(new RunError({ reason: reason(threadId, failure) }), cause)))

/**
 * Turns errors of the store, and rows of it that cannot be read, into errors
 * of a verb on a thread.
 *
 * @category combinators
 * @since 0.1.0
 */
export const fromStore =
  (threadId: string) =>
  <A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, Exclude<E, StoreFault> | RunError, R> =>
    Effect.catch(self, (error): Effect.Effect<never, Exclude<E, StoreFault> | RunError> => {
      if (error instanceof Fenced) return fail({ _tag: "ThreadBusy", threadId })
      if (error instanceof StoreError) return fail({ ...StoreFailure.of(error), threadId })
      if (error instanceof CorruptRow) return corrupt(error)
      return Effect.fail(error as Exclude<E, StoreFault>)
    })

type StoreFault = StoreError | Fenced | CorruptRow

/**
 * Takes a decoded column, or fails with `CorruptRun`.
 *
 * @category combinators
 * @since 0.1.0
 */
export const decoded = <A>(result: Result.Result<A, CorruptRow>): Effect.Effect<A, RunError> =>
  Result.match(result, { onSuccess: Effect.succeed, onFailure: corrupt })

const corrupt = ({ detail, runId, threadId }: CorruptRow): Effect.Effect<never, RunError> =>
  fail({ _tag: "CorruptRun", threadId, runId, detail })
