/**
 * Rules of pruning: which settled children a thread keeps.
 *
 * @since 0.1.0
 */
import type { RunRow } from "@mandate/core"
import * as Effect from "effect/Effect"
import { same } from "../contract/Violation.ts"
import { event, record, settlement, upTo } from "./Rows.ts"
import type { Rule, Store } from "./Rule.ts"
import * as Steps from "./Steps.ts"

/**
 * The rules of retention.
 *
 * @category constants
 * @since 0.1.0
 */
export const rules: ReadonlyArray<Rule> = [
  {
    name: "keeps exactly the newest settled children, by when they were created, and nothing of the others",
    check: Effect.fnUntraced(function*(store) {
      const parent = yield* Steps.open(store, "t")
      const children = yield* Effect.forEach(["0.3", "0.0", "0.2", "0.1"], (key) => Steps.create(store, parent, key))
      // They settle and are recorded in another order.
      for (const index of [3, 1, 0, 2]) yield* Steps.settle(store, children[index]!)
      for (const index of [2, 3, 0]) yield* Steps.append(store, parent, `t/${["0.3", "0.0", "0.2", "0.1"][index]}`)
      yield* store.append(parent, { records: [record("t/0.0")], events: [], keepChildren: 2 })

      yield* same("the children", yield* callKeys(store, "t#0"), ["0.2", "0.1"])
      for (const { runId, threadId } of children.slice(0, 2)) {
        yield* same(`the run ${runId}`, yield* store.load(runId), null)
        yield* same(`the thread ${threadId}`, yield* store.thread(threadId), [])
      }
      yield* same("the rest", (yield* store.load(children[3]!.runId))?.row.state, "Settled")
    })
  },
  ...[1, 2, 3, 4].map((keep): Rule => ({
    name: `leaves ${Math.min(keep, 3)} of three children when it is to keep ${keep}`,
    check: Effect.fnUntraced(function*(store) {
      const parent = yield* Steps.open(store, "t")
      for (const key of ["0.0", "0.1", "0.2"]) yield* Steps.finished(store, parent, key)
      yield* prune(store, parent, keep)

      yield* same("the children", yield* callKeys(store, "t#0"), ["0.0", "0.1", "0.2"].slice(-keep))
    })
  })),
  {
    name: "prunes neither open children nor those whose result is not recorded, however old, and counts none of them",
    check: Effect.fnUntraced(function*(store) {
      const parent = yield* Steps.open(store, "t")
      yield* Steps.create(store, parent, "0.0")
      yield* Steps.suspend(store, yield* Steps.create(store, parent, "0.1"))
      yield* Steps.fail(store, yield* Steps.create(store, parent, "0.2"))
      yield* Steps.settle(store, yield* Steps.create(store, parent, "0.3"))
      for (const key of ["0.4", "0.5", "0.6"]) yield* Steps.finished(store, parent, key)
      yield* Steps.create(store, parent, "0.7")
      yield* Steps.settle(store, yield* Steps.create(store, parent, "0.8"))
      // Records of other keys are no results.
      yield* Steps.append(store, parent, "t/0.33", "d/0.3", "T/0.3", "t/0.0", "t/0.1", "t/0.2")
      yield* prune(store, parent, 1)

      yield* same("the children", yield* callKeys(store, "t#0"), [
        "0.0",
        "0.1",
        "0.2",
        "0.3",
        "0.6",
        "0.7",
        "0.8"
      ])
    })
  },
  {
    name: "takes a result that another run recorded for none of its own",
    check: Effect.fnUntraced(function*(store) {
      const other = yield* Steps.open(store, "other")
      yield* Steps.append(store, other, "t/0.0", "t/0.1")
      const parent = yield* Steps.open(store, "t")
      for (const key of ["0.0", "0.1"]) yield* Steps.settle(store, yield* Steps.create(store, parent, key))
      yield* prune(store, parent, 1)

      yield* same("the children", yield* callKeys(store, "t#0"), ["0.0", "0.1"])
    })
  },
  {
    name: "prunes over all runs of the thread when one settles, unrecorded children of settled runs too",
    check: Effect.fnUntraced(function*(store) {
      const first = yield* Steps.open(store, "t")
      yield* Steps.finished(store, first, "0.0")
      yield* Steps.settle(store, yield* Steps.create(store, first, "0.1"))
      yield* Steps.settle(store, first)
      const second = yield* Steps.open(store, "t")
      yield* Steps.finished(store, second, "0.0")
      yield* Steps.settle(store, yield* Steps.create(store, second, "0.1"))
      yield* Steps.create(store, second, "0.2")
      yield* store.settle(second, settlement(), [event("t#1", "settled")], 3)

      yield* same("the children of the first run", yield* callKeys(store, "t#0"), ["0.1"])
      yield* same("the children of the second run", yield* callKeys(store, "t#1"), ["0.0", "0.1", "0.2"])
    })
  },
  {
    name: "prunes with an append the children of settled runs, recorded or not, before those of the open one",
    check: Effect.fnUntraced(function*(store) {
      const first = yield* Steps.open(store, "t")
      for (const key of ["0.0", "0.1"]) yield* Steps.settle(store, yield* Steps.create(store, first, key))
      yield* Steps.settle(store, first)
      const second = yield* Steps.open(store, "t")
      yield* Steps.settle(store, yield* Steps.create(store, second, "0.0"))
      yield* Steps.finished(store, second, "0.1")
      yield* prune(store, second, 2)

      yield* same("the children of the first run", yield* callKeys(store, "t#0"), ["0.1"])
      yield* same("the children of the second run", yield* callKeys(store, "t#1"), ["0.0", "0.1"])
    })
  },
  {
    name: "prunes a child with all below it, open runs too",
    check: Effect.fnUntraced(function*(store) {
      const parent = yield* Steps.open(store, "t")
      const child = yield* Steps.create(store, parent, "0.0")
      const below = [yield* Steps.finished(store, child, "5.5"), yield* Steps.create(store, child, "5.6")]
      below.push(yield* Steps.create(store, below[1]!, "1.0"))
      yield* Steps.settle(store, child)
      yield* Steps.append(store, parent, "t/0.0")
      yield* Steps.finished(store, parent, "0.1")
      yield* prune(store, parent, 1)

      for (const { runId, threadId } of [child, ...below]) {
        yield* same(`the run ${runId}`, yield* store.load(runId), null)
        yield* same(`the thread ${threadId}`, yield* store.thread(threadId), [])
      }
      yield* same("the children", yield* callKeys(store, "t#0"), ["0.1"])
    })
  },
  {
    name: "prunes the children of one thread, and of none beside, above or below it",
    check: Effect.fnUntraced(function*(store) {
      const other = yield* Steps.open(store, "t-2")
      const parent = yield* Steps.open(store, "t")
      const child = yield* Steps.create(store, parent, "0.9")
      for (const fence of [other, parent, child]) {
        for (const key of ["0.0", "0.1"]) yield* Steps.finished(store, fence, key)
      }
      yield* Steps.unchanged(store, "pruning in another thread", ["t-2"], prune(store, child, 1))
      yield* same("the children of the child", yield* callKeys(store, child.runId), ["0.1"])
      yield* same("the children above", yield* callKeys(store, "t#0"), ["0.9", "0.0", "0.1"])
      yield* Steps.finished(store, child, "0.2")
      yield* prune(store, parent, 1)
      yield* same("the children of the parent", yield* callKeys(store, "t#0"), ["0.9", "0.1"])
      yield* same("the children below", yield* callKeys(store, child.runId), ["0.1", "0.2"])
    })
  },
  {
    name: "prunes nothing unless it is asked to",
    check: Effect.fnUntraced(function*(store) {
      const parent = yield* Steps.open(store, "t")
      for (const index of upTo(20)) yield* Steps.finished(store, parent, `0.${index}`)

      yield* same("the number of children", (yield* store.children("t#0")).length, 20)
    })
  }
]

const prune = (store: Store, parent: RunRow.Fence, keepChildren: number) =>
  store.append(parent, { records: [], events: [], keepChildren })

const callKeys = (store: Store, runId: string) =>
  Effect.map(store.children(runId), (rows) => rows.map(({ callKey }) => callKey))
