/**
 * Rules of `lease` and `seize` on trees: taking over what another held.
 *
 * @since 0.1.0
 */
import type { RunRow } from "@mandate/core"
import * as Effect from "effect/Effect"
import { holds, same } from "../contract/Violation.ts"
import { by, keys, ttl } from "./Rows.ts"
import type { Failure, Rule, Store } from "./Rule.ts"
import * as Steps from "./Steps.ts"

/**
 * The rules of taking over.
 *
 * @category constants
 * @since 0.1.0
 */
export const rules: ReadonlyArray<Rule> = [
  ...([["whose time is over", by("two", ttl)], ["by force", { ...by("two"), force: true }]] as const).map((
    [how, lease]
  ): Rule => ({
    name: `takes with a lease ${how} those of all threads below that its former holder held, at any depth`,
    check: Effect.fnUntraced(function*(store) {
      const { child, grandchild, parent, settled } = yield* tree(store)
      yield* Steps.take(store, "t", lease)
      yield* isLost(store, [parent, child, grandchild])

      for (const { runId, threadId } of [parent, child, grandchild]) {
        yield* same(`whether the new holder is kept out of ${threadId}`, yield* store.isHeld(threadId, lease), false)
        yield* same(
          `what another gets of ${threadId}`,
          yield* store.lease(threadId, by("three", lease.now)),
          { _tag: "Held", until: lease.now + ttl }
        )
        const { epoch = 0 } = (yield* store.load(runId)) ?? {}
        yield* Steps.append(store, { threadId, runId, epoch }, "mine")
      }
      yield* same("the epoch of a settled child", (yield* store.load(settled.runId))?.epoch, settled.epoch)
    })
  })),
  {
    name: "leaves threads below alone that are held by somebody else, by the taker, or by nobody",
    check: Effect.fnUntraced(function*(store) {
      const parent = yield* Steps.open(store, "t")
      const others = [
        yield* Steps.create(store, parent, "0.0", by("three")),
        yield* Steps.create(store, parent, "0.1", by("two", 5)),
        yield* Steps.create(store, parent, "0.2", by("four"))
      ]
      yield* Steps.suspend(store, others[2]!)
      const below = yield* Steps.create(store, others[0]!, "0.0")
      const before = yield* Effect.forEach(others, (fence) => stateOf(store, fence))
      yield* Steps.take(store, "t", { ...by("two", 9), force: true })

      yield* same(
        "the threads that are not the former holder's",
        yield* Effect.forEach(others, (fence) => stateOf(store, fence)),
        before
      )
      yield* Steps.append(store, others[0]!, "m/0")
      yield* isLost(store, [parent, below])
    })
  },
  {
    name: "leaves threads beside and above alone",
    check: Effect.fnUntraced(function*(store) {
      const { child, grandchild, parent } = yield* tree(store)
      const beside = yield* Steps.create(store, parent, "0.7")
      const other = yield* Steps.open(store, "other")
      const before = yield* Effect.forEach([parent, beside, other], (fence) => stateOf(store, fence))
      yield* Steps.take(store, child.threadId, { ...by("two"), force: true })

      yield* same(
        "the other threads",
        yield* Effect.forEach([parent, beside, other], (fence) => stateOf(store, fence)),
        before
      )
      yield* isLost(store, [child, grandchild])
    })
  },
  {
    name: "leaves threads below alone when a holder takes its own lease again, one given back, or none",
    check: Effect.fnUntraced(function*(store) {
      const { child, grandchild } = yield* tree(store)
      const before = yield* Effect.forEach([child, grandchild], (fence) => stateOf(store, fence))
      const unchanged = Effect.flatMap(
        Effect.forEach([child, grandchild], (fence) => stateOf(store, fence)),
        (now) => same("the threads below", now, before)
      )
      yield* Steps.take(store, "t", by("one"))
      yield* unchanged
      yield* store.lease("t", by("two"))
      yield* unchanged
      yield* Steps.fail(store, { threadId: "t", runId: "t#0", epoch: (yield* store.load("t#0"))?.epoch ?? 0 })
      yield* Steps.take(store, "t", by("two"))
      yield* unchanged
    })
  },
  {
    name: "seizes a run and every open run below it, parents first, with their records and new epochs",
    check: Effect.fnUntraced(function*(store) {
      const { child, grandchild, parent, settled } = yield* tree(store)
      yield* Steps.append(store, grandchild, "m/0")
      yield* Steps.suspend(store, child)
      const fences = [parent, child, grandchild]
      const seized = yield* store.seize("t#0", by("two"))

      yield* same("the runs", seized.map(({ row }) => row.runId), fences.map(({ runId }) => runId))
      yield* same("their states", seized.map(({ row }) => row.state), ["Running", "Suspended", "Running"])
      yield* same("their records", seized.map(keys), [["t/0.0"], [], ["m/0"]])
      yield* isLost(store, fences)
      for (const { epoch, row } of seized) {
        yield* Steps.append(store, { ...row, epoch }, "mine")
        yield* same(`what another gets of ${row.threadId}`, yield* store.lease(row.threadId, by("three")), {
          _tag: "Held",
          until: ttl
        })
      }
      yield* same("the epoch of a settled child", (yield* store.load(settled.runId))?.epoch, settled.epoch)
    })
  },
  {
    name: "seizes whoever holds the run, and a child alone, leaving what is above and beside",
    check: Effect.fnUntraced(function*(store) {
      const { child, grandchild, parent } = yield* tree(store)
      const beside = yield* Steps.create(store, parent, "0.7", by("three"))
      const before = yield* Effect.forEach([parent, beside], (fence) => stateOf(store, fence))
      const seized = yield* store.seize(child.runId, by("two"))

      yield* same("the runs", seized.map(({ row }) => row.runId), [child.runId, grandchild.runId])
      yield* same("the others", yield* Effect.forEach([parent, beside], (fence) => stateOf(store, fence)), before)
      yield* Steps.append(store, parent, "m/0")
      yield* isLost(store, [child, grandchild])
    })
  },
  {
    name: "seizes a run by its epoch, and nothing by one that it had before",
    check: Effect.fnUntraced(function*(store) {
      const { child, grandchild, parent } = yield* tree(store)
      const epoch = yield* Steps.take(store, "t", by("one"))
      const late = store.seize("t#0", { ...by("two"), epoch: parent.epoch })
      yield* same("what is seized late", yield* Steps.unchanged(store, "seize", ["t"], late), [])
      const seized = yield* store.seize("t#0", { ...by("two"), epoch })

      const fences = [parent, child, grandchild]
      yield* same("the runs", seized.map(({ row }) => row.runId), fences.map(({ runId }) => runId))
    })
  },
  {
    name: "seizes nothing of a run that is settled or not there",
    check: Effect.fnUntraced(function*(store) {
      yield* Steps.settle(store, yield* Steps.open(store, "t"))
      const seize = Effect.forEach(["t#0", "t#1", "nobody#0"], (runId) => store.seize(runId, by("two")))

      yield* same("what is seized", yield* Steps.unchanged(store, "seize", ["t", "nobody"], seize), [[], [], []])
    })
  }
]

// A parent with a settled child, and a child with a child, all of one holder.
const tree = Effect.fnUntraced(function*(store: Store) {
  const parent = yield* Steps.open(store, "t")
  const settled = yield* Steps.finished(store, parent, "0.0")
  const child = yield* Steps.create(store, parent, "0.1")
  const grandchild = yield* Steps.create(store, child, "3.2")
  return { parent, settled, child, grandchild }
})

const stateOf = (store: Store, { runId, threadId }: RunRow.Fence) =>
  Effect.all({ run: store.load(runId), lease: Steps.holding(store, threadId) })

const isLost = Effect.fnUntraced(function*(
  store: Store,
  fences: ReadonlyArray<RunRow.Fence>
): Effect.fn.Return<void, Failure> {
  for (const fence of fences) {
    const { epoch = 0 } = (yield* store.load(fence.runId)) ?? {}
    yield* holds(`the epoch ${epoch} of ${fence.threadId} is not above ${fence.epoch}`, epoch > fence.epoch)
    yield* Steps.refused(`append by the former writer of ${fence.runId}`, fence.runId, Steps.late(store, fence))
  }
})
