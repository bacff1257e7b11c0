/**
 * Rules of many operations at once on one store.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import { same } from "../contract/Violation.ts"
import { by, closing, event, keepAll, keys, named, record, upTo } from "./Rows.ts"
import type { Failure, Rule, Store } from "./Rule.ts"
import * as Steps from "./Steps.ts"

/**
 * The rules of many operations at once.
 *
 * @category constants
 * @since 0.1.0
 */
export const rules: ReadonlyArray<Rule> = [
  {
    name: "brings many trees, driven at once, to the same end as one that is driven alone",
    check: Effect.fnUntraced(function*(store) {
      const alone = yield* driven(store, "alone.")
      const together = yield* Effect.forEach(upTo(30), (index) => driven(store, `tree.${index}.`), {
        concurrency: "unbounded"
      })
      yield* Effect.forEach(together, (tree, index) => same(`the tree ${index}`, tree, alone))
    })
  },
  {
    name: "refuses what is to be refused among many operations at once, and does the rest",
    check: Effect.fnUntraced(function*(store) {
      const fences = yield* Effect.forEach(upTo(30), (index) => Steps.open(store, `t${index}`))
      const isStale = (index: number) => index % 3 === 1
      const exits = yield* Effect.forEach(
        fences,
        (fence, index) =>
          Effect.exit(store.append(isStale(index) ? { ...fence, epoch: fence.epoch - 1 } : fence, {
            records: [record("m/0"), record("m/1")],
            events: [event(fence.runId, "appended")]
          })),
        { concurrency: "unbounded" }
      )
      for (const [index, { runId, threadId }] of fences.entries()) {
        const stale = isStale(index)
        yield* same(`the append to ${runId}`, exits[index]?._tag, stale ? "Failure" : "Success")
        yield* same(`the records of ${runId}`, keys(yield* store.load(runId)), stale ? [] : ["m/0", "m/1"])
        yield* same(
          `the events of ${threadId}`,
          named(yield* store.events(threadId, 1)),
          stale ? [] : [[2, "appended"]]
        )
      }
    })
  },
  {
    name: "gives what is read while others write as it was at one moment",
    check: Effect.fnUntraced(function*(store) {
      const fence = yield* Steps.open(store, "t")
      const write = (index: number) =>
        store.append(fence, { records: [record(`a/${index}`), record(`b/${index}`)], events: [] })
      const reads = yield* Effect.all([
        Effect.forEach(upTo(40), () => Effect.andThen(Effect.yieldNow, store.load("t#0"))),
        Effect.forEach(upTo(40), write),
        Effect.forEach(upTo(40), (index) => write(index + 100), { concurrency: "unbounded" })
      ], { concurrency: "unbounded" })

      for (const read of [...reads[0], yield* store.load("t#0")]) {
        const found = keys(read) ?? []
        const pairs = found.filter((key) => key.startsWith("a/")).flatMap((key) => [key, key.replace("a/", "b/")])
        yield* same("the records, two of each write", found, pairs)
      }
      yield* same("the number of records", (yield* store.load("t#0"))?.records.length, 160)
    })
  }
]

// A tree through all its states, as what can be read of it in the end, without its name and its epochs.
const driven = Effect.fnUntraced(function*(store: Store, name: string): Effect.fn.Return<string, Failure> {
  const parent = yield* Steps.open(store, name)
  yield* Steps.append(store, parent, "m/0")
  yield* Steps.finished(store, parent, "0.0")
  const child = yield* Steps.create(store, parent, "0.1")
  yield* Steps.append(store, child, "m/0")
  yield* Steps.suspend(store, child)
  yield* Steps.suspend(store, parent)
  const { epoch } = yield* store.answer(
    name,
    by("two"),
    [{ runId: parent.runId, records: [] }, { runId: child.runId, records: [record("a/0")] }],
    [event(parent.runId, "resumed")]
  )
  const resumed = { ...parent, epoch }
  yield* Steps.settle(store, child)
  yield* store.append(resumed, {
    records: [record("t/0.1")],
    events: [event(parent.runId, "recorded")],
    keepChildren: 1
  })
  yield* Steps.fail(store, resumed)
  yield* store.reopen({ ...parent, epoch: yield* Steps.take(store, name, by("three")) }, [])
  const [seized] = yield* store.seize(parent.runId, by("two"))
  yield* store.close(
    [closing({ fence: { ...parent, epoch: seized?.epoch ?? 0 } }, keepAll)],
    [event(parent.runId, "closed")]
  )
  yield* Steps.append(store, yield* Steps.open(store, name), "m/0")
  const all = JSON.stringify(yield* Steps.everything(store, [name]))
  return all.replaceAll(name, "tree").replaceAll(/"epoch":\d+/g, "\"epoch\":0")
})
