/**
 * Rules of `create`: how runs of children start.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import { holds, same } from "../contract/Violation.ts"
import { by, childOf, event, keys, named, running, ttl, upTo } from "./Rows.ts"
import type { Rule } from "./Rule.ts"
import * as Steps from "./Steps.ts"

/**
 * The rules of creating.
 *
 * @category constants
 * @since 0.1.0
 */
export const rules: ReadonlyArray<Rule> = [
  {
    name: "inserts a child that is absent, with its events, and takes the lease of its thread",
    check: Effect.fnUntraced(function*(store) {
      const parent = yield* Steps.open(store, "t")
      const row = childOf(parent, "0.0")
      const runId = "t#0/0.0#0"
      const made = yield* store.create(parent, row, by("one"), [event(runId, "a"), event("t#0", "b")])
      const loaded = { row: running(row), records: [], epoch: made.run.epoch }

      yield* same("what create gives", made, { created: true, run: loaded, sequence: 2 })
      yield* same("the child", yield* store.load(runId), loaded)
      yield* same("the children", yield* store.children("t#0"), [running(row)])
      yield* same("the thread", yield* store.thread(row.threadId), [running(row)])
      yield* same("the events", named(yield* store.events("t", 1)), [[2, "a"], [3, "b"]])
      yield* same("what another gets", yield* store.lease(row.threadId, by("two")), { _tag: "Held", until: ttl })
      yield* Steps.append(store, { threadId: row.threadId, runId, epoch: made.run.epoch }, "m/0")
    })
  },
  {
    name: "inserts it once, gives the run that is there with its records, and appends no events",
    check: Effect.fnUntraced(function*(store) {
      const parent = yield* Steps.open(store, "t")
      const child = yield* Steps.create(store, parent, "0.0")
      yield* Steps.append(store, child, "m/0")
      const other = childOf(parent, "0.0", { input: "\"other\"" })
      const again = yield* store.create(parent, other, by("two"), [event(child.runId, "again")])

      yield* same("whether it is inserted again", again.created, false)
      yield* same("its input", again.run.row.input, "\"Go\"")
      yield* same("its records", keys(again.run), ["m/0"])
      yield* same("the events", named(yield* store.events("t", 0)), [[1, "t#0 started"], [2, "t#0/0.0#0 started"]])
      yield* same("the children", (yield* store.children("t#0")).length, 1)
    })
  },
  ...(["Running", "Suspended", "Failed"] as const).map((state): Rule => ({
    name: `takes the lease of a child that is ${state} already, so that its former writer is fenced`,
    check: Effect.fnUntraced(function*(store) {
      const parent = yield* Steps.open(store, "t")
      const child = yield* Steps.create(store, parent, "0.0")
      if (state === "Suspended") yield* Steps.suspend(store, child)
      if (state === "Failed") yield* Steps.fail(store, child)
      const again = yield* store.create(parent, childOf(parent, "0.0"), by("two"), [])

      yield* same("its state", again.run.row.state, state)
      yield* holds(`the epoch ${again.run.epoch} is not above ${child.epoch}`, again.run.epoch > child.epoch)
      yield* Steps.refused("append by the former writer", child.runId, Steps.late(store, child))
      yield* Steps.append(store, { ...child, epoch: again.run.epoch }, "m/0")
      yield* same("what another gets", yield* store.lease(child.threadId, by("three")), { _tag: "Held", until: ttl })
    })
  })),
  {
    name: "takes no lease for a child that is settled",
    check: Effect.fnUntraced(function*(store) {
      const parent = yield* Steps.open(store, "t")
      const child = yield* Steps.create(store, parent, "0.0")
      yield* Steps.settle(store, child, "{\"done\":1}")
      const again = yield* Steps.unchanged(
        store,
        "create of a settled child",
        ["t"],
        store.create(parent, childOf(parent, "0.0"), by("two"), [event(child.runId, "again")])
      )

      yield* same("whether it is inserted", again.created, false)
      yield* same("its end", [again.run.row.state, again.run.row.outcome], ["Settled", "{\"done\":1}"])
      yield* Steps.take(store, child.threadId, by("three"))
    })
  },
  {
    name: "inserts one child when many create it at once",
    check: Effect.fnUntraced(function*(store) {
      const parent = yield* Steps.open(store, "t")
      const all = yield* Effect.forEach(
        upTo(20),
        () => store.create(parent, childOf(parent, "0.0"), by("one"), [event("t#0/0.0#0", "started")]),
        { concurrency: "unbounded" }
      )

      yield* same("how many insert it", all.filter(({ created }) => created).length, 1)
      yield* same("the children", (yield* store.children("t#0")).length, 1)
      yield* same("the events", named(yield* store.events("t", 0)), [[1, "t#0 started"], [2, "started"]])
    })
  },
  {
    name: "goes on below a child, at any depth, in the tree of its root",
    check: Effect.fnUntraced(function*(store) {
      const parent = yield* Steps.open(store, "t")
      const child = yield* Steps.create(store, parent, "0.0")
      const grandchild = yield* Steps.create(store, child, "1.0")
      const loaded = yield* store.load(grandchild.runId)

      yield* same("the grandchild", loaded?.row, running(childOf(child, "1.0")))
      yield* same("its parent and root", [loaded?.row.parentRunId, loaded?.row.rootThreadId], [child.runId, "t"])
      yield* same("the events", named(yield* store.events("t", 2)), [[3, "t#0/0.0#0/1.0#0 started"]])
    })
  }
]
