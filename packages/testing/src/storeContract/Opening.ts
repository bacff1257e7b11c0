/**
 * Rules of `open`: how runs of a thread start.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import { same } from "../contract/Violation.ts"
import { by, childOf, event, named, newRun, running, settlement, ttl, upTo } from "./Rows.ts"
import type { Rule } from "./Rule.ts"
import * as Steps from "./Steps.ts"

/**
 * The rules of opening.
 *
 * @category constants
 * @since 0.1.0
 */
export const rules: ReadonlyArray<Rule> = [
  {
    name: "keeps the row it is given, starts it Running with no records, and numbers the runs of a thread from 0",
    check: Effect.fnUntraced(function*(store) {
      const first = yield* Steps.open(store, "t", { input: "\"1\"" })
      yield* store.settle(first, settlement(), [], 16)
      const row = newRun("t", {
        agentId: "other",
        agentPath: "[\"other\"]",
        shape: "[2]",
        depth: 0,
        depthLeft: 3,
        limits: "{\"maxSteps\":2}",
        budget: "{\"maxTokens\":9}",
        input: "\"2\"",
        prompt: "2"
      })
      const second = yield* Steps.open(store, "t", row)

      yield* same("the ids of the runs", [first.runId, second.runId], ["t#0", "t#1"])
      yield* same("the second run", yield* store.load("t#1"), {
        row: running(row, 1),
        records: [],
        epoch: second.epoch
      })
      yield* same("the row in its thread", (yield* store.thread("t"))[1], running(row, 1))
    })
  },
  {
    name: "keeps the records that a run starts with, as create does, and leaves them out of its row",
    check: Effect.fnUntraced(function*(store) {
      const records = [{ key: "files", json: "[1]" }, { key: "context", json: "{\"a\":\"\\u0000é漢\"}" }]
      const parent = yield* Steps.open(store, "t", { records })
      const row = childOf(parent, "0.0")
      yield* store.create(parent, { ...row, records }, by("one"), [])
      yield* Steps.append(store, parent, "m/0")

      const [first, child] = [yield* store.load("t#0"), yield* store.load(`${row.threadId}#0`)]
      yield* same("the row", first?.row, running(newRun("t")))
      yield* same("the records", first?.records.slice(0, 2), records)
      yield* same("the number of records", first?.records.length, 3)
      yield* same("the row of the child", child?.row, running(row))
      yield* same("the records of the child", child?.records, records)
    })
  },
  {
    name: "gives the number of the first of its events, and calls for them with the id the run gets",
    check: Effect.fnUntraced(function*(store) {
      const opened = yield* store.open(
        newRun("t"),
        by("one"),
        (runId) => [event(runId, `a ${runId}`), event("t#0", "b")]
      )

      yield* same("the number", opened._tag === "Started" ? opened.sequence : opened, 1)
      yield* same("the events", named(yield* store.events("t", 0)), [[1, "a t#0"], [2, "b"]])
    })
  },
  {
    name: "takes the lease of the thread",
    check: Effect.fnUntraced(function*(store) {
      const fence = yield* Steps.open(store, "t", {}, by("one", 1000))

      yield* same("what another gets", yield* store.lease("t", by("two", 1000)), { _tag: "Held", until: 1000 + ttl })
      yield* Steps.append(store, fence, "m/0")
    })
  },
  {
    name: "keeps the row it is given where the thread was leased before it had a run, its tenant too, as create does",
    check: Effect.fnUntraced(function*(store) {
      yield* Steps.take(store, "t", by("one"))
      const parent = yield* Steps.open(store, "t", { tenant: "acme" })
      const row = childOf(parent, "0.0", { tenant: "acme" })
      yield* Steps.take(store, row.threadId, by("one"))
      yield* store.create(parent, row, by("one"), [])

      yield* same("the run", (yield* store.load("t#0"))?.row, running(newRun("t", { tenant: "acme" })))
      yield* same("its child", (yield* store.load("t#0/0.0#0"))?.row, running(row))
    })
  },
  {
    name: "finds the open run of a thread, says whether it is held, and changes nothing",
    check: Effect.fnUntraced(function*(store) {
      yield* Steps.open(store, "t")
      const [row] = yield* store.thread("t")
      for (const [now, held] of [[ttl - 1, true], [ttl, false]] as const) {
        const again = store.open(newRun("t", { input: "\"other\"" }), by("two", now), (runId) => [event(runId, "late")])
        const opened = yield* Steps.unchanged(store, `open at ${now}`, ["t"], again)

        yield* same(`what open finds at ${now}`, opened, { _tag: "Occupied", run: row, held })
      }
    })
  },
  ...(["Suspended", "Failed"] as const).map((state): Rule => ({
    name: `finds a run that is ${state} as the open run of its thread, held by nobody, and changes nothing`,
    check: Effect.fnUntraced(function*(store) {
      const fence = yield* Steps.open(store, "t")
      yield* state === "Failed" ? Steps.fail(store, fence) : Steps.suspend(store, fence)
      const [row] = yield* store.thread("t")

      const opened = yield* Steps.unchanged(
        store,
        "open",
        ["t"],
        store.open(newRun("t"), by("two"), (runId) => [event(runId, "late")])
      )

      yield* same("the state of the run", row?.state, state)
      yield* same("what open finds", opened, { _tag: "Occupied", run: row, held: false })
    })
  })),
  {
    name: "starts one run when many ask for a thread at once, and gives it to one of them",
    check: Effect.fnUntraced(function*(store) {
      const opened = yield* Effect.forEach(
        upTo(20).map((index) => by(`holder-${index}`)),
        (lease) => store.open(newRun("t"), lease, (runId) => [event(runId, lease.holder)]),
        { concurrency: "unbounded" }
      )
      const winner = opened.findIndex(({ _tag }) => _tag === "Started")

      yield* same("the number of runs started", opened.filter(({ _tag }) => _tag === "Started").length, 1)
      yield* same("the number of runs there are", (yield* store.thread("t")).length, 1)
      yield* same("the events", named(yield* store.events("t", 0)), [[1, `holder-${winner}`]])
      yield* same("whether the winner is kept out", yield* store.isHeld("t", by(`holder-${winner}`)), false)
      yield* same("whether another is kept out", yield* store.isHeld("t", by("another")), true)
    })
  }
]
