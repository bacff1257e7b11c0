/**
 * Rules of `suspend`, `fail`, `reopen` and `settle`: the states of a run.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import { same } from "../contract/Violation.ts"
import { by, childOf, event, keepAll, keys, named, newRun, record, running, settlement } from "./Rows.ts"
import type { Rule } from "./Rule.ts"
import * as Steps from "./Steps.ts"

/**
 * The rules of states.
 *
 * @category constants
 * @since 0.1.0
 */
export const rules: ReadonlyArray<Rule> = [
  {
    name: "suspends a run with its usage and time, keeps its records, and gives its lease back",
    check: Effect.fnUntraced(function*(store) {
      const fence = yield* Steps.open(store, "t")
      yield* Steps.append(store, fence, "m/0")
      yield* same("the number of the event", yield* Steps.suspend(store, fence), 2)

      yield* same("the run", yield* store.load("t#0"), {
        row: { ...running(newRun("t")), state: "Suspended", usage: "{\"u\":1}", activeMillis: 3, stoppedAt: 30 },
        records: [record("m/0")],
        epoch: fence.epoch
      })
      yield* same("the events", named(yield* store.events("t", 1)), [[2, "t#0 suspended"]])
      yield* Steps.take(store, "t", by("two"))
    })
  },
  {
    name: "suspends no run that has not heard of the end of a child, nor one above a suspended run that has not",
    check: Effect.fnUntraced(function*(store) {
      const root = yield* Steps.open(store, "t")
      const settled = yield* Steps.create(store, root, "0.0")
      const child = yield* Steps.create(store, root, "0.1")
      const grandchild = yield* Steps.create(store, child, "0.0")
      yield* Steps.suspend(store, grandchild)
      yield* Steps.suspend(store, child)
      yield* Steps.settle(store, settled)
      const refused = (what: string) =>
        Steps.unchanged(
          store,
          what,
          ["t"],
          Effect.flatMap(Steps.suspend(store, root), (sequence) => same(what, sequence, undefined))
        )
      yield* refused("what a run gets with a child that it has not heard of")
      yield* Steps.append(store, root, "t/0.0")
      yield* Steps.settle(store, grandchild)
      yield* refused("what a run gets with such a child two levels below")

      yield* Steps.append(store, child, "t/0.0")
      yield* same("whether it is suspended then", (yield* Steps.suspend(store, root)) === undefined, false)
      yield* same("the state", (yield* store.load("t#0"))?.row.state, "Suspended")
    })
  },
  {
    name: "suspends a run beside children of the runs before it, and beside those that are open",
    check: Effect.fnUntraced(function*(store) {
      const first = yield* Steps.open(store, "t")
      yield* Steps.settle(store, yield* Steps.create(store, first, "0.0"))
      yield* Steps.settle(store, first)
      const second = yield* Steps.open(store, "t")
      yield* Steps.fail(store, yield* Steps.create(store, second, "0.0"))
      yield* Steps.suspend(store, second)

      yield* same("the state", (yield* store.load("t#1"))?.row.state, "Suspended")
    })
  },
  {
    name: "fails a run with its reason, usage and time, keeps its records, and gives its lease back",
    check: Effect.fnUntraced(function*(store) {
      const fence = yield* Steps.open(store, "t")
      yield* Steps.append(store, fence, "m/0")
      yield* same("the number of the event", yield* Steps.fail(store, fence), 2)

      yield* same("the run", yield* store.load("t#0"), {
        row: {
          ...running(newRun("t")),
          state: "Failed",
          outcome: "{\"f\":1}",
          usage: "{\"u\":2}",
          activeMillis: 4,
          stoppedAt: 40
        },
        records: [record("m/0")],
        epoch: fence.epoch
      })
      yield* same("the events", named(yield* store.events("t", 1)), [[2, "t#0 failed"]])
      yield* Steps.take(store, "t", by("two"))
    })
  },
  {
    name: "reopens a failed run: Running, with no reason, its records, usage and time",
    check: Effect.fnUntraced(function*(store) {
      const fence = yield* Steps.open(store, "t")
      yield* Steps.append(store, fence, "m/0")
      yield* Steps.fail(store, fence)
      const next = { ...fence, epoch: yield* Steps.take(store, "t", by("two")) }
      yield* same("the number of the event", yield* store.reopen(next, [event("t#0", "again")]), 3)

      yield* same("the run", yield* store.load("t#0"), {
        row: { ...running(newRun("t")), usage: "{\"u\":2}", activeMillis: 4 },
        records: [record("m/0")],
        epoch: next.epoch
      })
      yield* same("whether the lease is kept", yield* store.isHeld("t", by("three")), true)
      yield* Steps.fail(store, next)
      yield* same("the state after another failure", (yield* store.load("t#0"))?.row.state, "Failed")
    })
  },
  {
    name: "settles a run in one go: outcome, usage, messages and time are there, its records and its lease are not",
    check: Effect.fnUntraced(function*(store) {
      const fence = yield* Steps.open(store, "t")
      yield* Steps.append(store, fence, "m/0", "t/0.0")
      const end = {
        outcome: "{\"o\":1}",
        usage: "{\"u\":3}",
        messages: "[\"m\"]",
        activeMillis: 12.5,
        stoppedAt: 1_785_000_000_000.5
      }
      yield* same("the number of the event", yield* store.settle(fence, end, [event("t#0", "end")], keepAll), 2)

      yield* same("the run", (yield* store.load("t#0"))?.row, {
        ...running(newRun("t")),
        state: "Settled",
        ...end
      })
      yield* same("its records", keys(yield* store.load("t#0")), [])
      yield* same("the events", named(yield* store.events("t", 1)), [[2, "end"]])
      yield* Steps.take(store, "t", by("two"))
    })
  },
  ...(["Suspended", "Failed"] as const).map((state): Rule => ({
    name: `settles a run that is ${state}, over what was kept of it`,
    check: Effect.fnUntraced(function*(store) {
      const fence = yield* Steps.open(store, "t")
      yield* state === "Failed" ? Steps.fail(store, fence) : Steps.suspend(store, fence)
      yield* store.settle(fence, settlement(), [], keepAll)

      yield* same("the run", yield* store.load("t#0"), {
        row: { ...running(newRun("t")), state: "Settled", ...settlement() },
        records: [],
        epoch: fence.epoch
      })
    })
  })),
  {
    name: "leaves all other runs alone, whatever one comes to",
    check: Effect.fnUntraced(function*(store) {
      const other = yield* Steps.open(store, "other")
      yield* Steps.append(store, other, "m/0")
      const child = yield* Steps.create(store, other, "0.0")
      yield* Steps.append(store, child, "m/0")
      const run = Effect.fnUntraced(function*() {
        const fence = yield* Steps.open(store, "t")
        yield* Steps.append(store, fence, "m/0")
        yield* Steps.fail(store, fence)
        yield* store.reopen(fence, [])
        yield* Steps.suspend(store, fence)
        yield* Steps.settle(store, fence)
      })
      yield* Steps.unchanged(store, "a run of another thread", ["other"], run())
      yield* Steps.unchanged(store, "a second run of that thread", ["other"], run())
    })
  },
  {
    name: "takes no parent's records or lease with a child's end",
    check: Effect.fnUntraced(function*(store) {
      const parent = yield* Steps.open(store, "t")
      yield* Steps.append(store, parent, "m/0")
      const settled = yield* Steps.create(store, parent, "0.0")
      const open = yield* Steps.create(store, parent, "0.1")
      yield* Steps.append(store, open, "m/0")
      yield* Steps.settle(store, settled)

      yield* same("the parent's records", keys(yield* store.load("t#0")), ["m/0"])
      yield* same("the other child", yield* store.load(open.runId), {
        row: running(childOf(parent, "0.1")),
        records: [record("m/0")],
        epoch: open.epoch
      })
      yield* same("whether the parent is held", yield* store.isHeld("t", by("two")), true)
    })
  }
]
