/**
 * Rules of durable events: their numbers, their order, and when they go.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import { same } from "../contract/Violation.ts"
import { event, keepAll, named, settlement, upTo } from "./Rows.ts"
import type { Rule } from "./Rule.ts"
import * as Steps from "./Steps.ts"

/**
 * The rules of events.
 *
 * @category constants
 * @since 0.1.0
 */
export const rules: ReadonlyArray<Rule> = [
  {
    name: "are numbered from 1 without a gap over a whole tree, in the order of what they describe",
    check: Effect.fnUntraced(function*(store) {
      const parent = yield* Steps.open(store, "t")
      const other = yield* Steps.open(store, "other")
      const child = yield* Steps.create(store, parent, "0.0")
      const numbers = [
        yield* store.append(child, { records: [], events: [event(child.runId, "a"), event("t#0", "b")] }),
        yield* store.append(parent, { records: [], events: [event("t#0", "c")] }),
        yield* store.append(other, { records: [], events: [event("other#0", "d")] }),
        yield* store.settle(child, settlement(), [event(child.runId, "e")], keepAll)
      ]

      yield* same("the numbers", numbers, [3, 5, 2, 6])
      yield* same("the events", named(yield* store.events("t", 0)), [
        [1, "t#0 started"],
        [2, "t#0/0.0#0 started"],
        [3, "a"],
        [4, "b"],
        [5, "c"],
        [6, "e"]
      ])
      yield* same("the events of the other", named(yield* store.events("other", 0)), [[1, "other#0 started"], [2, "d"]])
      yield* same("the events of a thread that is no root", yield* store.events(child.threadId, 0), [])
    })
  },
  {
    name: "are read in order after any number",
    check: Effect.fnUntraced(function*(store) {
      const parent = yield* Steps.open(store, "t")
      const child = yield* Steps.create(store, parent, "0.0")
      for (const index of upTo(10)) {
        const fence = index % 2 === 0 ? parent : child
        yield* store.append(fence, { records: [], events: [event(fence.runId, `${index}`)] })
      }
      const all = yield* store.events("t", 0)

      yield* same("the numbers", all.map(({ sequence }) => sequence), upTo(12).map((index) => index + 1))
      for (const after of [-1, 0, 1, 5, 11, 12, 99]) {
        const rest = all.filter(({ sequence }) => sequence > after)
        yield* same(`the events after ${after}`, yield* store.events("t", after), rest)
      }
    })
  },
  {
    name: "are numbered on over the runs of a thread",
    check: Effect.fnUntraced(function*(store) {
      yield* Steps.settle(store, yield* Steps.open(store, "t"))
      yield* Steps.open(store, "t")

      yield* same("the events", named(yield* store.events("t", 0)), [
        [1, "t#0 started"],
        [2, "t#0 settled"],
        [3, "t#1 started"]
      ])
    })
  },
  {
    name: "take no number when there are none",
    check: Effect.fnUntraced(function*(store) {
      const fence = yield* Steps.open(store, "t")
      yield* Steps.append(store, fence, "m/0")
      yield* store.fail(fence, { outcome: "{}", usage: "{}", activeMillis: 0, stoppedAt: 0 }, [])
      yield* store.reopen(fence, [])

      yield* same(
        "the number of the next",
        yield* store.append(fence, { records: [], events: [event("t#0", "next")] }),
        2
      )
    })
  },
  {
    name: "go with the run they belong to, and no number is given twice",
    check: Effect.fnUntraced(function*(store) {
      const parent = yield* Steps.open(store, "t")
      yield* Steps.finished(store, parent, "0.0")
      const last = yield* Steps.finished(store, parent, "0.1")
      const events = [event("t#0", "recorded"), event("t#0/0.0#0", "of a run that goes")]
      const numbers = [
        yield* store.append(parent, { records: [], events, keepChildren: 1 }),
        yield* store.append(parent, { records: [], events: [event("t#0", "next")] })
      ]
      yield* store.forget(last.threadId)
      numbers.push(yield* store.append(parent, { records: [], events: [event("t#0", "last")] }))

      yield* same("the numbers", numbers, [6, 8, 9])
      yield* same("the events", named(yield* store.events("t", 0)), [
        [1, "t#0 started"],
        [6, "recorded"],
        [8, "next"],
        [9, "last"]
      ])
    })
  },
  {
    name: "are numbered without a gap when many are appended at once",
    check: Effect.fnUntraced(function*(store) {
      const parent = yield* Steps.open(store, "t")
      const children = yield* Effect.forEach(upTo(5), (index) => Steps.create(store, parent, `0.${index}`))
      const firsts = yield* Effect.forEach(upTo(50), (index) => {
        const { runId } = children[index % 5]!
        const pair = [event(runId, `${index} a`), event(runId, `${index} b`)]
        return store.append(children[index % 5]!, { records: [], events: pair })
      }, { concurrency: "unbounded" })
      const events = yield* store.events("t", 6)

      yield* same("the numbers", events.map(({ sequence }) => sequence), upTo(100).map((index) => index + 7))
      // Those of one operation stay together, at the number it gives.
      yield* same(
        "the names at the numbers",
        firsts.map((first) => named(events.slice(first - 7, first - 5))),
        firsts.map((first, index) => [[first, `${index} a`], [first + 1, `${index} b`]])
      )
    })
  }
]
