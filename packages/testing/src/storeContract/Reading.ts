/**
 * Rules of what is read, and in which order.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import { same } from "../contract/Violation.ts"
import { by, keys, record, upTo } from "./Rows.ts"
import type { Rule } from "./Rule.ts"
import * as Steps from "./Steps.ts"

/**
 * The rules of reading.
 *
 * @category constants
 * @since 0.1.0
 */
export const rules: ReadonlyArray<Rule> = [
  {
    name: "gives the records of a run in the order they were inserted",
    check: Effect.fnUntraced(function*(store) {
      const fence = yield* Steps.open(store, "t")
      const other = yield* Steps.open(store, "other")
      yield* Steps.append(store, fence, "m/0", "t/0.1", "d/0.0")
      yield* Steps.append(store, other, "m/0")
      yield* Steps.append(store, fence, "t/0.10", "t/0.0", "m/1", "a/0")

      yield* same("the records", keys(yield* store.load("t#0")), [
        "m/0",
        "t/0.1",
        "d/0.0",
        "t/0.10",
        "t/0.0",
        "m/1",
        "a/0"
      ])
      yield* same("those of another run", (yield* store.load("other#0"))?.records, [record("m/0")])
    })
  },
  {
    name: "gives the runs of a thread oldest first, and those of no other thread",
    check: Effect.fnUntraced(function*(store) {
      yield* Steps.open(store, "t-2")
      for (const _ of upTo(12)) yield* Steps.settle(store, yield* Steps.open(store, "t"))

      yield* same(
        "the runs",
        (yield* store.thread("t")).map(({ runId }) => runId),
        upTo(12).map((number) => `t#${number}`)
      )
      yield* same("the runs of the other", (yield* store.thread("t-2")).map(({ runId }) => runId), ["t-2#0"])
    })
  },
  {
    name: "gives the children of a run in the order they were created, and those of no other run",
    check: Effect.fnUntraced(function*(store) {
      const parent = yield* Steps.open(store, "t")
      const first = yield* Steps.create(store, parent, "0.1")
      yield* Steps.create(store, first, "0.5")
      for (const key of ["0.10", "0.9", "0.0"]) yield* Steps.create(store, parent, key)
      yield* Steps.settle(store, first)
      const callKeys = (runId: string) =>
        Effect.map(store.children(runId), (rows) => rows.map(({ callKey }) => callKey))

      yield* same("the children", yield* callKeys("t#0"), ["0.1", "0.10", "0.9", "0.0"])
      yield* same("the grandchildren", yield* callKeys(first.runId), ["0.5"])
    })
  },
  {
    name: "finds nothing of what is not there",
    check: Effect.fnUntraced(function*(store) {
      yield* Steps.open(store, "t")
      const ids = ["t", "t#1", "t#00", "t#0 ", "t#-0", "t#0x0", "t#0/0.0#0", "#0", "", "T#0", "nobody#0"]

      yield* same("runs", yield* Effect.forEach(ids, (runId) => store.load(runId)), ids.map(() => null))
      for (const id of ids) yield* same(`children of ${JSON.stringify(id)}`, yield* store.children(id), [])
      for (const id of ["nobody", "t#0", ""]) {
        yield* same(`runs of ${JSON.stringify(id)}`, yield* store.thread(id), [])
        yield* same(`events of ${JSON.stringify(id)}`, yield* store.events(id, 0), [])
        yield* same(`whether ${JSON.stringify(id)} is held`, yield* store.isHeld(id, by("two")), false)
      }
    })
  },
  {
    name: "changes nothing by reading",
    check: Effect.fnUntraced(function*(store) {
      const parent = yield* Steps.open(store, "t")
      yield* Steps.finished(store, parent, "0.0")
      yield* Steps.unchanged(store, "reading", ["t"], Steps.everything(store, ["t", "nobody"]))
    })
  }
]
