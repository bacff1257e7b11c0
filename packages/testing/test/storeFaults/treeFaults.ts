import { type RunRow, RunStore } from "@mandate/core"
import { Effect } from "effect"
import { fault, type Faults, settledChildren } from "./Fault.ts"

/** Faults of leases, of retention and of deletion. */
export const treeFaults: Faults = {
  "prunes the newest children and keeps the oldest": fault(
    "retention: leaves 1 of three children when it is to keep 1",
    (store) => ({
      append: (fence, { keepChildren, ...batch }) =>
        Effect.tap(
          store.append(fence, batch),
          () =>
            keepChildren === undefined ?
              Effect.void :
              Effect.flatMap(
                settledChildren(store, fence.runId),
                (rows) => Effect.forEach(rows.slice(keepChildren), ({ threadId }) => store.forget(threadId))
              )
        )
    })
  ),
  "prunes one child too few": fault(
    "retention: keeps exactly the newest settled children, by when they were created, and nothing of the others",
    (store) => ({
      append: (fence, { keepChildren, ...batch }) =>
        store.append(fence, keepChildren === undefined ? batch : { ...batch, keepChildren: keepChildren + 1 })
    })
  ),
  "prunes children whose result is not recorded": fault(
    "retention: prunes neither open children nor those whose result is not recorded, however old, and counts none of them",
    (store) => ({
      append: (fence, batch) =>
        Effect.tap(
          store.append(fence, batch),
          () =>
            batch.keepChildren === undefined ?
              Effect.void :
              Effect.flatMap(settledChildren(store, fence.runId), (rows) =>
                Effect.forEach(
                  rows.slice(0, Math.max(0, rows.length - batch.keepChildren!)),
                  ({ threadId }) => store.forget(threadId)
                ))
        )
    })
  ),
  "gives a lease whoever has it": fault(
    "leases: keeps a thread for its holder until its time is over, and then gives it to whoever asks",
    (store) => ({ lease: (threadId, lease) => store.lease(threadId, { ...lease, force: true }) })
  ),
  "keeps a lease for ever": fault(
    "leases: keeps a thread for its holder until its time is over, and then gives it to whoever asks",
    (store) => ({ lease: (threadId, lease) => store.lease(threadId, { ...lease, now: Math.min(lease.now, 1_000) }) })
  ),
  "takes a lease and leaves the threads below to the former holder": fault(
    "taking over: takes with a lease by force those of all threads below that its former holder held, at any depth",
    (store) => ({
      lease: (threadId, lease) =>
        Effect.flatMap(
          store.isHeld(threadId, lease),
          (held) =>
            held && lease.force !== true ? store.lease(threadId, lease) : Effect.orDie(
              // It takes the lease of a thread, and no other.
              Effect.map(
                store.answer(threadId, lease, [], []),
                ({ epoch }): RunRow.Leased => ({ _tag: "Taken", epoch })
              )
            )
        )
    })
  ),
  "takes with a lease all that is below, whoever holds it": fault(
    "taking over: leaves threads below alone that are held by somebody else, by the taker, or by nobody",
    (store) => ({
      lease: (threadId, lease) =>
        Effect.flatMap(
          store.thread(threadId),
          (rows) =>
            lease.force !== true || rows.length === 0 ? store.lease(threadId, lease) : Effect.map(
              store.seize(rows[0]!.runId, lease),
              (seized): RunRow.Leased => ({ _tag: "Taken", epoch: seized[0]?.epoch ?? 0 })
            )
        )
    })
  ),
  "seizes what is above and not what is below": fault(
    "taking over: seizes a run and every open run below it, parents first, with their records and new epochs",
    (store) => ({ seize: (runId, lease) => Effect.map(store.seize(runId, lease), (runs) => runs.slice(0, 1)) })
  ),
  "seizes by an epoch that was": fault(
    "taking over: seizes a run by its epoch, and nothing by one that it had before",
    (store) => ({ seize: (runId, { epoch: _, ...lease }) => store.seize(runId, lease) })
  ),
  "takes its own instance for another": fault(
    "leases: tells whether an instance other than the one that asks holds a thread",
    (store) => ({ isHeld: (threadId, lease) => store.isHeld(threadId, { ...lease, holder: "" }) })
  ),
  "extends everybody's leases": fault(
    "leases: extends all leases of one holder, those of no other, and none that was given back",
    (store) => ({
      renew: (lease) => Effect.andThen(store.renew(lease), store.renew({ ...lease, holder: "two" }))
    })
  ),
  "gives no lease back": fault(
    "leases: gives back all leases of one holder, and those of no other; the runs stay as they are",
    () => ({ release: () => Effect.void })
  ),
  "deletes a thread and leaves its children": fault(
    "deleting: deletes a thread with all its runs and all below it, with their events and leases, and nothing else",
    (store) => {
      const left = new Map<string, RunRow.LoadedRun>()
      return {
        forget: (threadId) =>
          Effect.gen(function*() {
            for (const { runId } of yield* store.thread(threadId)) {
              for (const child of yield* store.children(runId)) left.set(child.runId, (yield* store.load(child.runId))!)
            }
            yield* store.forget(threadId)
          }),
        load: (runId) => Effect.map(store.load(runId), (run) => run ?? left.get(runId))
      }
    }
  ),
  "deletes by an epoch that was": fault(
    "deleting: deletes a thread by its epoch, and nothing by one that it had before",
    (store) => ({ forget: (threadId) => store.forget(threadId) })
  ),
  "names the first run of a thread that it does not delete": fault(
    "deleting: deletes a thread by its epoch, and nothing by one that it had before",
    (store) => ({
      forget: (threadId, epoch) =>
        Effect.mapError(
          store.forget(threadId, epoch),
          (error) => error._tag === "Fenced" ? new RunStore.Fenced({ runId: `${threadId}#0` }) : error
        )
    })
  ),
  "keeps a run whose thread was made for it": fault(
    "deleting: deletes a run whose thread was made for it when it settles, with all below it",
    (store) => ({ open: (run, lease, events) => store.open({ ...run, ephemeral: false }, lease, events) })
  )
}
