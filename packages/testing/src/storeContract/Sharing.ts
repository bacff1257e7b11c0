/**
 * Rules of stores that several connections share.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import { same } from "../contract/Violation.ts"
import { by, childOf, closing, event, keepAll, keys, named, newRun, record, settlement, ttl, upTo } from "./Rows.ts"
import type { Rule, Store } from "./Rule.ts"
import * as Steps from "./Steps.ts"

/**
 * Two connections to the same data.
 *
 * @category models
 * @since 0.1.0
 */
export type Pair = readonly [Store, Store]

/**
 * The rules of two connections.
 *
 * @category constants
 * @since 0.1.0
 */
export const rules: ReadonlyArray<Rule<Pair>> = [
  {
    name: "reads through one at once what the other has written",
    check: Effect.fnUntraced(function*([first, second]) {
      const parent = yield* Steps.open(first, "t")
      const seen = Effect.fnUntraced(function*(what: string) {
        yield* same(what, yield* Steps.everything(second, ["t"]), yield* Steps.everything(first, ["t"]))
      })
      yield* seen("a run as the other reads it")
      const child = yield* Steps.create(second, parent, "0.0")
      yield* Steps.append(first, child, "m/0")
      yield* seen("a child as the other reads it")
      yield* Steps.settle(second, child)
      yield* Steps.suspend(first, parent)
      yield* seen("a settled child as the other reads it")
      yield* second.forget("t")
      yield* same("a deleted run as the other reads it", yield* first.load("t#0"), null)
    })
  },
  {
    name: "keeps a writer of one out once the other has taken its run, settled it or begun it anew",
    check: Effect.fnUntraced(function*([first, second]) {
      const fence = yield* Steps.open(first, "t")
      yield* Steps.append(first, fence, "m/0")
      const next = { ...fence, epoch: yield* Steps.take(second, "t", { ...by("two"), force: true }) }
      yield* Steps.refused("append after a take-over", "t#0", Steps.late(first, fence))
      yield* Steps.append(second, next, "m/1")
      yield* Steps.append(first, next, "m/2")
      yield* same("the records", keys(yield* first.load("t#0")), ["m/0", "m/1", "m/2"])
      yield* Steps.settle(second, next)
      yield* Steps.refused("append to a settled run", "t#0", Steps.late(first, next))
      const again = yield* Steps.open(first, "t")
      yield* second.forget("t")
      yield* Steps.refused("append to a deleted run", "t#1", Steps.late(first, again))
      yield* Steps.open(second, "t")
      yield* Steps.refused("append to a run that began anew", "t#0", Steps.late(first, fence))
      yield* same("the records of the new run", keys(yield* first.load("t#0")), [])
    })
  },
  {
    name: "keeps a writer of a child out once the other has taken the thread above",
    check: Effect.fnUntraced(function*([first, second]) {
      const parent = yield* Steps.open(first, "t")
      const child = yield* Steps.create(first, parent, "0.0")
      yield* Steps.append(first, child, "m/0")
      yield* Steps.take(second, "t", by("two", ttl))

      yield* Steps.refused("append to the child", child.runId, Steps.late(first, child))
      const runs = [parent, child].map((fence) => closing({ fence }, keepAll))
      yield* Steps.refused("close", "t#0", first.close(runs, []))
    })
  },
  {
    name: "starts one run of a thread when both are asked many times at once",
    check: Effect.fnUntraced(function*(pair) {
      const opened = yield* both(
        pair,
        20,
        (store, index) => store.open(newRun("t"), by(`${index}`), (runId) => [event(runId, `${index}`)])
      )
      const winner = opened.findIndex(({ _tag }) => _tag === "Started")

      yield* same("how many start", opened.filter(({ _tag }) => _tag === "Started").length, 1)
      for (const store of pair) {
        yield* same("the number of runs", (yield* store.thread("t")).length, 1)
        yield* same("the events", named(yield* store.events("t", 0)), [[1, `${winner}`]])
      }
    })
  },
  {
    name: "inserts one child, gives one lease and takes one answer when both are asked many times at once",
    check: Effect.fnUntraced(function*(pair) {
      const parent = yield* Steps.open(pair[0], "t")
      const children = yield* both(pair, 20, (store) => store.create(parent, childOf(parent, "0.0"), by("one"), []))
      yield* Steps.suspend(pair[1], parent)
      const answers = yield* both(pair, 20, (store, index) =>
        Effect.exit(
          store.answer("t", by("one"), [{ runId: "t#0", records: [record("a/0", `${index}`)] }], [])
        ))
      yield* pair[0].release("one")
      const leases = yield* both(pair, 20, (store, index) => store.lease("t", by(`${index}`)))

      yield* same("how many insert the child", children.filter(({ created }) => created).length, 1)
      yield* same("how many answers are taken", answers.filter(({ _tag }) => _tag === "Success").length, 1)
      yield* same("how many get the lease", leases.filter(({ _tag }) => _tag === "Taken").length, 1)
      yield* same(
        "the answer",
        (yield* pair[1].load("t#0"))?.records,
        [record("a/0", `${answers.findIndex(({ _tag }) => _tag === "Success")}`)]
      )
    })
  },
  {
    name: "loses no record and inserts none twice when both write at once, in one run and in several",
    check: Effect.fnUntraced(function*(pair) {
      const fences = yield* Effect.forEach(["t", "a", "b"], (name, index) => Steps.open(pair[index % 2]!, name))
      yield* both(pair, 60, (store, index) => Steps.append(store, fences[index % 3]!, "shared", `m/${index}`))
      for (const [index, { runId }] of fences.entries()) {
        const found = keys(yield* pair[index % 2]!.load(runId)) ?? []
        const expected = ["shared", ...upTo(60).filter((n) => n % 3 === index).map((n) => `m/${n}`)]
        yield* same(`the records of ${runId}`, [...found].sort(), expected.sort())
      }
    })
  },
  {
    name: "numbers events without a gap when both append at once",
    check: Effect.fnUntraced(function*(pair) {
      const parent = yield* Steps.open(pair[0], "t")
      const child = yield* Steps.create(pair[1], parent, "0.0")
      const firsts = yield* both(pair, 40, (store, index) => {
        const fence = index % 4 < 2 ? parent : child
        return store.append(fence, { records: [], events: [event(fence.runId, `${index}`)] })
      })
      const events = named(yield* pair[1].events("t", 2))

      yield* same("the numbers", events.map(([sequence]) => sequence), upTo(40).map((index) => index + 3))
      yield* same(
        "the names at the numbers",
        firsts.map((first) => events[first - 3]),
        firsts.map((first, index) => [
          first,
          `${index}`
        ])
      )
    })
  },
  {
    name: "gives a thread's leases rising epochs whichever is asked",
    check: Effect.fnUntraced(function*(pair) {
      const epochs: Array<number> = []
      for (const index of upTo(6)) {
        const store = pair[index % 2]!
        epochs.push((yield* Steps.open(store, "t")).epoch)
        epochs.push(yield* Steps.take(pair[(index + 1) % 2]!, "t", { ...by(`${index}`), force: true }))
        yield* store.forget("t")
      }
      yield* same("the epochs", epochs, [...new Set(epochs)].sort((a, b) => a - b))
    })
  },
  {
    name: "settles a run once when both settle it at once, and appends nothing afterwards",
    check: Effect.fnUntraced(function*(pair) {
      const fence = yield* Steps.open(pair[0], "t")
      const exits = yield* both(pair, 20, (store, index) =>
        Effect.exit(
          index % 4 < 2
            ? store.settle(fence, settlement(`{"by":${index}}`), [event("t#0", `settled ${index}`)], keepAll)
            : store.append(fence, { records: [record(`m/${index}`)], events: [event("t#0", `appended ${index}`)] })
        ))
      const settled = exits.flatMap((exit, index) => exit._tag === "Success" && index % 4 < 2 ? [index] : [])
      const loaded = yield* pair[1].load("t#0")
      const names = named(yield* pair[0].events("t", 1)).map(([, name]) => name)

      yield* same("how many settle it", settled.length, 1)
      yield* same("its end", [loaded?.row.state, loaded?.row.outcome], ["Settled", `{"by":${settled[0]}}`])
      yield* same("its records", keys(loaded), [])
      yield* same("the last event", names.at(-1), `settled ${settled[0]}`)
      yield* same("the number of events", names.length, exits.filter(({ _tag }) => _tag === "Success").length)
    })
  }
]

// Asks two connections in turn, all at once.
const both = <A, E>(
  pair: Pair,
  count: number,
  ask: (store: Store, index: number) => Effect.Effect<A, E>
): Effect.Effect<Array<A>, E> =>
  Effect.forEach(upTo(count), (index) => ask(pair[index % 2]!, index), { concurrency: "unbounded" })
