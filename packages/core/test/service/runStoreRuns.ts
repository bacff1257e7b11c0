import { assert, describe } from "@effect/vitest"
import { RunStore } from "@mandate/core"
import { Effect } from "effect"
import {
  append,
  by,
  type Check,
  childKeys,
  childOf,
  create,
  event,
  everything,
  keys,
  named,
  newRun,
  open,
  record,
  settlement,
  ttl
} from "./runStoreRows.ts"

/** How runs start, and what a store keeps of them. */
export const runs = (check: Check): void => {
  describe("opening", () => {
    check(
      "gives the runs of a thread their numbers, and keeps what they were started with",
      () =>
        Effect.gen(function*() {
          const store = yield* RunStore.RunStore
          const first = yield* open("t", { input: "\"1\"" })
          yield* store.settle(first, settlement(), [], 16)
          const second = yield* open("t", { input: "\"2\"", prompt: "漢 😀 \u0001" })

          assert.deepStrictEqual([first.runId, second.runId], ["t#0", "t#1"])
          const loaded = yield* store.load("t#1")
          assert.deepStrictEqual(loaded, {
            row: {
              ...newRun("t", { input: "\"2\"", prompt: "漢 😀 \u0001" }),
              runId: "t#1",
              state: "Running",
              outcome: null,
              usage: null,
              messages: null,
              activeMillis: 0
            },
            records: [],
            epoch: second.epoch
          })
          assert.deepStrictEqual((yield* store.thread("t")).map(({ input, runId }) => [runId, input]), [
            ["t#0", "\"1\""],
            ["t#1", "\"2\""]
          ])
        })
    )

    check("finds the open run of a thread, whether it is held, and changes nothing", () =>
      Effect.gen(function*() {
        const store = yield* RunStore.RunStore
        yield* open("t")
        const before = yield* everything("t", "t#0")
        const again = (now: number) =>
          store.open(newRun("t", { input: "\"other\"" }), by("two", now), (runId) => [event(runId, "other")])

        assert.deepStrictEqual(yield* again(ttl - 1), { _tag: "Occupied", run: before.thread[0]!, held: true })
        assert.deepStrictEqual(yield* again(ttl), { _tag: "Occupied", run: before.thread[0]!, held: false })
        assert.deepStrictEqual(yield* everything("t", "t#0"), before)
      }))

    for (const state of ["Suspended", "Failed"] as const) {
      check(`finds a run that is ${state} as the open run of its thread, held by nobody`, () =>
        Effect.gen(function*() {
          const store = yield* RunStore.RunStore
          const fence = yield* open("t")
          if (state === "Failed") yield* store.fail(fence, { outcome: "{}", usage: "{}", activeMillis: 1 }, [])
          else yield* store.suspend(fence, { usage: "{}", activeMillis: 1 }, [])

          const opened = yield* store.open(newRun("t"), by("two"), () => [])

          assert.strictEqual(opened._tag === "Occupied" && opened.run.state, state)
          assert.strictEqual(opened._tag === "Occupied" && opened.held, false)
        }))
    }

    check("starts one run when many ask for the thread at once", () =>
      Effect.gen(function*() {
        const store = yield* RunStore.RunStore
        const opened = yield* Effect.forEach(
          Array.from({ length: 20 }, (_, index) => by(`holder-${index}`)),
          (lease) => store.open(newRun("t"), lease, (runId) => [event(runId, lease.holder)]),
          { concurrency: "unbounded" }
        )

        assert.lengthOf(opened.filter(({ _tag }) => _tag === "Started"), 1)
        assert.lengthOf(yield* store.thread("t"), 1)
        assert.lengthOf(yield* store.events("t", 0), 1)
      }))

    check("keeps names such as __proto__ apart from all others", () =>
      Effect.gen(function*() {
        const store = yield* RunStore.RunStore
        const proto = yield* open("__proto__")
        yield* open("constructor")
        yield* append(proto, "__proto__", "constructor")

        assert.deepStrictEqual(keys(yield* store.load("__proto__#0")), ["__proto__", "constructor"])
        assert.deepStrictEqual(keys(yield* store.load("constructor#0")), [])
        assert.isUndefined(yield* store.load("__proto__"))
        assert.deepStrictEqual(yield* store.thread("toString"), [])
      }))
  })

  describe("children", () => {
    check("inserts a child once, and gives back the run that is there with its records", () =>
      Effect.gen(function*() {
        const store = yield* RunStore.RunStore
        const parent = yield* open("t")
        const child = yield* create(parent, "0.0")
        yield* append(child, "m/0")
        const again = yield* store.create(parent, { ...childOf(parent, "0.0"), input: "\"other\"" }, by("two"), [
          event(child.runId, "again")
        ])

        assert.isFalse(again.created)
        assert.strictEqual(again.run.row.input, "\"Go\"")
        assert.deepStrictEqual(keys(again.run), ["m/0"])
        assert.isAbove(again.run.epoch, child.epoch)
        assert.deepStrictEqual(named(yield* store.events("t", 0)), [[1, "t#0 started"], [2, "t#0/0.0#0 started"]])
      }))

    check("takes no lease for a child that is settled", () =>
      Effect.gen(function*() {
        const store = yield* RunStore.RunStore
        const parent = yield* open("t")
        const child = yield* create(parent, "0.0")
        yield* store.settle(child, settlement("{\"done\":1}"), [], 16)

        const again = yield* store.create(parent, childOf(parent, "0.0"), by("two"), [])

        assert.isFalse(again.created)
        assert.deepStrictEqual([again.run.row.state, again.run.row.outcome], ["Settled", "{\"done\":1}"])
        assert.strictEqual((yield* store.lease(child.threadId, by("three")))._tag, "Taken")
      }))

    check("inserts one child when many create it at once", () =>
      Effect.gen(function*() {
        const store = yield* RunStore.RunStore
        const parent = yield* open("t")
        const all = yield* Effect.forEach(
          Array.from({ length: 20 }),
          () => store.create(parent, childOf(parent, "0.0"), by("one"), [event("t#0/0.0#0", "started")]),
          { concurrency: "unbounded" }
        )

        assert.lengthOf(all.filter(({ created }) => created), 1)
        assert.lengthOf(yield* store.children("t#0"), 1)
        assert.lengthOf(yield* store.events("t", 0), 2)
      }))

    check(
      "lists the children of a run in the order they were created, and those of no other run",
      () =>
        Effect.gen(function*() {
          const store = yield* RunStore.RunStore
          const parent = yield* open("t")
          const first = yield* create(parent, "0.1")
          yield* create(parent, "0.0")
          yield* create(first, "0.5")

          assert.deepStrictEqual(yield* childKeys("t#0"), ["0.1", "0.0"])
          assert.deepStrictEqual(yield* childKeys(first.runId), ["0.5"])
          assert.deepStrictEqual(yield* store.children("nobody"), [])
        })
    )
  })

  describe("records", () => {
    check("inserts a record once, and keeps the order in which they came", () =>
      Effect.gen(function*() {
        const store = yield* RunStore.RunStore
        const fence = yield* open("t")
        yield* store.append(fence, { records: [record("m/0", "1"), record("t/0.1", "2")], events: [] })
        yield* store.append(fence, { records: [record("m/0", "3"), record("t/0.0", "4")], events: [] })

        assert.deepStrictEqual((yield* store.load("t#0"))!.records, [
          record("m/0", "1"),
          record("t/0.1", "2"),
          record("t/0.0", "4")
        ])
      }))

    check(
      "keeps a suspended or failed run's records, usage and time, and deletes a settled one's records",
      () =>
        Effect.gen(function*() {
          const store = yield* RunStore.RunStore
          const suspended = yield* open("suspended")
          yield* append(suspended, "m/0")
          yield* store.suspend(suspended, { usage: "{\"u\":1}", activeMillis: 3 }, [])
          const failed = yield* open("failed")
          yield* append(failed, "m/0")
          yield* store.fail(failed, { outcome: "{\"f\":1}", usage: "{\"u\":2}", activeMillis: 4 }, [])
          const settled = yield* open("settled")
          yield* append(settled, "m/0")
          yield* store.settle(settled, settlement(), [], 16)
          const loaded = yield* Effect.forEach(
            ["suspended", "failed", "settled"],
            (thread) => store.load(`${thread}#0`)
          )

          assert.deepStrictEqual(loaded.map(keys), [["m/0"], ["m/0"], []])
          assert.deepStrictEqual(
            loaded.map((
              run
            ) => [run!.row.state, run!.row.outcome, run!.row.usage, run!.row.messages, run!.row.activeMillis]),
            [
              ["Suspended", null, "{\"u\":1}", null, 3],
              ["Failed", "{\"f\":1}", "{\"u\":2}", null, 4],
              ["Settled", "{\"_tag\":\"Completed\"}", "{\"own\":1}", "[\"message\"]", 7]
            ]
          )
        })
    )

    check("opens a failed run again with its records", () =>
      Effect.gen(function*() {
        const store = yield* RunStore.RunStore
        const fence = yield* open("t")
        yield* append(fence, "m/0")
        yield* store.fail(fence, { outcome: "{\"f\":1}", usage: "{\"u\":2}", activeMillis: 4 }, [])
        const leased = yield* store.lease("t", by("two"))
        const next = { ...fence, epoch: leased._tag === "Taken" ? leased.epoch : 0 }
        yield* store.reopen(next, [event("t#0", "again")])

        const loaded = yield* store.load("t#0")
        assert.deepStrictEqual([loaded!.row.state, loaded!.row.outcome, keys(loaded)], ["Running", null, ["m/0"]])
        assert.strictEqual(loaded!.row.activeMillis, 4)
      }))
  })
}
