/**
 * Rules of stores whose data outlives them: what closing and opening keeps.
 *
 * @since 0.1.0
 */
import type { RunRow } from "@mandate/core"
import * as Effect from "effect/Effect"
import { same } from "../contract/Violation.ts"
import { by, event, keepAll, keys, named, record, settlement, ttl, upTo } from "./Rows.ts"
import type { Failure, Rule, Store } from "./Rule.ts"
import * as Steps from "./Steps.ts"

/**
 * Opens a store on data that stays the same, does something with it, and
 * closes it.
 *
 * @category models
 * @since 0.1.0
 */
export type Session = <A>(body: (store: Store) => Effect.Effect<A, Failure>) => Effect.Effect<A, Failure>

/**
 * The rules of opening the same data again.
 *
 * @category constants
 * @since 0.1.0
 */
export const rules: ReadonlyArray<Rule<Session>> = [
  {
    name: "keeps all that was acknowledged: rows in every state, records, children, events and leases",
    check: Effect.fnUntraced(function*(session) {
      const before = yield* session((store) => Effect.andThen(everyState(store), Steps.everything(store, roots)))
      for (const time of ["first", "second"]) {
        const after = yield* session((store) => Steps.everything(store, roots))
        yield* same(`what can be read at the ${time} opening`, after, before)
      }
    })
  },
  {
    name: "keeps long texts and all characters",
    check: Effect.fnUntraced(function*(session) {
      const text = "\u6f22\ud83d\ude00\u00e9\n\"\u0000a".repeat(1024 * 1024)
      yield* session((store) =>
        Effect.flatMap(
          Steps.open(store, "t", { prompt: text }),
          (fence) => store.append(fence, { records: [record("m/0", text)], events: [{ runId: "t#0", json: text }] })
        )
      )
      const kept = yield* session((store) => Effect.all([store.load("t#0"), store.events("t", 1)]))
      const [loaded, events] = kept
      const texts = [loaded?.row.prompt, loaded?.records[0]?.json, events[0]?.json]

      yield* same("whether prompt, record and event are as they were", texts.map((kept) => kept === text), [
        true,
        true,
        true
      ])
    })
  },
  {
    name: "keeps writers that hold their run, and those out that had lost it",
    check: Effect.fnUntraced(function*(session) {
      const [lost, held] = yield* session(Effect.fnUntraced(function*(store) {
        const fence = yield* Steps.open(store, "t")
        return [fence, { ...fence, epoch: yield* Steps.take(store, "t", by("two", ttl)) }] as const
      }))
      yield* session(Effect.fnUntraced(function*(store) {
        yield* Steps.refused("append by a lost writer", "t#0", Steps.late(store, lost))
        yield* Steps.append(store, held, "m/0")
        yield* same("the records", keys(yield* store.load("t#0")), ["m/0"])
      }))
    })
  },
  {
    name: "gives no epoch twice, over deleting and opening",
    check: Effect.fnUntraced(function*(session) {
      const once = session(Effect.fnUntraced(function*(store) {
        const { epoch } = yield* Steps.open(store, "t")
        yield* store.forget("t")
        return epoch
      }))
      const epochs = [yield* once, yield* once, yield* once]

      yield* same("the epochs", epochs, [...new Set(epochs)].sort((a, b) => a - b))
    })
  },
  {
    name: "numbers runs and events on, also after the last ones were deleted",
    check: Effect.fnUntraced(function*(session) {
      const fence = yield* session(Effect.fnUntraced(function*(store) {
        yield* Steps.settle(store, yield* Steps.open(store, "t"))
        const fence = yield* Steps.open(store, "t")
        const child = yield* Steps.finished(store, fence, "0.0")
        yield* store.forget(child.threadId)
        return fence
      }))
      yield* session(Effect.fnUntraced(function*(store) {
        yield* store.append(fence, { records: [], events: [event("t#1", "next")] })
        yield* same("the events", named(yield* store.events("t", 2)), [[3, "t#1 started"], [6, "next"]])
        yield* store.settle(fence, settlement(), [], keepAll)
        yield* same("the id of the next run", (yield* Steps.open(store, "t")).runId, "t#2")
      }))
    })
  },
  {
    name: "keeps the first of two records with one key, and the order of all",
    check: Effect.fnUntraced(function*(session) {
      const fence = yield* session((store) =>
        Effect.tap(Steps.open(store, "t"), (fence) => Steps.append(store, fence, "m/1", "m/0"))
      )
      yield* session((store) => store.append(fence, { records: [record("m/0", "2"), record("a")], events: [] }))
      const loaded = yield* session((store) => store.load("t#0"))

      yield* same("the records", loaded?.records, [record("m/1"), record("m/0"), record("a")])
    })
  },
  {
    name: "takes over what a process left that is gone, with all it held below",
    check: Effect.fnUntraced(function*(session) {
      const fences = yield* session(Effect.fnUntraced(function*(store) {
        const parent = yield* Steps.open(store, "t")
        return [parent, yield* Steps.create(store, parent, "0.0")]
      }))
      yield* session(Effect.fnUntraced(function*(store) {
        yield* same("what another gets", yield* store.lease("t", by("two")), { _tag: "Held", until: ttl })
        yield* Steps.take(store, "t", by("two", ttl))
        for (const fence of fences) {
          yield* Steps.refused("append by the former writer", fence.runId, Steps.late(store, fence))
          yield* same(`whether ${fence.threadId} is held`, yield* store.isHeld(fence.threadId, by("three", ttl)), true)
        }
      }))
    })
  },
  {
    name: "brings nothing back that was deleted or pruned",
    check: Effect.fnUntraced(function*(session) {
      yield* session(Effect.fnUntraced(function*(store) {
        const parent = yield* Steps.open(store, "t")
        for (const index of upTo(3)) yield* Steps.finished(store, parent, `0.${index}`)
        yield* store.append(parent, { records: [], events: [], keepChildren: 1 })
        yield* Steps.finished(store, yield* Steps.open(store, "other"), "0.0")
        yield* store.forget("other")
        yield* Steps.settle(store, yield* Steps.open(store, "once", { ephemeral: true }))
      }))
      yield* session(Effect.fnUntraced(function*(store) {
        yield* same("the children", (yield* store.children("t#0")).map(({ callKey }) => callKey), ["0.2"])
        for (const runId of ["t#0/0.0#0", "t#0/0.1#0", "other#0", "other#0/0.0#0", "once#0"]) {
          yield* same(`the run ${runId}`, yield* store.load(runId), null)
        }
        for (const threadId of ["other", "once"]) {
          yield* same(`the events of ${threadId}`, yield* store.events(threadId, 0), [])
        }
      }))
    })
  }
]

const roots = ["t", "suspended", "failed", "once"]

const everyState = Effect.fnUntraced(function*(store: Store): Effect.fn.Return<RunRow.Fence, Failure> {
  yield* Steps.settle(store, yield* Steps.open(store, "t"))
  const parent = yield* Steps.open(store, "t", {}, by("two", 1000))
  yield* Steps.finished(store, parent, "0.1")
  const child = yield* Steps.create(store, parent, "0.0")
  yield* Steps.append(store, child, "m/0", "i/0")
  yield* Steps.suspend(store, child)
  yield* Steps.fail(store, yield* Steps.create(store, parent, "0.2"))
  yield* Steps.suspend(store, yield* Steps.open(store, "suspended"))
  yield* Steps.fail(store, yield* Steps.open(store, "failed"))
  return yield* Steps.open(store, "once", { ephemeral: true })
})
