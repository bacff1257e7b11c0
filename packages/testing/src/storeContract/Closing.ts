/**
 * Rules of `close`, and of `append` where it closes children.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import { same } from "../contract/Violation.ts"
import { by, childOf, closing, event, keepAll, named, newRun, record, running, settlement, ttl } from "./Rows.ts"
import type { Rule } from "./Rule.ts"
import * as Steps from "./Steps.ts"

/**
 * The rules of closing.
 *
 * @category constants
 * @since 0.1.0
 */
export const rules: ReadonlyArray<Rule> = [
  {
    name: "settles a whole tree at once, each run with an end of its own, whatever state it is in",
    check: Effect.fnUntraced(function*(store) {
      const parent = yield* Steps.open(store, "t")
      yield* Steps.append(store, parent, "m/0")
      const child = yield* Steps.create(store, parent, "0.0")
      yield* Steps.append(store, child, "m/0")
      yield* Steps.suspend(store, child)
      const failed = yield* Steps.create(store, parent, "0.1")
      yield* Steps.fail(store, failed)
      const fences = [parent, child, failed]
      const ends = fences.map((_, index) => ({ ...settlement(`{"end":${index}}`), activeMillis: index + 0.5 }))
      const sequence = yield* store.close(
        fences.map((fence, index) => closing({ fence }, keepAll, ends[index])),
        [event("t#0", "top closed"), event(child.runId, "child closed")]
      )

      yield* same(
        "the runs",
        yield* Effect.forEach(fences, ({ runId }) => store.load(runId)),
        [newRun("t"), childOf(parent, "0.0"), childOf(parent, "0.1")].map((row, index) => ({
          row: { ...running(row), state: "Settled", ...ends[index] },
          records: [],
          epoch: fences[index]!.epoch
        }))
      )
      yield* same("the number of the first event", sequence, 6)
      yield* same("the events", named(yield* store.events("t", 5)), [[6, "top closed"], [7, "child closed"]])
      for (const { threadId } of fences) yield* Steps.take(store, threadId, by("two"))
    })
  },
  ...(["taken over", "settled"] as const).map((state): Rule => ({
    name: `changes none of its runs if one of them is ${state}`,
    check: Effect.fnUntraced(function*(store) {
      const parent = yield* Steps.open(store, "t")
      const child = yield* Steps.create(store, parent, "0.0")
      yield* Steps.append(store, child, "m/0")
      const last = yield* Steps.create(store, parent, "0.1")
      yield* state === "settled" ? Steps.settle(store, child) : Steps.take(store, child.threadId, by("two", ttl))
      for (const fences of [[parent, child, last], [child, parent, last], [parent, last, child]]) {
        const runs = fences.map((fence) => closing({ fence }, 1))
        const close = store.close(runs, [event("t#0", "closed")])
        yield* Steps.unchanged(store, "a refused close", ["t"], Steps.refused("close", child.runId, close))
      }
    })
  })),
  {
    name: "prunes the children of the first of its runs",
    check: Effect.fnUntraced(function*(store) {
      const parent = yield* Steps.open(store, "t")
      for (const key of ["0.0", "0.1", "0.2"]) yield* Steps.finished(store, parent, key)
      const child = yield* Steps.create(store, parent, "0.3")
      const runs = [parent, child].map((fence) => closing({ fence }, 2))
      yield* store.close(runs, [event(child.runId, "closed")])

      yield* same(
        "the children",
        (yield* store.children("t#0")).map(({ callKey, state }) => [callKey, state]),
        [["0.2", "Settled"], ["0.3", "Settled"]]
      )
    })
  },
  {
    name: "prunes the children of every run that is closed, by that run's own bound",
    check: Effect.fnUntraced(function*(store) {
      const tree = Effect.fnUntraced(function*(threadId: string) {
        const top = yield* Steps.open(store, threadId)
        const child = yield* Steps.create(store, top, "0.0")
        const below = yield* Effect.forEach(["0.0", "0.1", "0.2"], (key) => Steps.create(store, child, key))
        return { top, runs: [child, ...below] }
      })
      const kept = (runId: string) => Effect.map(store.children(runId), (rows) => rows.map(({ callKey }) => callKey))
      const closed = yield* tree("closed")
      yield* store.close([closing({ fence: closed.top }, 1), ...closed.runs.map((fence) => closing({ fence }, 2))], [])
      const appended = yield* tree("appended")
      yield* store.append(appended.top, {
        records: [record("t/0.0")],
        events: [],
        close: appended.runs.map(({ runId }) => closing({ runId }, 1)),
        keepChildren: keepAll
      })

      yield* same("the children of what was closed", yield* kept("closed#0"), ["0.0"])
      yield* same("those below them", yield* kept("closed#0/0.0#0"), ["0.1", "0.2"])
      yield* same("the children of what appended", yield* kept("appended#0"), ["0.0"])
      yield* same("those below what it closed", yield* kept("appended#0/0.0#0"), ["0.2"])
    })
  },
  {
    name: "settles failed children with what their parent appends",
    check: Effect.fnUntraced(function*(store) {
      const parent = yield* Steps.open(store, "t")
      const child = yield* Steps.create(store, parent, "0.0")
      yield* Steps.append(store, child, "m/0")
      yield* Steps.fail(store, child)
      const below = yield* Steps.create(store, child, "1.0")
      yield* Steps.suspend(store, below)
      const sequence = yield* store.append(parent, {
        records: [record("t/0.0")],
        events: [event("t#0", "task settled")],
        close: [
          closing({ runId: child.runId }, keepAll, settlement("{\"closed\":1}")),
          closing({ runId: below.runId }, keepAll, settlement("{\"closed\":2}"))
        ]
      })

      yield* same("the child", yield* store.load(child.runId), {
        row: { ...running(childOf(parent, "0.0")), state: "Settled", ...settlement("{\"closed\":1}") },
        records: [],
        epoch: child.epoch
      })
      yield* same("the run below", (yield* store.load(below.runId))?.row.outcome, "{\"closed\":2}")
      yield* same("the parent's records", (yield* store.load("t#0"))?.records, [record("t/0.0")])
      yield* same("the event", named(yield* store.events("t", sequence - 1)), [[sequence, "task settled"]])
      yield* same("whether the parent is held", yield* store.isHeld("t", by("two")), true)
      yield* Steps.take(store, child.threadId, by("two"))
    })
  },
  {
    name: "prunes, with what a parent appends, by the records and closed children of that very batch",
    check: Effect.fnUntraced(function*(store) {
      const parent = yield* Steps.open(store, "t")
      yield* Steps.finished(store, parent, "0.0")
      const child = yield* Steps.create(store, parent, "0.1")
      yield* Steps.fail(store, child)
      yield* store.append(parent, {
        records: [record("t/0.1")],
        events: [event(child.runId, "closed")],
        close: [closing({ runId: child.runId }, keepAll)],
        keepChildren: 1
      })

      yield* same("the children", (yield* store.children("t#0")).map(({ callKey }) => callKey), ["0.1"])
      yield* same("the events", named(yield* store.events("t", 0)), [
        [1, "t#0 started"],
        [4, "t#0/0.1#0 started"],
        [5, "t#0/0.1#0 failed"],
        [6, "closed"]
      ])
    })
  },
  {
    name: "keeps a record with the closing of a child that is gone, or neither of them",
    check: Effect.fnUntraced(function*(store) {
      const parent = yield* Steps.open(store, "t")
      const before = yield* Steps.everything(store, ["t"])
      const exit = yield* Effect.exit(store.append(parent, {
        records: [record("t/0.0")],
        events: [event("t#0", "closed")],
        close: [closing({ runId: "t#0/0.0#0" }, keepAll)]
      }))
      const after = yield* Steps.everything(store, ["t"])
      if (exit._tag === "Failure") return yield* same("what can be read after a failure", after, before)

      yield* same("the records", (yield* store.load("t#0"))?.records, [record("t/0.0")])
      yield* same("the events", named(yield* store.events("t", 1)), [[2, "closed"]])
    })
  }
]
