/**
 * Rules of `answer`: answers to suspended runs.
 *
 * @since 0.1.0
 */
import type { RunRow } from "@mandate/core"
import * as Effect from "effect/Effect"
import { holds, same } from "../contract/Violation.ts"
import { by, childOf, event, keepAll, keys, named, newRun, record, running, settlement, ttl, upTo } from "./Rows.ts"
import type { Failure, Rule, Store } from "./Rule.ts"
import * as Steps from "./Steps.ts"

/**
 * The rules of answering.
 *
 * @category constructors
 * @since 0.1.0
 */
export const rules = (): ReadonlyArray<Rule> => [
  {
    name: "stores answers along the path, marks its runs Running and takes the lease of the thread",
    check: Effect.fnUntraced(function*(store) {
      const { child, parent } = yield* waiting(store)
      const { epoch, sequence } = yield* store.answer("t", by("two"), [
        { runId: "t#0", records: [] },
        { runId: child.runId, records: [record("a/1", "true"), record("a/2", "false")] }
      ], [event("t#0", "resumed"), event(child.runId, "resumed below")])

      yield* same("the parent", yield* store.load("t#0"), {
        row: { ...running(newRun("t")), usage: "{\"u\":1}", activeMillis: 3 },
        records: [],
        epoch
      })
      yield* same("the child", yield* store.load(child.runId), {
        row: { ...running(childOf(parent, "0.0")), usage: "{\"u\":1}", activeMillis: 3 },
        records: [record("m/0"), record("i/1"), record("a/1", "true"), record("a/2", "false")],
        epoch: child.epoch
      })
      yield* holds(`the epoch ${epoch} is not above ${parent.epoch}`, epoch > parent.epoch)
      yield* same("the number of the first event", sequence, 5)
      yield* same("the events", named(yield* store.events("t", 4)), [[5, "resumed"], [6, "resumed below"]])
      yield* Steps.append(store, { ...parent, epoch }, "mine")
      yield* Steps.refused("append by the former writer", "t#0", Steps.late(store, parent))
      yield* same("what another gets", yield* store.lease("t", by("three")), { _tag: "Held", until: ttl })
    })
  },
  {
    name: "leaves suspended runs alone that are not among those it is given",
    check: Effect.fnUntraced(function*(store) {
      const { child, parent } = yield* waiting(store)
      const before = yield* store.load(child.runId)
      yield* store.answer("t", by("two"), [{ runId: parent.runId, records: [record("a/0")] }], [])

      yield* same("the other run", yield* store.load(child.runId), before)
    })
  },
  ...Object.entries(lost).map(([why, last]): Rule => ({
    name: `refuses all and changes nothing when one of its runs ${why}`,
    check: Effect.fnUntraced(function*(store) {
      const { child } = yield* waiting(store)
      const answered = yield* last(store, child.runId)
      const answer = (runs: ReadonlyArray<RunRow.Answered>) =>
        Steps.unchanged(
          store,
          "a refused answer",
          ["t", "other"],
          Steps.refused("answer", answered.runId, store.answer("t", by("two"), runs, [event("t#0", "late")]))
        )
      const first = { runId: "t#0", records: [record("a/0")] }
      yield* answer([first, answered])
      yield* answer([answered, first])
      yield* store.answer("t", by("two"), [first], [])
    })
  })),
  {
    name: "takes answers to one run once when many come at once",
    check: Effect.fnUntraced(function*(store) {
      yield* waiting(store)
      const exits = yield* Effect.forEach(
        upTo(10),
        (index) =>
          Effect.exit(
            store.answer("t", by(`${index}`), [{ runId: "t#0", records: [record("a/1", `${index}`)] }], [
              event("t#0", `${index}`)
            ])
          ),
        { concurrency: "unbounded" }
      )
      const winner = exits.findIndex(({ _tag }) => _tag === "Success")

      yield* same("how many are taken", exits.filter(({ _tag }) => _tag === "Success").length, 1)
      yield* same("the records", (yield* store.load("t#0"))?.records, [record("a/1", `${winner}`)])
      yield* same("the events", named(yield* store.events("t", 4)), [[5, `${winner}`]])
    })
  },
  {
    name: "takes further answers once the run is suspended again, and none a second time",
    check: Effect.fnUntraced(function*(store) {
      const fence = yield* Steps.open(store, "t")
      yield* Steps.suspend(store, fence)
      const { epoch } = yield* store.answer("t", by("two"), [{ runId: "t#0", records: [record("a/0")] }], [])
      yield* Steps.suspend(store, { ...fence, epoch })
      const again = store.answer("t", by("two"), [{ runId: "t#0", records: [record("a/0", "2")] }], [])
      yield* Steps.unchanged(store, "a second answer", ["t"], Steps.refused("a second answer", "t#0", again))
      yield* store.answer("t", by("two"), [{ runId: "t#0", records: [record("a/1")] }], [])

      yield* same("the records", keys(yield* store.load("t#0")), ["a/0", "a/1"])
    })
  }
]

// A suspended run above a suspended child. Four events.
const waiting = Effect.fnUntraced(function*(store: Store) {
  const parent = yield* Steps.open(store, "t")
  const child = yield* Steps.create(store, parent, "0.0")
  yield* Steps.append(store, child, "m/0", "i/1")
  yield* Steps.suspend(store, child)
  yield* Steps.suspend(store, parent)
  return { parent, child }
})

type Last = (store: Store, child: string) => Effect.Effect<RunRow.Answered, Failure>

const other = (change: (store: Store, fence: RunRow.Fence) => Effect.Effect<unknown, Failure>): Last =>
  Effect.fnUntraced(function*(store) {
    const fence = yield* Steps.open(store, "other")
    yield* change(store, fence)
    return { runId: fence.runId, records: [record("a/1")] }
  })

const lost: { readonly [why: string]: Last } = {
  "is Running": other(() => Effect.void),
  "has failed": other(Steps.fail),
  "is settled": other((store, fence) => store.settle(fence, settlement(), [], keepAll)),
  "is not there": () => Effect.succeed({ runId: "nobody#0", records: [] }),
  "has one of the answers": (_, runId) => Effect.succeed({ runId, records: [record("a/1"), record("i/1", "other")] })
}
