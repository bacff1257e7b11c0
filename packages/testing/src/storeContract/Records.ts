/**
 * Rules of records: each is inserted once.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import { same } from "../contract/Violation.ts"
import { event, named, record, upTo } from "./Rows.ts"
import type { Rule } from "./Rule.ts"
import * as Steps from "./Steps.ts"

/**
 * The rules of records.
 *
 * @category constants
 * @since 0.1.0
 */
export const rules: ReadonlyArray<Rule> = [
  {
    name: "keeps the first of two records with one key in one batch",
    check: Effect.fnUntraced(function*(store) {
      const fence = yield* Steps.open(store, "t")
      yield* store.append(fence, { records: [record("m/0", "1"), record("m/1", "2"), record("m/0", "3")], events: [] })

      yield* same("the records", (yield* store.load("t#0"))?.records, [record("m/0", "1"), record("m/1", "2")])
    })
  },
  {
    name: "keeps the first of two records with one key in two batches, and the rest of the second batch",
    check: Effect.fnUntraced(function*(store) {
      const fence = yield* Steps.open(store, "t")
      yield* store.append(fence, { records: [record("m/0", "1"), record("t/0.1", "2")], events: [] })
      yield* store.append(fence, {
        records: [record("m/0", "3"), record("t/0.0", "4"), record("t/0.1", "5")],
        events: [event("t#0", "second")]
      })

      yield* same("the records", (yield* store.load("t#0"))?.records, [
        record("m/0", "1"),
        record("t/0.1", "2"),
        record("t/0.0", "4")
      ])
      yield* same("the events", named(yield* store.events("t", 1)), [[2, "second"]])
    })
  },
  {
    name: "keeps records of one key in two runs apart",
    check: Effect.fnUntraced(function*(store) {
      const parent = yield* Steps.open(store, "t")
      const child = yield* Steps.create(store, parent, "0.0")
      yield* store.append(parent, { records: [record("m/0", "1")], events: [] })
      yield* store.append(child, { records: [record("m/0", "2")], events: [] })

      yield* same("the parent's", (yield* store.load("t#0"))?.records, [record("m/0", "1")])
      yield* same("the child's", (yield* store.load(child.runId))?.records, [record("m/0", "2")])
    })
  },
  {
    name: "keeps one record of a key when many append it at once",
    check: Effect.fnUntraced(function*(store) {
      const fence = yield* Steps.open(store, "t")
      yield* Effect.forEach(
        upTo(20),
        (index) => store.append(fence, { records: [record("m/0", `${index}`), record(`own/${index}`)], events: [] }),
        { concurrency: "unbounded" }
      )
      const records = (yield* store.load("t#0"))?.records ?? []

      yield* same("how often the key is there", records.filter(({ key }) => key === "m/0").length, 1)
      yield* same("the number of records", records.length, 21)
    })
  },
  {
    name: "keeps the first of two answers with one key in one call, or refuses the call",
    check: Effect.fnUntraced(function*(store) {
      const fence = yield* Steps.open(store, "t")
      yield* Steps.suspend(store, fence)
      const answered = yield* Effect.result(
        store.answer("t", { holder: "two", now: 0, ttl: 1 }, [
          { runId: "t#0", records: [record("a/0", "1"), record("a/0", "2")] }
        ], [])
      )

      yield* same(
        "the records",
        (yield* store.load("t#0"))?.records,
        answered._tag === "Success" ? [record("a/0", "1")] : []
      )
    })
  },
  {
    name: "appends nothing but events when there are no records",
    check: Effect.fnUntraced(function*(store) {
      const fence = yield* Steps.open(store, "t")
      const sequence = yield* store.append(fence, { records: [], events: [event("t#0", "only")] })

      yield* same("the number of the event", sequence, 2)
      yield* same("the records", (yield* store.load("t#0"))?.records, [])
      yield* same("the events", named(yield* store.events("t", 1)), [[2, "only"]])
    })
  }
]
