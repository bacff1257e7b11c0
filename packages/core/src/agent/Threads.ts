/**
 * Threads and runs as the store has them, whatever agents they are of.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import * as Stream from "effect/Stream"
import * as Children from "../loop/Children.ts"
import * as Pending from "../loop/Pending.ts"
import * as RunFailure from "../run/RunFailure.ts"
import * as WatchRun from "../run/WatchRun.ts"
import { Mandate } from "../service/Mandate.ts"
import type { RunRow } from "../service/RunRow.ts"
import * as Options from "../values/Options.ts"
import type { RunError } from "../values/RunError.ts"
import type { RunEvent } from "../values/RunEvent.ts"
import * as Summaries from "./Summaries.ts"
import type { RunSummary, ThreadSummary, WaitingInterrupt } from "./Summaries.ts"
import * as Filter from "./ThreadFilter.ts"
import type { ThreadFilter } from "./ThreadFilter.ts"

export type {
  /**
   * Which threads to list.
   *
   * @category models
   * @since 0.1.0
   */
  ThreadFilter
} from "./ThreadFilter.ts"

export type {
  /**
   * A run of a thread, or of what was delegated from it.
   *
   * @category models
   * @since 0.1.0
   */
  RunSummary,
  /**
   * A thread with its last run.
   *
   * @category models
   * @since 0.1.0
   */
  ThreadSummary,
  /**
   * An interrupt that a thread waits on.
   *
   * @category models
   * @since 0.1.0
   */
  WaitingInterrupt
}

/**
 * Lists threads, in the order of their ids, one page. A filter that is not valid
 * is `InvalidInput`.
 *
 * **Example** (What waits for a person)
 *
 * ```ts
 * import { Threads } from "@mandate/core"
 *
 * export const waiting = Threads.list({ states: ["Suspended"], limit: 20 })
 * ```
 *
 * @category getters
 * @since 0.1.0
 */
export const list = Effect.fnUntraced(function*(
  filter?: ThreadFilter
): Effect.fn.Return<ReadonlyArray<ThreadSummary>, RunError, Mandate> {
  const { lease, store } = yield* Mandate
  const { after = "", limit = defaultLimit, ...narrowing } = yield* RunFailure.valid("filter", Filter.decode(filter))
  const { now } = yield* lease
  const found = yield* RunFailure.fromStore("")(store.list({ after, limit, ...narrowing }))
  return found.map((thread) => Summaries.ofThread(thread, now))
})

/**
 * Lists threads, in the order of their ids, as pages of `limit` are read.
 * Threads that come and go meanwhile may be among them or not; none comes
 * twice.
 *
 * @category getters
 * @since 0.1.0
 */
export const all = (filter?: ThreadFilter): Stream.Stream<ThreadSummary, RunError, Mandate> =>
  Stream.unwrap(Effect.map(RunFailure.valid("filter", Filter.decode(filter)), pages))

/**
 * Lists what all suspended threads wait on, in the order of their ids and of
 * the calls that wait, whatever agents they are of and whatever process left
 * them.
 *
 * **Details**
 *
 * `limit` is how many threads are read at a time. A thread that cannot be read
 * is left out, and a warning in the log names it: it would hide all others.
 *
 * **Example** (An inbox)
 *
 * ```ts
 * import { Threads } from "@mandate/core"
 * import { Effect, Stream } from "effect"
 *
 * export const inbox = Effect.map(Stream.runCollect(Threads.pending()), (waiting) =>
 *   waiting.map(({ agentPath, id, threadId }) => `${threadId} ${id}, for ${agentPath.join(" > ")}`))
 * ```
 *
 * @category getters
 * @since 0.1.0
 */
export const pending = (
  filter?: Omit<ThreadFilter, "states">
): Stream.Stream<WaitingInterrupt, RunError, Mandate> =>
  Stream.unwrap(
    Effect.map(RunFailure.valid("filter", Filter.decodeStateless(filter)), (given) =>
      pages({ ...given, states: ["Suspended"] }))
  ).pipe(
    Stream.mapEffect(waitingOn),
    Stream.flattenIterable
  )

/**
 * Lists the runs of a thread, oldest first, each followed by the runs that were
 * delegated from it and are kept. Fails with `UnknownThread`, with `ChildThread`
 * for the thread of a child, and with `CorruptRun` for a row that cannot be
 * read.
 *
 * @category getters
 * @since 0.1.0
 */
export const runs = Effect.fnUntraced(function*(
  threadId: string
): Effect.fn.Return<ReadonlyArray<RunSummary>, RunError, Mandate> {
  yield* RunFailure.rootOnly(threadId)
  const { store } = yield* Mandate
  const read = RunFailure.fromStore(threadId)
  const rows = yield* read(store.thread(threadId))
  if (rows.length === 0) return yield* RunFailure.fail({ _tag: "UnknownThread", threadId })
  const below: (row: RunRow) => Effect.Effect<ReadonlyArray<RunSummary>, RunError> = Effect.fnUntraced(
    function*(row) {
      const self = yield* RunFailure.decoded(Result.flatMap(Children.placed(row), Summaries.ofRun))
      const children = yield* Effect.forEach(yield* read(Children.of(store, row.runId)), below)
      return [self, ...children.flat()]
    }
  )
  return (yield* Effect.forEach(rows, below)).flat()
})

/**
 * The events of a thread and of all below it: the durable ones that the store
 * has with a `sequence` over `after` (0, all of them), then all that happens in
 * this process, without a gap and without doubles. It goes on until it is left.
 *
 * **Details**
 *
 * Durable events are those of the runs that are kept. A thread that is not
 * there has none yet. What another process drives is read when the stream
 * begins and not followed: read it again, from the last `sequence` on. The
 * thread of a child is `ChildThread`, an `after` that is no whole number from 0
 * on `InvalidInput`.
 *
 * **Example** (Going on where a reader left off)
 *
 * ```ts
 * import { Threads } from "@mandate/core"
 * import { Stream } from "effect"
 *
 * export const log = (threadId: string, after: number) =>
 *   Threads.events(threadId, { after }).pipe(
 *     Stream.filter((event) => "sequence" in event),
 *     Stream.map(({ _tag, at, sequence }) => ({ _tag, at, sequence }))
 *   )
 * ```
 *
 * @category getters
 * @since 0.1.0
 */
export const events = (
  threadId: string,
  options?: { readonly after?: number }
): Stream.Stream<RunEvent, RunError, Mandate> =>
  Stream.unwrap(Effect.gen(function*() {
    const { after = 0 } = yield* RunFailure.valid("options", decodeEvents(options))
    yield* RunFailure.rootOnly(threadId)
    return WatchRun.thread(yield* Mandate, threadId, after)
  }))

const pages = (filter: ThreadFilter): Stream.Stream<ThreadSummary, RunError, Mandate> =>
  Stream.paginate(filter.after ?? "", (after) =>
    Effect.map(list({ ...filter, after }), (page) => {
      const last = page[page.length - 1]
      return [page, last === undefined ? Option.none<string>() : Option.some<string>(last.threadId)]
    }))

const waitingOn = Effect.fnUntraced(
  function*(
    { agentId, isPosture, runId, tenant, threadId }: ThreadSummary
  ): Effect.fn.Return<ReadonlyArray<WaitingInterrupt>, RunError, Mandate> {
    const { store } = yield* Mandate
    const interrupts = yield* RunFailure.fromStore(threadId)(Pending.list(store, runId))
    return interrupts.map((interrupt) => ({
      ...interrupt,
      threadId,
      agentId,
      isPosture,
      ...(tenant === undefined ? {} : { tenant })
    }))
  },
  Effect.catchReason(
    "RunError",
    "CorruptRun",
    (reason) => Effect.as(Effect.logWarning("What a thread waits on cannot be read", reason), [])
  )
)

const defaultLimit = 100

const decodeEvents = Options.make<{ readonly after?: number }>("option", {
  after: Options.checked<number>(
    "a whole number from 0 on",
    (value) => Number.isSafeInteger(value) && (value as number) >= 0
  )
})
