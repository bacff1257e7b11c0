/**
 * Rules of `forget`, and of threads that were made for one run.
 *
 * @since 0.1.0
 */
import type { RunRow } from "@mandate/core"
import * as Effect from "effect/Effect"
import { same } from "../contract/Violation.ts"
import { by, childOf, closing, event, keepAll, keys, named, newRun, running, settlement } from "./Rows.ts"
import type { Failure, Rule, Store } from "./Rule.ts"
import * as Steps from "./Steps.ts"

/**
 * The rules of deleting.
 *
 * @category constructors
 * @since 0.1.0
 */
export const rules = (): ReadonlyArray<Rule> => [
  {
    name: "deletes a thread by its epoch, and nothing by one that it had before",
    check: Effect.fnUntraced(function*(store) {
      yield* Steps.settle(store, yield* Steps.open(store, "t"))
      const run = yield* Steps.open(store, "t")
      const epoch = yield* Steps.take(store, "t", by("one"))
      const late = Steps.refused("a late forget", run.runId, store.forget("t", run.epoch))
      yield* Steps.unchanged(store, "forget", ["t"], late)
      yield* store.forget("t", epoch)
      yield* store.forget("t", epoch)

      yield* same("the runs", yield* store.thread("t"), [])
    })
  },
  {
    name: "deletes a thread with all its runs and all below it, with their events and leases, and nothing else",
    check: Effect.fnUntraced(function*(store) {
      yield* Steps.settle(store, yield* Steps.open(store, "t"))
      const parent = yield* Steps.open(store, "t")
      const settled = yield* Steps.finished(store, parent, "0.9")
      const child = yield* Steps.create(store, parent, "0.0")
      const grandchild = yield* Steps.create(store, child, "0.0")
      yield* Steps.suspend(store, grandchild)
      // Names that a careless pattern would take for parts of the tree.
      for (const name of ["t-2", "t.", "tt", "T", "t:1"]) {
        const other = yield* Steps.open(store, name)
        yield* Steps.append(store, yield* Steps.create(store, other, "0.0"), "m/0")
      }
      const others = ["t-2", "t.", "tt", "T", "t:1"]
      yield* Steps.unchanged(store, "forget", others, Effect.andThen(store.forget("t"), store.forget("t")))

      yield* isGone(store, "t", [{ ...parent, runId: "t#0" }, parent, settled, child, grandchild])
    })
  },
  {
    name: "leaves nothing to a thread that starts anew under the name: its runs and its events count from the start",
    check: Effect.fnUntraced(function*(store) {
      yield* Steps.settle(store, yield* Steps.open(store, "t"))
      const before = yield* Steps.open(store, "t")
      yield* Steps.append(store, before, "m/0")
      yield* Steps.append(store, yield* Steps.create(store, before, "0.0"), "m/0")
      yield* Steps.fail(store, before)
      yield* store.forget("t")
      const after = [yield* Steps.open(store, "t")]
      after.push(yield* Steps.create(store, after[0]!, "0.0"))

      yield* same(
        "the new runs",
        yield* Effect.forEach(after, ({ runId }) => store.load(runId)),
        [newRun("t"), childOf(after[0]!, "0.0")].map((row, index) => ({
          row: running(row),
          records: [],
          epoch: after[index]!.epoch
        }))
      )
      yield* same("the runs of the thread", (yield* store.thread("t")).length, 1)
      yield* same("the events", named(yield* store.events("t", 0)), [[1, "t#0 started"], [2, "t#0/0.0#0 started"]])
    })
  },
  {
    name: "deletes a child's thread and leaves its parent, which may create it anew",
    check: Effect.fnUntraced(function*(store) {
      const parent = yield* Steps.open(store, "t")
      const child = yield* Steps.finished(store, parent, "0.0")
      yield* Steps.finished(store, parent, "0.1")
      yield* store.forget(child.threadId)
      const callKeys = Effect.map(store.children("t#0"), (rows) => rows.map(({ callKey }) => callKey))

      yield* same("the children", yield* callKeys, ["0.1"])
      yield* Steps.append(store, parent, "m/0")
      yield* Steps.create(store, parent, "0.0")
      yield* same("the children", yield* callKeys, ["0.1", "0.0"])
    })
  },
  {
    name: "deletes nothing of a thread that is not there",
    check: Effect.fnUntraced(function*(store) {
      const parent = yield* Steps.open(store, "t")
      yield* Steps.finished(store, parent, "0.0")
      const forget = Effect.forEach(["nobody", "t#0", "t#0/0.1", ""], (threadId) => store.forget(threadId))

      yield* Steps.unchanged(store, "forget", ["t"], forget)
    })
  },
  ...Object.entries(endings).map(([how, end]): Rule => ({
    name: `deletes a run whose thread was made for it when it ${how}, with all below it`,
    check: Effect.fnUntraced(function*(store) {
      const other = yield* Steps.open(store, "other")
      yield* Steps.append(store, other, "m/0")
      const parent = yield* Steps.open(store, "t", { ephemeral: true })
      const child = yield* Steps.finished(store, parent, "0.0")
      const open = yield* Steps.create(store, parent, "0.1")
      const sequence = yield* Steps.unchanged(store, "the end of another", ["other"], end(store, parent))

      yield* same("the number of its last event", sequence, 5)
      yield* isGone(store, "t", [parent, child, open])
    })
  })),
  {
    name: "keeps a run whose thread was made for it while it is open",
    check: Effect.fnUntraced(function*(store) {
      const parent = yield* Steps.open(store, "t", { ephemeral: true })
      yield* Steps.finished(store, parent, "0.0")
      yield* Steps.fail(store, parent)
      yield* store.reopen(parent, [])
      yield* Steps.suspend(store, parent)
      const loaded = yield* store.load("t#0")

      yield* same("the run", [loaded?.row.state, loaded?.row.ephemeral], ["Suspended", true])
      yield* same("its records", keys(loaded), ["t/0.0"])
      yield* same("its children", (yield* store.children("t#0")).length, 1)
    })
  },
  {
    name: "keeps a settled run whose thread was not made for it",
    check: Effect.fnUntraced(function*(store) {
      yield* Steps.settle(store, yield* Steps.open(store, "t"))

      yield* same("the run", (yield* store.load("t#0"))?.row.state, "Settled")
    })
  }
]

const endings: { readonly [how: string]: (store: Store, fence: RunRow.Fence) => Effect.Effect<number, Failure> } = {
  settles: (store, fence) => store.settle(fence, settlement(), [event(fence.runId, "settled")], keepAll),
  "is closed": (store, fence) => store.close([closing({ fence }, keepAll)], [event(fence.runId, "closed")])
}

const isGone = Effect.fnUntraced(function*(
  store: Store,
  root: string,
  fences: ReadonlyArray<RunRow.Fence>
): Effect.fn.Return<void, Failure> {
  for (const { runId, threadId } of fences) {
    yield* same(`the run ${runId}`, yield* store.load(runId), null)
    yield* same(`the thread ${threadId}`, yield* store.thread(threadId), [])
    yield* same(`the children of ${runId}`, yield* store.children(runId), [])
    yield* same(`whether ${threadId} is held`, yield* store.isHeld(threadId, by("two")), false)
  }
  yield* same("the events", yield* store.events(root, 0), [])
})
