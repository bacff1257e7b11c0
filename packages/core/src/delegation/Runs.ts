/**
 * Running a compiled agent: the verbs, typed by what goes in and what comes
 * out. `Agent` and `BoundAgent` are two of these.
 *
 * **Details**
 *
 * Invariants:
 *
 * 1. Interrupting `run`, `resume` or `recover` cancels the run, from its first
 *    write on: nothing between that and the wait can be interrupted.
 * 2. Interrupting `await`, and leaving `stream` or `events`, changes nothing.
 * 3. A drive that lost its run says nothing of it: the store is asked.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Stream from "effect/Stream"
import * as CancelRun from "../run/CancelRun.ts"
import * as LostRun from "../run/LostRun.ts"
import * as RecoverRun from "../run/RecoverRun.ts"
import type { Restore } from "../run/Restore.ts"
import * as ResumeRun from "../run/ResumeRun.ts"
import * as RunFailure from "../run/RunFailure.ts"
import * as StartRun from "../run/StartRun.ts"
import * as Terms from "../run/Terms.ts"
import * as ThreadVerbs from "../run/ThreadVerbs.ts"
import * as WatchRun from "../run/WatchRun.ts"
import type { DriveEnd } from "../service/RunHost.ts"
import type { Answer } from "../values/Answer.ts"
import type * as Ids from "../values/Ids.ts"
import type * as RunConfig from "../values/RunConfig.ts"
import type { RunError } from "../values/RunError.ts"
import type { RunEvent } from "../values/RunEvent.ts"
import type { RunInput } from "../values/RunInput.ts"
import type { CurrentStatus, RunFinished, RunResult, SettledRun } from "../values/RunResult.ts"
import * as VerbOptions from "../values/VerbOptions.ts"
import type { BoundSpec } from "./BoundSpec.ts"
import * as CheckAnswer from "./CheckAnswer.ts"
import * as Standing from "./Standing.ts"

/**
 * A run in progress.
 *
 * **Details**
 *
 * - `await`: what the run gives back. Interrupting it changes nothing
 * - `cancel`: cancels the run and everything below it
 * - `events`: the events of the run and everything below it, until it ends:
 *   the durable ones from its start, the live ones from when the stream is
 *   read (`stream` has them all). Of a thread that was made for the run none
 *   are left once it has ended. Leaving the stream changes nothing
 *
 * @category models
 * @since 0.1.0
 */
export interface RunHandle<out A> {
  readonly threadId: Ids.ThreadId
  readonly runId: Ids.RunId
  readonly await: Effect.Effect<A, RunError>
  readonly cancel: Effect.Effect<void, RunError>
  readonly events: Stream.Stream<RunEvent>
}

/**
 * The verbs of an agent that takes an `I`, answers with an `O`, and gives back
 * an `A` for each run. `C` is the context that a run is given; `undefined` for
 * an agent that declares none.
 *
 * @category models
 * @since 0.1.0
 */
export interface Runs<in I, out A, out O, C = undefined> {
  /** Id of the agent. */
  readonly id: string

  /** Runs to the end. Interrupting it cancels the run and everything below it. */
  readonly run: (input: I, ...config: RunConfig.Args<C>) => Effect.Effect<A, RunError>

  /**
   * Runs and gives the events as they happen, `RunFinished` last. Models are
   * asked in pieces where they can. Leaving the stream does not stop the run.
   */
  readonly stream: (input: I, ...config: RunConfig.Args<C>) => Stream.Stream<RunEvent | RunFinished<A>, RunError>

  /** Starts a run and gives a handle to it. */
  readonly start: (input: I, ...config: RunConfig.Args<C>) => Effect.Effect<RunHandle<A>, RunError>

  /**
   * Answers some or all of what the suspended run of a thread waits on, by the
   * ids of `pending`, and goes on with it.
   */
  readonly resume: (threadId: string, answers: ReadonlyArray<Answer>) => Effect.Effect<A, RunError>

  /**
   * Goes on with a run that failed, or whose process is gone. A thread that is
   * held is waited for, one lease time at most; `force` takes it over at once,
   * and whoever drove the run writes nothing more.
   */
  readonly recover: (threadId: string, options?: VerbOptions.RecoverOptions) => Effect.Effect<A, RunError>

  /**
   * Cancels the open run of a thread, or one child of it by its thread id. A
   * suspended run is driven on after the cancel of a child, and not waited for.
   */
  readonly cancel: (threadId: string, options?: VerbOptions.CancelOptions) => Effect.Effect<void, RunError>

  /** How the last run of a thread stands. */
  readonly status: (threadId: string) => Effect.Effect<RunResult<O, CurrentStatus<O>>, RunError>

  /** The settled runs of a thread, oldest first. */
  readonly history: (threadId: string) => Effect.Effect<ReadonlyArray<SettledRun<O>>, RunError>

  /** Deletes a thread with all below it. No error when there is none. */
  readonly forget: (threadId: string) => Effect.Effect<void, RunError>
}

/**
 * How one drive came out, and where.
 *
 * @category models
 * @since 0.1.0
 */
export interface Ended {
  readonly threadId: Ids.ThreadId
  readonly runId: Ids.RunId
  readonly end: Exclude<DriveEnd, { readonly _tag: "Lost" | "Failed" }>
}

/**
 * Gives what a run on a thread made for it would give: from what is known, or
 * by `work`, which runs it on that thread.
 *
 * @category models
 * @since 0.1.0
 */
export type Reuse<in I, in out A> = (
  call: { readonly threadId: Ids.ThreadId; readonly input: I; readonly terms: Terms.Terms },
  work: Effect.Effect<A, RunError>
) => Effect.Effect<A, RunError>

/**
 * The verbs of a compiled agent. `encode` turns an input into its JSON and its
 * prompt, `result` turns how a drive came out into what callers get. `reuse` is
 * asked before a run that nobody named a thread for; one on a thread that was
 * named is wanted there, not only its report.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <I, A, O, C = undefined>(
  spec: BoundSpec,
  encode: (input: I) => Effect.Effect<RunInput, RunError>,
  result: (ended: Ended) => Effect.Effect<A, RunError>,
  reuse?: Reuse<I, A>
): Runs<I, A, O, C> => {
  const { runtime } = spec
  const begin = (threadId: Ids.ThreadId, input: I, config: RunConfig.WithContext | undefined, streaming: boolean) =>
    Effect.flatMap(
      encode(input),
      (encoded) => StartRun.start(runtime, spec, threadId, encoded, config, streaming)
    )
  const outcome = (started: StartRun.Started) =>
    Effect.flatMap(started.wait, (end) => Effect.flatMap(ended(runtime, started, end), result))
  // A caller that was interrupted while the run started is one too.
  const cancelling = (started: StartRun.Started, restore: Restore) =>
    Effect.onInterrupt(
      restore(outcome(started)),
      () => Effect.ignore(CancelRun.driven(runtime, started))
    )
  const handle = (started: StartRun.Started): RunHandle<A> => ({
    threadId: started.threadId,
    runId: started.runId,
    await: outcome(started),
    cancel: CancelRun.run(runtime, started),
    events: WatchRun.events(runtime, started, started.sequence - 1)
  })
  return {
    id: spec.agent.id,
    run: (input, ...[options]) =>
      placed(runtime, options, (threadId, config) => {
        const work = Effect.uninterruptibleMask((restore) =>
          Effect.flatMap(begin(threadId, input, config, false), (started) => cancelling(started, restore))
        )
        if (reuse === undefined || config.threadId !== undefined) return work
        // What would be refused is refused, whatever is known of an equal call.
        return Effect.flatMap(Terms.of(runtime, spec, config), (terms) => reuse({ threadId, input, terms }, work))
      }),
    start: (input, ...[options]) =>
      Effect.uninterruptible(placed(runtime, options, (threadId, config) => begin(threadId, input, config, false)))
        .pipe(Effect.map(handle)),
    stream: (input, ...[options]) =>
      Stream.unwrap(Effect.gen(function*() {
        const config = yield* Terms.decode(options)
        const threadId = yield* Terms.threadOf(runtime, config)
        const live = yield* runtime.events.subscribe(threadId)
        const started = yield* Effect.uninterruptible(begin(threadId, input, config, true))
        yield* WatchRun.endWith(started, live)
        return Stream.fromQueue(live).pipe(
          Stream.filter((event) => WatchRun.isAfter(event, started.sequence - 1)),
          Stream.takeUntil((event) => WatchRun.endsDrive(started.runId, event)),
          Stream.concat(Stream.fromEffect(
            Effect.map(outcome(started), (result): RunFinished<A> => ({ _tag: "RunFinished", result }))
          ))
        )
      })),
    resume: (threadId, answers) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(
          ResumeRun.resume(runtime, spec, threadId, answers, CheckAnswer.make(spec)),
          (started) => cancelling(started, restore)
        )
      ),
    recover: (threadId, options) =>
      Effect.flatMap(
        RunFailure.valid("options", VerbOptions.decodeRecover(options)),
        ({ force }) =>
          Effect.uninterruptibleMask((restore) =>
            Effect.flatMap(
              RecoverRun.recover(runtime, spec, threadId, force === true ? "force" : "wait", restore),
              (started) => cancelling(started, restore)
            )
          )
      ),
    cancel: (threadId, options) =>
      Effect.flatMap(RunFailure.valid("options", VerbOptions.decodeCancel(options)), ({ child }) =>
        child === undefined
          ? CancelRun.root(runtime, threadId)
          : CancelRun.child(runtime, spec, threadId, child)),
    status: (threadId) =>
      Effect.flatMap(ThreadVerbs.lastRun(runtime, threadId), (row) => Standing.current<O>(spec, row)),
    history: (threadId) =>
      Effect.flatMap(
        Effect.andThen(
          ThreadVerbs.lastRun(runtime, threadId),
          RunFailure.fromStore(threadId)(runtime.store.thread(threadId))
        ),
        (rows) =>
          Effect.forEach(rows.filter((row) => row.state === "Settled"), (row) => Standing.settledRun<O>(spec, row))
      ),
    forget: (threadId) => ThreadVerbs.forget(runtime, threadId)
  }
}

const placed = <A>(
  runtime: BoundSpec["runtime"],
  options: RunConfig.WithContext | undefined,
  use: (threadId: Ids.ThreadId, config: RunConfig.WithContext) => Effect.Effect<A, RunError>
): Effect.Effect<A, RunError> =>
  Effect.flatMap(
    Terms.decode(options),
    (config) => Effect.flatMap(Terms.threadOf(runtime, config), (threadId) => use(threadId, config))
  )

const ended = (
  runtime: BoundSpec["runtime"],
  started: StartRun.Started,
  end: DriveEnd
): Effect.Effect<Ended, RunError> => {
  const { runId, threadId } = started
  switch (end._tag) {
    case "Failed":
      return RunFailure.ofDrive(threadId, end)
    case "Lost":
      return Effect.flatMap(LostRun.end(runtime, started, end), (end) => ended(runtime, started, end))
    default:
      return Effect.succeed({ threadId, runId, end })
  }
}
