/**
 * Steps that checks of a store are made of.
 *
 * @since 0.1.0
 */
import { Ids, type RunRow, RunStore } from "@mandate/core"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import { ContractViolation, same } from "../contract/Violation.ts"
import { by, childOf, event, keepAll, newRun, record, settlement } from "./Rows.ts"
import type { Failure, Store } from "./Rule.ts"

/**
 * Starts the next run of a thread, with one event, and gives its fence.
 *
 * @category running
 * @since 0.1.0
 */
export const open = Effect.fnUntraced(function*(
  store: Store,
  threadId: string,
  more: Partial<RunRow.NewRun> = {},
  lease = by("one")
): Effect.fn.Return<RunRow.Fence, Failure> {
  const opened = yield* store.open(newRun(threadId, more), lease, (runId) => [event(runId, `${runId} started`)])
  return opened._tag === "Started"
    ? { threadId, runId: opened.runId, epoch: opened.epoch }
    : yield* new ContractViolation({
      problem: `open does not start a run of the thread ${threadId}`,
      expected: "Started",
      actual: opened._tag === "Occupied" ? `${opened.run.runId} is ${opened.run.state}` : opened._tag
    })
})

/**
 * Inserts the run of a child, with one event, and gives its fence.
 *
 * @category running
 * @since 0.1.0
 */
export const create = Effect.fnUntraced(function*(
  store: Store,
  parent: RunRow.Fence,
  callKey: string,
  lease = by("one")
): Effect.fn.Return<RunRow.Fence, Failure> {
  const run = childOf(parent, callKey)
  const runId = Ids.runId(run.threadId, 0)
  const { created, run: loaded } = yield* store.create(parent, run, lease, [event(runId, `${runId} started`)])
  yield* same(`whether create inserts ${runId}, which is not there`, created, true)
  return { threadId: run.threadId, runId, epoch: loaded.epoch }
})

/**
 * Appends records to a run.
 *
 * @category running
 * @since 0.1.0
 */
export const append = (
  store: Store,
  fence: RunRow.Fence,
  ...names: ReadonlyArray<string>
): Effect.Effect<number, Failure> => store.append(fence, { records: names.map((name) => record(name)), events: [] })

/**
 * Appends a record, as a writer does that should have lost its run.
 *
 * @category running
 * @since 0.1.0
 */
export const late = (
  store: Store,
  fence: RunRow.Fence
): Effect.Effect<number, RunStore.Fenced | RunStore.StoreError> =>
  store.append(fence, { records: [record("late")], events: [] })

/**
 * Settles a run, keeping all children.
 *
 * @category running
 * @since 0.1.0
 */
export const settle = (store: Store, fence: RunRow.Fence, outcome?: string): Effect.Effect<number, Failure> =>
  store.settle(fence, settlement(outcome), [event(fence.runId, `${fence.runId} settled`)], keepAll)

/**
 * Suspends a run, with one event. Gives nothing where its children keep it from that.
 *
 * @category running
 * @since 0.1.0
 */
export const suspend = (store: Store, fence: RunRow.Fence): Effect.Effect<number | undefined, Failure> =>
  store.suspend(fence, { usage: "{\"u\":1}", activeMillis: 3, stoppedAt: 30 }, [
    event(fence.runId, `${fence.runId} suspended`)
  ])

/**
 * Fails a run, with one event.
 *
 * @category running
 * @since 0.1.0
 */
export const fail = (store: Store, fence: RunRow.Fence): Effect.Effect<number, Failure> =>
  store.fail(
    fence,
    { outcome: "{\"f\":1}", usage: "{\"u\":2}", activeMillis: 4, stoppedAt: 40 },
    [event(fence.runId, `${fence.runId} failed`)]
  )

/**
 * Creates a child, settles it and records its result in its parent.
 *
 * @category running
 * @since 0.1.0
 */
export const finished = Effect.fnUntraced(function*(
  store: Store,
  parent: RunRow.Fence,
  callKey: string
): Effect.fn.Return<RunRow.Fence, Failure> {
  const child = yield* create(store, parent, callKey)
  yield* settle(store, child)
  yield* append(store, parent, `t/${callKey}`)
  return child
})

/**
 * Takes the lease of a thread that it should get, and gives the epoch.
 *
 * @category running
 * @since 0.1.0
 */
export const take = Effect.fnUntraced(function*(
  store: Store,
  threadId: string,
  lease: RunRow.LeaseRequest & { readonly force?: boolean }
): Effect.fn.Return<number, Failure> {
  const leased = yield* store.lease(threadId, lease)
  return leased._tag === "Taken" ? leased.epoch : yield* new ContractViolation({
    problem: `lease does not give ${threadId} to ${lease.holder} at ${lease.now}`,
    expected: "Taken",
    actual: `Held until ${leased.until}`
  })
})

/**
 * Checks that an operation is refused with `Fenced`, for a run.
 *
 * @category running
 * @since 0.1.0
 */
export const refused = <A>(
  what: string,
  runId: string,
  operation: Effect.Effect<A, RunStore.Fenced | RunStore.StoreError>
): Effect.Effect<void, ContractViolation> =>
  Effect.flatMap(Effect.result(operation), (result) => {
    const error = Result.isFailure(result) ? result.failure : undefined
    return error instanceof RunStore.Fenced
      ? same(`the run that ${what} names as lost`, error.runId, runId)
      : Effect.fail(
        new ContractViolation({
          problem: `${what} is not refused`,
          expected: `Fenced of ${runId}`,
          actual: error === undefined ? "it goes well" : String(error)
        })
      )
  })

/**
 * Checks that an operation leaves all that can be read of trees as it was.
 *
 * @category running
 * @since 0.1.0
 */
export const unchanged = Effect.fnUntraced(function*<A>(
  store: Store,
  what: string,
  roots: ReadonlyArray<string>,
  operation: Effect.Effect<A, Failure>
): Effect.fn.Return<A, Failure> {
  const before = yield* everything(store, roots)
  const value = yield* operation
  yield* same(`what can be read after ${what}`, yield* everything(store, roots), before)
  return value
})

/**
 * All that can be read of trees: every thread with its runs, their records,
 * epochs and children, who holds it until when, and the events.
 *
 * @category running
 * @since 0.1.0
 */
export const everything = (store: Store, roots: ReadonlyArray<string>) =>
  Effect.forEach(roots, (root) => Effect.all({ tree: threadOf(store, root), events: store.events(root, 0) }))

/**
 * Who holds a thread, of the holders that checks use, and until when.
 *
 * @category running
 * @since 0.1.0
 */
export const holding = Effect.fnUntraced(function*(store: Store, threadId: string) {
  const others = yield* Effect.filter(holders, (holder) => store.isHeld(threadId, by(holder)))
  // Nobody is called so. A thread that is held is not taken by this.
  const leased = others.length > 0 ? yield* store.lease(threadId, by("nobody")) : undefined
  return { by: holders.filter((holder) => !others.includes(holder)), until: leased }
})

const holders = ["one", "two", "three", "late"]

interface Thread {
  readonly threadId: string
  readonly rows: ReadonlyArray<RunRow.RunRow>
  readonly loaded: ReadonlyArray<RunRow.LoadedRun | undefined>
  readonly children: ReadonlyArray<ReadonlyArray<RunRow.RunRow>>
  readonly lease: Effect.Success<ReturnType<typeof holding>>
  readonly below: ReadonlyArray<Thread>
}

const threadOf = (store: Store, threadId: string): Effect.Effect<Thread, RunStore.StoreError> =>
  Effect.gen(function*() {
    const rows = yield* store.thread(threadId)
    const children = yield* Effect.forEach(rows, ({ runId }) => store.children(runId))
    return {
      threadId,
      rows,
      children,
      loaded: yield* Effect.forEach(rows, ({ runId }) => store.load(runId)),
      lease: yield* holding(store, threadId),
      below: yield* Effect.forEach(children.flat(), (child) => threadOf(store, child.threadId))
    }
  })
