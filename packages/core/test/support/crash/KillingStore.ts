import type { RunStore } from "@mandate/core"
import { Effect } from "effect"

type Store = RunStore.RunStore["Service"]

/**
 * A store that says which write begins, from 1, and which one has ended, before the writer hears of it.
 *
 * Renewals of leases are not counted: how many there are is a matter of time, and they change nothing else.
 */
export const make = (inner: Store, onBegin: (n: number) => void, onEnd: (n: number) => void): Store => {
  let begun = 0
  let ended = 0
  const write =
    <A extends ReadonlyArray<unknown>, B, E>(operation: (...args: A) => Effect.Effect<B, E>) =>
    (...args: A): Effect.Effect<B, E> =>
      Effect.suspend(() => {
        onBegin(++begun)
        return Effect.tap(operation(...args), () => Effect.sync(() => onEnd(++ended)))
      })
  return {
    open: write((run, lease, events) => inner.open(run, lease, events)),
    create: write((parent, run, lease, events) => inner.create(parent, run, lease, events)),
    append: write((fence, batch) => inner.append(fence, batch)),
    suspend: write((fence, to, events) => inner.suspend(fence, to, events)),
    fail: write((fence, to, events) => inner.fail(fence, to, events)),
    settle: write((fence, settlement, events, keep) => inner.settle(fence, settlement, events, keep)),
    lease: write((threadId, lease) => inner.lease(threadId, lease)),
    reopen: write((fence, events) => inner.reopen(fence, events)),
    answer: write((threadId, lease, runs, events) => inner.answer(threadId, lease, runs, events)),
    release: write((holder) => inner.release(holder)),
    seize: write((runId, lease) => inner.seize(runId, lease)),
    close: write((runs, events) => inner.close(runs, events)),
    forget: write((threadId, epoch) => inner.forget(threadId, epoch)),
    renew: (lease) => inner.renew(lease),
    isHeld: (threadId, lease) => inner.isHeld(threadId, lease),
    load: (runId) => inner.load(runId),
    thread: (threadId) => inner.thread(threadId),
    list: (query) => inner.list(query),
    children: (runId) => inner.children(runId),
    events: (rootThreadId, after) => inner.events(rootThreadId, after)
  }
}
