/**
 * The verbs of an agent as promises.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type * as Stream from "effect/Stream"
import type { RunHandle, Runs } from "../delegation/Runs.ts"
import * as RunFailure from "../run/RunFailure.ts"
import type { Answer } from "../values/Answer.ts"
import type { RunId, ThreadId } from "../values/Ids.ts"
import type * as RunConfig from "../values/RunConfig.ts"
import type { RunError } from "../values/RunError.ts"
import type { RunEvent } from "../values/RunEvent.ts"
import type { CurrentStatus, RunFinished, RunResult, SettledRun } from "../values/RunResult.ts"
import type * as VerbOptions from "../values/VerbOptions.ts"
import * as CallSignal from "./CallSignal.ts"
import type { Cancellable } from "./CallSignal.ts"

export type {
  /**
   * A signal that cancels what it is given to.
   *
   * @category models
   * @since 0.1.0
   */
  Cancellable
} from "./CallSignal.ts"

/**
 * The verbs of an agent that takes an `I`, answers with an `O`, and gives back
 * an `A` for each run. They reject with `RunError`.
 *
 * @category models
 * @since 0.1.0
 */
export interface PromiseRuns<in I, out A, out O, C = undefined> {
  /** Id of the agent. */
  readonly id: string

  /**
   * Runs to the end. Aborting the signal cancels the run and everything below
   * it, and then rejects with the signal's reason.
   */
  readonly run: (input: I, ...config: RunConfig.Args<C, Cancellable>) => Promise<A>

  /**
   * Runs and gives the events as they happen, `RunFinished` last. The run
   * starts when the iteration does. Leaving the iteration does not stop it.
   */
  readonly stream: (input: I, ...config: RunConfig.Args<C>) => AsyncIterable<RunEvent | RunFinished<A>>

  /** Starts a run and gives a handle to it. */
  readonly start: (input: I, ...config: RunConfig.Args<C>) => Promise<PromiseHandle<A>>

  /**
   * Answers some or all of what the suspended run of a thread waits on, by the
   * ids of `pending`, and goes on with it. The signal cancels it.
   */
  readonly resume: (threadId: string, answers: ReadonlyArray<Answer>, options?: Cancellable) => Promise<A>

  /**
   * Goes on with a run that failed, or whose process is gone. A thread that is
   * held is waited for, one lease time at most; `force` takes it over at once.
   * The signal cancels the run.
   */
  readonly recover: (threadId: string, options?: Cancellable & { readonly force?: boolean }) => Promise<A>

  /** Cancels the open run of a thread, or one child of it by its thread id. */
  readonly cancel: (threadId: string, options?: { readonly child?: string }) => Promise<void>

  /** How the last run of a thread stands. */
  readonly status: (threadId: string) => Promise<RunResult<O, CurrentStatus<O>>>

  /** The settled runs of a thread, oldest first. */
  readonly history: (threadId: string) => Promise<ReadonlyArray<SettledRun<O>>>

  /** Deletes a thread with all below it. No error when there is none. */
  readonly forget: (threadId: string) => Promise<void>
}

/**
 * A run in progress.
 *
 * **Details**
 *
 * - `await`: what the run gives back
 * - `cancel`: cancels the run and everything below it
 * - `events`: the events of the run and everything below it, from its start
 *   until it ends. Leaving the iteration changes nothing
 *
 * @category models
 * @since 0.1.0
 */
export interface PromiseHandle<out A> {
  readonly threadId: ThreadId
  readonly runId: RunId
  readonly await: () => Promise<A>
  readonly cancel: () => Promise<void>
  readonly events: AsyncIterable<RunEvent>
}

/**
 * How effects become promises, and streams async iterables.
 *
 * @category models
 * @since 0.1.0
 */
export interface Perform {
  readonly effect: <A, E>(effect: Effect.Effect<A, E>, signal?: AbortSignal | undefined) => Promise<A>
  readonly stream: <A, E>(stream: Stream.Stream<A, E>) => AsyncIterable<A>
}

/**
 * The verbs of an agent as promises.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <I, A, O, C>(runs: Runs<I, A, O, C>, perform: Perform): PromiseRuns<I, A, O, C> => ({
  id: runs.id,
  run: (input, ...[options]) =>
    withSignal(perform, options, (rest) => runs.run(input, ...[rest] as unknown as RunConfig.Args<C>)),
  stream: (input, ...config) => perform.stream(runs.stream(input, ...config)),
  start: (input, ...config) => perform.effect(runs.start(input, ...config)).then((started) => handle(started, perform)),
  resume: (threadId, answers, options) =>
    Result.match(CallSignal.decode(options), {
      onSuccess: ({ signal }) => perform.effect(runs.resume(threadId, answers), signal),
      onFailure: (issues) => perform.effect(invalid(issues))
    }),
  recover: (threadId, options) =>
    withSignal(perform, options, (rest) => runs.recover(threadId, rest as VerbOptions.RecoverOptions)),
  cancel: (threadId, options) => perform.effect(runs.cancel(threadId, options)),
  status: (threadId) => perform.effect(runs.status(threadId)),
  history: (threadId) => perform.effect(runs.history(threadId)),
  forget: (threadId) => perform.effect(runs.forget(threadId))
})

const withSignal = <A>(
  perform: Perform,
  options: unknown,
  verb: (rest: unknown) => Effect.Effect<A, RunError>
): Promise<A> =>
  Result.match(CallSignal.split(options), {
    onSuccess: ({ rest, signal }) => perform.effect(verb(rest), signal),
    onFailure: (issues) => perform.effect(invalid(issues))
  })

const invalid = (issues: ReadonlyArray<string>): Effect.Effect<never, RunError> =>
  RunFailure.fail({ _tag: "InvalidInput", field: "options", issues })

const handle = <A>(
  { await: outcome, cancel, events, runId, threadId }: RunHandle<A>,
  perform: Perform
): PromiseHandle<A> => ({
  threadId,
  runId,
  await: () => perform.effect(outcome),
  cancel: () => perform.effect(cancel),
  events: perform.stream(events)
})
