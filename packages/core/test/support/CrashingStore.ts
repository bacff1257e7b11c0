/** Stores of processes that die, at a write or when they are told to. */
import type { RunStore } from "@mandate/core"
import { Deferred, Effect } from "effect"

type Store = RunStore.RunStore["Service"]

/** A store of one process, over a store that outlives it. */
export interface CrashingStore {
  readonly store: Store

  /** Succeeds when the process has died: right after its `n`th write. */
  readonly died: Effect.Effect<void>

  /** Lets the process die now. */
  readonly kill: () => void

  /** Number of writes that were made. */
  readonly writes: () => number
}

/**
 * A process that dies right after its `n`th write. From then on nothing it does
 * reaches the store, and it hears nothing from it: its fibers hang until the
 * test drops them. Its leases stay until they expire.
 */
export const crashing = (inner: Store, n: number): CrashingStore => {
  const died = Deferred.makeUnsafe<void>()
  let writes = 0
  let killed = false
  const isDead = () => killed || writes >= n
  const read =
    <A extends ReadonlyArray<unknown>, B, E>(operation: (...args: A) => Effect.Effect<B, E>) =>
    (...args: A): Effect.Effect<B, E> => Effect.suspend(() => isDead() ? silence : operation(...args))
  const write =
    <A extends ReadonlyArray<unknown>, B, E>(operation: (...args: A) => Effect.Effect<B, E>) =>
    (...args: A): Effect.Effect<B, E> =>
      Effect.suspend(() => {
        if (isDead()) return silence
        return Effect.flatMap(operation(...args), (value) => {
          writes++
          return isDead() ? Effect.andThen(Deferred.succeed(died, undefined), silence) : Effect.succeed(value)
        })
      })
  return {
    died: Deferred.await(died),
    kill: () => {
      killed = true
    },
    writes: () => writes,
    store: {
      open: write((run, lease, events) => inner.open(run, lease, events)),
      create: write((parent, run, lease, events) => inner.create(parent, run, lease, events)),
      append: write((fence, batch) => inner.append(fence, batch)),
      suspend: write((fence, to, events) => inner.suspend(fence, to, events)),
      fail: write((fence, to, events) => inner.fail(fence, to, events)),
      settle: write((fence, settlement, events, keep) => inner.settle(fence, settlement, events, keep)),
      reopen: write((fence, events) => inner.reopen(fence, events)),
      seize: write((runId, lease) => inner.seize(runId, lease)),
      close: write((runs, events) => inner.close(runs, events)),
      answer: write((threadId, lease, runs, events) => inner.answer(threadId, lease, runs, events)),
      forget: write((threadId, epoch) => inner.forget(threadId, epoch)),
      // It changes nothing but who may write, so a process need not die right after it.
      lease: read((threadId, lease) => inner.lease(threadId, lease)),
      isHeld: read((threadId, lease) => inner.isHeld(threadId, lease)),
      load: read((runId) => inner.load(runId)),
      thread: read((threadId) => inner.thread(threadId)),
      list: read((query) => inner.list(query)),
      children: read((runId) => inner.children(runId)),
      events: read((rootThreadId, after) => inner.events(rootThreadId, after)),
      renew: (lease) => isDead() ? Effect.void : inner.renew(lease),
      release: (holder) => isDead() ? Effect.void : inner.release(holder)
    }
  }
}

// A dead process has no region that cannot be interrupted.
const silence: Effect.Effect<never> = Effect.interruptible(Effect.never)
