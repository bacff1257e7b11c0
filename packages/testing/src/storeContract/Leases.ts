/**
 * Rules of `lease`, `isHeld`, `renew` and `release`: who holds a thread.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import { holds, same } from "../contract/Violation.ts"
import { by, keys, newRun, ttl, upTo } from "./Rows.ts"
import type { Rule } from "./Rule.ts"
import * as Steps from "./Steps.ts"

/**
 * The rules of leases.
 *
 * @category constants
 * @since 0.1.0
 */
export const rules: ReadonlyArray<Rule> = [
  {
    name: "keeps a thread for its holder until its time is over, and then gives it to whoever asks",
    check: Effect.fnUntraced(function*(store) {
      yield* Steps.open(store, "t", {}, by("one", 1000))
      const until = 1000 + ttl
      const tooEarly = Steps.unchanged(
        store,
        "a lease that is not given",
        ["t"],
        store.lease("t", by("two", until - 1))
      )

      yield* same("what another gets in time", yield* tooEarly, { _tag: "Held", until })
      yield* Steps.take(store, "t", by("one", 1000))
      yield* Steps.take(store, "t", by("two", until))
      yield* same("what the former holder gets", yield* store.lease("t", by("one", until)), {
        _tag: "Held",
        until: until + ttl
      })
    })
  },
  {
    name: "gives a held thread to whoever takes it by force, and keeps the former writer out",
    check: Effect.fnUntraced(function*(store) {
      const fence = yield* Steps.open(store, "t")
      const epoch = yield* Steps.take(store, "t", { ...by("two"), force: true })

      yield* holds(`the epoch ${epoch} is not above ${fence.epoch}`, epoch > fence.epoch)
      yield* Steps.refused("append", "t#0", Steps.late(store, fence))
      yield* Steps.append(store, { ...fence, epoch }, "mine")
    })
  },
  {
    name: "gives a thread that has no run, and one that nobody holds",
    check: Effect.fnUntraced(function*(store) {
      yield* Steps.take(store, "t", by("one"))
      yield* same("what another gets", yield* store.lease("t", by("two")), { _tag: "Held", until: ttl })
      yield* same("the runs", yield* store.thread("t"), [])
      yield* store.release("one")
      yield* Steps.take(store, "t", by("two"))
    })
  },
  {
    name: "gives every lease an epoch above all that its thread ever had, also after the thread was deleted",
    check: Effect.fnUntraced(function*(store) {
      const parent = yield* Steps.open(store, "t")
      const epochs = [parent.epoch]
      epochs.push(yield* Steps.take(store, "t", by("one")))
      epochs.push(yield* Steps.take(store, "t", by("two", ttl)))
      epochs.push(...(yield* store.seize("t#0", by("three"))).map(({ epoch }) => epoch))
      yield* store.release("three")
      epochs.push(yield* Steps.take(store, "t", by("four")))
      yield* Steps.suspend(store, { ...parent, epoch: epochs.at(-1)! })
      epochs.push((yield* store.answer("t", by("five"), [{ runId: "t#0", records: [] }], [])).epoch)
      yield* Steps.settle(store, { ...parent, epoch: epochs.at(-1)! })
      epochs.push((yield* Steps.open(store, "t")).epoch)
      yield* store.forget("t")
      epochs.push((yield* Steps.open(store, "t")).epoch)
      yield* store.forget("t")
      epochs.push(yield* Steps.take(store, "t", by("six")))

      yield* same("the number of epochs", epochs.length, 9)
      yield* same("the epochs", epochs, [...new Set(epochs)].sort((a, b) => a - b))
    })
  },
  {
    name: "gives a child an epoch above all that its thread ever had, also after its root was deleted",
    check: Effect.fnUntraced(function*(store) {
      const once = Effect.gen(function*() {
        const parent = yield* Steps.open(store, "t")
        const child = yield* Steps.create(store, parent, "0.0")
        const epoch = yield* Steps.take(store, child.threadId, by("one"))
        yield* store.forget("t")
        return [child.epoch, epoch]
      })
      const epochs = [...yield* once, ...yield* once]

      yield* same("the epochs", epochs, [...new Set(epochs)].sort((a, b) => a - b))
    })
  },
  {
    name: "gives a thread to one of many that ask at once",
    check: Effect.fnUntraced(function*(store) {
      yield* Steps.open(store, "t")
      yield* store.release("one")
      const leased = yield* Effect.forEach(
        upTo(20).map((index) => by(`holder-${index}`)),
        (lease) => store.lease("t", lease),
        { concurrency: "unbounded" }
      )

      yield* same("how many get it", leased.filter(({ _tag }) => _tag === "Taken").length, 1)
    })
  },
  {
    name: "tells whether an instance other than the one that asks holds a thread",
    check: Effect.fnUntraced(function*(store) {
      yield* Steps.open(store, "t", {}, by("one", 500))
      const asked = Effect.all([
        store.isHeld("t", by("two", 500)),
        store.isHeld("t", by("two", 500 + ttl - 1)),
        store.isHeld("t", by("two", 500 + ttl)),
        store.isHeld("t", by("one", 500)),
        store.isHeld("nobody", by("two", 500))
      ])

      yield* same(
        "what it tells",
        yield* Steps.unchanged(store, "isHeld", ["t"], asked),
        [true, true, false, false, false]
      )
      yield* store.release("one")
      yield* same("what it tells of a lease that was given back", yield* store.isHeld("t", by("two", 500)), false)
    })
  },
  {
    name: "extends all leases of one holder, those of no other, and none that was given back",
    check: Effect.fnUntraced(function*(store) {
      const fence = yield* Steps.open(store, "a")
      yield* Steps.create(store, fence, "0.0")
      yield* Steps.open(store, "b", {}, by("two"))
      yield* Steps.suspend(store, yield* Steps.open(store, "c"))
      yield* store.renew(by("one", 9000))

      yield* same(
        "who holds the threads",
        yield* Effect.forEach(["a", "a#0/0.0", "b"], (thread) => store.lease(thread, by("three", 1))),
        [{ _tag: "Held", until: 9000 + ttl }, { _tag: "Held", until: 9000 + ttl }, { _tag: "Held", until: ttl }]
      )
      yield* Steps.take(store, "c", by("three"))
      yield* Steps.append(store, fence, "m/0")
      yield* same("the records", keys(yield* store.load("a#0")), ["m/0"])
    })
  },
  {
    name: "does not extend a lease that another has taken",
    check: Effect.fnUntraced(function*(store) {
      yield* Steps.open(store, "t")
      yield* Steps.take(store, "t", by("two", ttl))
      yield* Steps.unchanged(store, "renew by the former holder", ["t"], store.renew(by("one", 9 * ttl)))
      yield* Steps.unchanged(store, "release by the former holder", ["t"], store.release("one"))
    })
  },
  {
    name: "gives back all leases of one holder, and those of no other; the runs stay as they are",
    check: Effect.fnUntraced(function*(store) {
      const fence = yield* Steps.open(store, "a")
      const child = yield* Steps.create(store, fence, "0.0")
      yield* Steps.open(store, "b", {}, by("two"))
      const before = yield* Effect.forEach(["a#0", child.runId], (runId) => store.load(runId))
      yield* store.release("one")

      yield* same("the runs", yield* Effect.forEach(["a#0", child.runId], (runId) => store.load(runId)), before)
      yield* same("what open finds", (yield* store.open(newRun("a"), by("three"), () => []))._tag, "Occupied")
      yield* Steps.take(store, "a", by("three"))
      yield* Steps.take(store, child.threadId, by("three"))
      yield* same("what another gets", yield* store.lease("b", by("three")), { _tag: "Held", until: ttl })
    })
  }
]
