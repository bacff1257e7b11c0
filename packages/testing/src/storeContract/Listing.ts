/**
 * Rules of listing root threads, and of whose threads they are.
 *
 * @since 0.1.0
 */
import type { RunRow } from "@mandate/core"
import * as Effect from "effect/Effect"
import { same } from "../contract/Violation.ts"
import { by, newRun, settlement, ttl, upTo } from "./Rows.ts"
import type { Rule, Store } from "./Rule.ts"
import * as Steps from "./Steps.ts"

/**
 * The rules of listing.
 *
 * @category constants
 * @since 0.1.0
 */
export const rules: ReadonlyArray<Rule> = [
  {
    name: "gives root threads with their last runs, and no threads of children",
    check: Effect.fnUntraced(function*(store) {
      yield* Steps.settle(store, yield* Steps.open(store, "t"))
      const parent = yield* Steps.open(store, "t", { agentId: "other", shape: "new", tenant: "" })
      yield* Steps.create(store, parent, "0.0")

      yield* same("the threads", yield* store.list(any), [{
        threadId: "t",
        tenant: "",
        runId: "t#1",
        agentId: "other",
        shape: "new",
        state: "Running",
        startedAt: 5,
        stoppedAt: null,
        holder: "one",
        expiresAt: ttl
      }])
    })
  },
  {
    name: "gives threads in the order of their ids by code units, page by page",
    check: Effect.fnUntraced(function*(store) {
      const ids = ["b", "a-2", "B", "a", "a.1", "10", "9", "_", "a:1"]
      for (const id of ids) yield* Steps.open(store, id)
      const sorted = ids.toSorted((a, b) => a < b ? -1 : 1)

      yield* same("all of them", yield* idsOf(store, any), sorted)
      for (const limit of [1, 2, 4]) {
        const pages: Array<string> = []
        for (const _ of upTo(sorted.length)) {
          pages.push(...(yield* idsOf(store, { after: pages[pages.length - 1] ?? "", limit })))
        }
        yield* same(`pages of ${limit}`, pages, sorted)
      }
      yield* same("after an id that is not there", yield* idsOf(store, { ...any, after: "a/" }), ["a:1", "b"])
    })
  },
  {
    name: "gives threads by the state of their last run",
    check: Effect.fnUntraced(function*(store) {
      const to = { outcome: "{}", usage: "{}", activeMillis: 1, stoppedAt: 1 }
      yield* Steps.open(store, "running")
      yield* store.suspend(yield* Steps.open(store, "suspended"), to, [])
      yield* store.fail(yield* Steps.open(store, "failed"), to, [])
      yield* store.settle(yield* Steps.open(store, "settled"), settlement(), [], 1)
      const inStates = (...states: ReadonlyArray<RunRow.RunRow["state"]>) => idsOf(store, { ...any, states })

      yield* same("running ones", yield* inStates("Running"), ["running"])
      yield* same("suspended ones", yield* inStates("Suspended"), ["suspended"])
      yield* same("failed ones", yield* inStates("Failed"), ["failed"])
      yield* same("settled ones", yield* inStates("Settled"), ["settled"])
      yield* same("open ones", yield* inStates("Suspended", "Failed", "Running"), ["failed", "running", "suspended"])
      yield* same("some, settled ones too", yield* inStates("Settled", "Running"), ["running", "settled"])
      yield* same("those in no state", yield* inStates(), [])
    })
  },
  {
    name: "gives threads by their agent and their tenant",
    check: Effect.fnUntraced(function*(store) {
      yield* Steps.open(store, "a", { agentId: "one", tenant: "acme" })
      yield* Steps.open(store, "b", { agentId: "two", tenant: "acme" })
      yield* Steps.open(store, "c", { agentId: "one" })

      yield* same("those of an agent", yield* idsOf(store, { ...any, agentId: "one" }), ["a", "c"])
      yield* same("those of a tenant", yield* idsOf(store, { ...any, tenant: "acme" }), ["a", "b"])
      yield* same("those of nobody", yield* idsOf(store, { ...any, tenant: "" }), ["c"])
      yield* same("those of both", yield* idsOf(store, { ...any, tenant: "acme", agentId: "two" }), ["b"])
    })
  },
  {
    name: "gives threads whose last run has stopped before a time, and when it did",
    check: Effect.fnUntraced(function*(store) {
      const to = (stoppedAt: number) => ({ outcome: "{}", usage: "{}", activeMillis: 1, stoppedAt })
      yield* Steps.open(store, "running")
      yield* store.suspend(yield* Steps.open(store, "suspended", { startedAt: 6 }), to(10), [])
      yield* store.fail(yield* Steps.open(store, "failed"), to(20), [])
      yield* store.settle(yield* Steps.open(store, "settled"), { ...settlement(), stoppedAt: 30.5 }, [], 1)
      const again = yield* Steps.open(store, "again")
      yield* store.fail(again, to(1), [])
      yield* store.reopen(again, [])
      yield* store.settle(yield* Steps.open(store, "next"), { ...settlement(), stoppedAt: 1 }, [], 1)
      yield* Steps.open(store, "next")
      const before = (stoppedBefore: number) => idsOf(store, { ...any, stoppedBefore })

      yield* same("before any", yield* before(10), [])
      yield* same("before some", yield* before(20.5), ["failed", "suspended"])
      yield* same("before the others", yield* before(31), ["failed", "settled", "suspended"])
      yield* same("settled ones alone", yield* idsOf(store, { ...any, states: ["Settled"], stoppedBefore: 31 }), [
        "settled"
      ])
      const times = (yield* store.list(any)).map(({ startedAt, stoppedAt, threadId }) => [
        threadId,
        startedAt,
        stoppedAt
      ])
      yield* same("the times", times, [
        ["again", 5, null],
        ["failed", 5, 20],
        ["next", 5, null],
        ["running", 5, null],
        ["settled", 5, 30.5],
        ["suspended", 6, 10]
      ])
    })
  },
  {
    name: "gives threads that nobody holds at a time",
    check: Effect.fnUntraced(function*(store) {
      yield* Steps.open(store, "early", {}, by("one", 0))
      yield* Steps.open(store, "late", {}, by("two", 10))
      yield* Steps.open(store, "given-back", {}, by("three", 10))
      yield* store.release("three")
      const freeAt = (freeAt: number) => idsOf(store, { ...any, freeAt })

      yield* same("at first", yield* freeAt(ttl - 1), ["given-back"])
      yield* same("when a lease has run out", yield* freeAt(ttl), ["early", "given-back"])
      yield* same("when all have", yield* freeAt(ttl + 10), ["early", "given-back", "late"])
    })
  },
  {
    name: "keeps a thread to its tenant: open refuses another and changes nothing",
    check: Effect.fnUntraced(function*(store) {
      yield* Steps.settle(store, yield* Steps.open(store, "t", { tenant: "acme" }))
      const open = (tenant: string) => store.open(newRun("t", { tenant }), by("two"), () => [])
      for (const tenant of ["other", ""]) {
        yield* Steps.unchanged(store, `open for ${JSON.stringify(tenant)}`, ["t"], open(tenant))
        yield* same("what it gives", yield* open(tenant), { _tag: "OtherTenant" })
      }
      yield* same("its own tenant's", (yield* open("acme"))._tag, "Started")
      yield* same("another's, while a run is open", yield* open("other"), { _tag: "OtherTenant" })
    })
  }
]

const any: RunRow.ThreadQuery = { after: "", limit: 1000 }

const idsOf = (store: Store, query: RunRow.ThreadQuery) =>
  Effect.map(store.list(query), (threads) => threads.map(({ threadId }) => threadId))
