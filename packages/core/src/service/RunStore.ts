/**
 * Where runs are kept: an encoded driver of rows and strings.
 *
 * **Details**
 *
 * Rules that the loop and the life of runs rely on, for every store:
 *
 * 1. Each operation is one transaction: all of it happens, or nothing.
 * 2. A record is inserted once; a second insert of its key changes nothing.
 * 3. `append`, `create`, `suspend`, `fail` and `settle` check their fence
 *    first: a run that is not open, or whose thread has another epoch, fails
 *    with `Fenced` and changes nothing.
 * 4. Every lease that is taken gives its thread an epoch that is higher than
 *    any epoch before it, also after the thread was deleted.
 * 5. A settled run never changes again, and its records are gone.
 * 6. No run becomes `Suspended` whose call has ended that it would wait on.
 * 7. Durable events are numbered per root thread from 1, in the transaction of
 *    what they describe. They go with their run.
 *
 * All JSON is text here. The typed side lives in `run/`, written once for all
 * stores.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import * as ErrorClass from "../values/ErrorClass.ts"
import * as StoreCode from "../values/StoreCode.ts"
import type {
  Answered,
  ClosedRun,
  Events,
  Fence,
  Leased,
  LeaseRequest,
  ListedThread,
  LoadedRun,
  NewRun,
  Opened,
  Record,
  RunRow,
  Settlement,
  Stopped,
  ThreadQuery
} from "./RunRow.ts"

/**
 * The writer has lost its run: the epoch of its thread is another, or the run
 * is not open any more. What it wanted to write is dropped.
 *
 * @category errors
 * @since 0.1.0
 */
export class Fenced extends ErrorClass.TaggedError<Fenced>("~mandate/Fenced")("Fenced", { runId: Schema.String }) {
  override get message(): string {
    return `The run "${this.runId}" has been taken over or has ended`
  }
}

/**
 * The store could not do an operation.
 *
 * **Details**
 *
 * - `operation`: what it could not do, in words that read on from "could not":
 *   `read the thread "t"`
 * - `code`: the code of its error, such as `SQLITE_FULL`, `SQLITE_BUSY` or
 *   `STORE_CLOSED`; absent where it has none. A run that fails keeps it, so it
 *   holds no data
 * - `cause`: the error itself. It is in the log at level Debug, and never stored
 *
 * @category errors
 * @since 0.1.0
 */
export class StoreError extends ErrorClass.TaggedError<StoreError>("~mandate/StoreError")("StoreError", {
  operation: Schema.String,
  code: Schema.optionalKey(Schema.String),
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message(): string {
    return `The run store could not ${this.operation}${StoreCode.suffix(this.code)}`
  }
}

/**
 * Service that keeps runs, their journals and their durable events.
 *
 * @category services
 * @since 0.1.0
 */
export class RunStore extends Context.Service<RunStore, {
  /**
   * Starts the next run of a thread and takes the thread's lease, if the thread
   * has no open run. `events` are those of the run under the id it gets.
   */
  readonly open: (
    run: NewRun,
    lease: LeaseRequest,
    events: (runId: string) => Events
  ) => Effect.Effect<Opened, StoreError>

  /**
   * Inserts the run of a child if it is absent, and takes the lease of its
   * thread while the run is open. Gives the run that is there then, and the
   * number of the first event; `created` says whether this call inserted it,
   * and only then are the events appended.
   */
  readonly create: (
    parent: Fence,
    run: NewRun,
    lease: LeaseRequest,
    events: Events
  ) => Effect.Effect<
    { readonly created: boolean; readonly run: LoadedRun; readonly sequence: number },
    StoreError | Fenced
  >

  /** Reads a run with its records. */
  readonly load: (runId: string) => Effect.Effect<LoadedRun | undefined, StoreError>

  /** Reads the runs of a thread, oldest first, without their records. */
  readonly thread: (threadId: string) => Effect.Effect<ReadonlyArray<RunRow>, StoreError>

  /** Reads root threads with their last runs, in the order of their ids by code units. */
  readonly list: (query: ThreadQuery) => Effect.Effect<ReadonlyArray<ListedThread>, StoreError>

  /** Reads the children of a run in the order they were created. */
  readonly children: (runId: string) => Effect.Effect<ReadonlyArray<RunRow>, StoreError>

  /**
   * Appends records. `close` settles failed children of this run, and what is
   * open below them, in the same transaction, and prunes the children of each.
   * `keepChildren` then prunes settled child threads of this thread down to that
   * many, newest kept, among those whose result this run or a settled one has.
   * Gives the number of the first event, as all that write events do; 0 for none.
   */
  readonly append: (fence: Fence, batch: {
    readonly records: ReadonlyArray<Record>
    readonly events: Events
    readonly close?: ReadonlyArray<ClosedRun & { readonly runId: string }>
    readonly keepChildren?: number
  }) => Effect.Effect<number, StoreError | Fenced>

  /**
   * Marks a run `Suspended`; its records stay. Changes nothing, and gives
   * nothing, when a child of it has settled whose result it has not recorded, or
   * a suspended run below it has such a child: its call waits no more.
   */
  readonly suspend: (
    fence: Fence,
    to: Stopped,
    events: Events
  ) => Effect.Effect<number | undefined, StoreError | Fenced>

  /** Marks a run `Failed`; its records stay. */
  readonly fail: (
    fence: Fence,
    to: Stopped & { readonly outcome: string },
    events: Events
  ) => Effect.Effect<number, StoreError | Fenced>

  /**
   * Settles a run, deletes its records, gives its lease back and prunes its
   * children. A run whose thread was made for it goes altogether.
   */
  readonly settle: (
    fence: Fence,
    settlement: Settlement,
    events: Events,
    keepChildren: number
  ) => Effect.Effect<number, StoreError | Fenced>

  /**
   * Takes the lease of a thread that nobody holds any more, that is ours, or by
   * force. Where it is taken from another holder, that holder loses every
   * thread below as well, in the same transaction: each gets a new epoch and
   * goes to whoever asks. A thread below that is held by somebody else, or by
   * nobody, is left alone.
   */
  readonly lease: (
    threadId: string,
    lease: LeaseRequest & { readonly force?: boolean }
  ) => Effect.Effect<Leased, StoreError>

  /** Whether an instance other than the one that asks holds a thread. */
  readonly isHeld: (threadId: string, lease: LeaseRequest) => Effect.Effect<boolean, StoreError>

  /** Marks a run that is at rest `Running` again, under its fence. */
  readonly reopen: (fence: Fence, events: Events) => Effect.Effect<number, StoreError | Fenced>

  /**
   * Stores answers in suspended runs, the root of the thread first, marks those
   * runs `Running` and takes the thread's lease. Fails with `Fenced` when one of
   * them is not suspended any more, or has one of the answers already.
   */
  readonly answer: (
    threadId: string,
    lease: LeaseRequest,
    runs: ReadonlyArray<Answered>,
    events: Events
  ) => Effect.Effect<{ readonly epoch: number; readonly sequence: number }, StoreError | Fenced>

  /** Extends every lease of a holder. */
  readonly renew: (lease: LeaseRequest) => Effect.Effect<void, StoreError>

  /** Gives every lease of a holder back. */
  readonly release: (holder: string) => Effect.Effect<void, StoreError>

  /**
   * Takes over a run and every open run below it: raises the epochs, so that
   * no former writer can write, and reads them all, parents first. With an
   * `epoch`, only while the thread of the run has that one; nothing otherwise.
   */
  readonly seize: (
    runId: string,
    lease: LeaseRequest & { readonly epoch?: number }
  ) => Effect.Effect<ReadonlyArray<LoadedRun>, StoreError>

  /**
   * Settles several runs of one tree, the top first, in one transaction, each
   * under its fence, and prunes the children of each. A top whose thread was
   * made for it goes altogether.
   */
  readonly close: (
    runs: ReadonlyArray<ClosedRun & { readonly fence: Fence }>,
    events: Events
  ) => Effect.Effect<number, StoreError | Fenced>

  /**
   * Deletes a thread and everything below it. With an `epoch`, only while the
   * thread has that one: fails with `Fenced` where it has been taken since.
   */
  readonly forget: (threadId: string, epoch?: number) => Effect.Effect<void, StoreError | Fenced>

  /** Reads the durable events of a root thread with a number over `after`. */
  readonly events: (
    rootThreadId: string,
    after: number
  ) => Effect.Effect<ReadonlyArray<{ readonly sequence: number; readonly json: string }>, StoreError>
}>()("~mandate/RunStore") {}
