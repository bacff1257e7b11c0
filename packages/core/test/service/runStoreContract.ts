import { assert, describe, it } from "@effect/vitest"
import { RunStore } from "@mandate/core"
import type { RunRow } from "@mandate/core"
import { Effect, type Layer } from "effect"

const ttl = 15_000

const by = (holder: string, now = 0): RunRow.LeaseRequest => ({ holder, now, ttl })

const newRun = (threadId: string, more: Partial<RunRow.NewRun> = {}): RunRow.NewRun => ({
  threadId,
  rootThreadId: threadId,
  parentRunId: null,
  callKey: null,
  toolCallId: null,
  agentId: "agent",
  agentPath: "[\"agent\"]",
  shape: "shape",
  depth: 0,
  depthLeft: 1,
  limits: "{\"maxSteps\":32}",
  budget: "{}",
  input: "\"Go\"",
  prompt: "Go",
  ephemeral: false,
  ...more
})

const settlement = (outcome = "{\"_tag\":\"Completed\"}"): RunRow.Settlement => ({
  outcome,
  usage: "{\"own\":1}",
  messages: "[\"message\"]",
  activeMillis: 7
})

const event = (runId: string, name: string) => ({ runId, json: JSON.stringify({ name }) })

const named = (events: ReadonlyArray<{ readonly sequence: number; readonly json: string }>) =>
  events.map(({ json, sequence }) => [sequence, (JSON.parse(json) as { readonly name: string }).name])

const record = (key: string, json = `"${key}"`): RunRow.Record => ({ key, json })

const keys = (run: RunRow.LoadedRun | undefined) => run?.records.map(({ key }) => key)

// Starts the next run of a thread, and gives its fence.
const open = Effect.fnUntraced(function*(threadId: string, more: Partial<RunRow.NewRun> = {}, lease = by("one")) {
  const store = yield* RunStore.RunStore
  const opened = yield* store.open(newRun(threadId, more), lease, (runId) => [event(runId, `${runId} started`)])
  if (opened._tag === "Occupied") return assert.fail(`${threadId} has an open run`)
  return { threadId, runId: opened.runId, epoch: opened.epoch }
})

const childOf = (parent: RunRow.Fence, callKey: string): RunRow.NewRun =>
  newRun(`${parent.runId}/${callKey}`, {
    rootThreadId: parent.threadId.split("#")[0]!,
    parentRunId: parent.runId,
    callKey,
    toolCallId: `call-${callKey}`,
    depth: 1
  })

const create = Effect.fnUntraced(function*(parent: RunRow.Fence, callKey: string, lease = by("one")) {
  const store = yield* RunStore.RunStore
  const run = childOf(parent, callKey)
  const runId = `${run.threadId}#0`
  const { created, run: loaded } = yield* store.create(parent, run, lease, [event(runId, `${runId} started`)])
  assert.isTrue(created)
  return { threadId: run.threadId, runId, epoch: loaded.epoch }
})

const append = Effect.fnUntraced(function*(fence: RunRow.Fence, ...names: ReadonlyArray<string>) {
  const store = yield* RunStore.RunStore
  return yield* store.append(fence, { records: names.map((name) => record(name)), events: [] })
})

// A child that is settled and whose result its parent has recorded.
const finished = Effect.fnUntraced(function*(parent: RunRow.Fence, callKey: string) {
  const store = yield* RunStore.RunStore
  const child = yield* create(parent, callKey)
  yield* store.settle(child, settlement(), [event(child.runId, `${child.runId} settled`)], 16)
  yield* append(parent, `t/${callKey}`)
  return child
})

const childKeys = Effect.fnUntraced(function*(runId: string) {
  const store = yield* RunStore.RunStore
  return (yield* store.children(runId)).map(({ callKey }) => callKey)
})

// All that a tree is made of, to see that nothing of it changed.
const everything = Effect.fnUntraced(function*(threadId: string, ...runIds: ReadonlyArray<string>) {
  const store = yield* RunStore.RunStore
  return {
    thread: yield* store.thread(threadId),
    runs: yield* Effect.forEach(runIds, (runId) => store.load(runId)),
    children: yield* Effect.forEach(runIds, (runId) => store.children(runId)),
    events: yield* store.events(threadId, 0)
  }
})

/**
 * The contract of `RunStore`, as tests of one store. `makeLayer` gives an empty
 * store each time it is called.
 */
export const runStoreContract = (name: string, makeLayer: () => Layer.Layer<RunStore.RunStore, unknown>): void => {
  const check = (title: string, test: () => Effect.Effect<unknown, unknown, RunStore.RunStore>) =>
    it.effect(title, () => Effect.provide(test(), makeLayer()))

  describe(`${name}: opening`, () => {
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

  describe(`${name}: children`, () => {
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

  describe(`${name}: records`, () => {
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

  describe(`${name}: fences`, () => {
    const writes: {
      readonly [write: string]: (
        store: RunStore.RunStore["Service"],
        fence: RunRow.Fence
      ) => Effect.Effect<unknown, RunStore.StoreError | RunStore.Fenced>
    } = {
      append: (store, fence) =>
        store.append(fence, { records: [record("late")], events: [event(fence.runId, "late")], keepChildren: 1 }),
      create: (store, fence) => store.create(fence, childOf(fence, "9.9"), by("late"), []),
      suspend: (store, fence) =>
        store.suspend(fence, { usage: "late", activeMillis: 99 }, [event(fence.runId, "late")]),
      fail: (store, fence) =>
        store.fail(fence, { outcome: "late", usage: "late", activeMillis: 99 }, [event(fence.runId, "late")]),
      settle: (store, fence) => store.settle(fence, settlement("late"), [event(fence.runId, "late")], 1),
      reopen: (store, fence) => store.reopen(fence, [event(fence.runId, "late")]),
      close: (store, fence) => store.close([{ fence, settlement: settlement("late") }], [event(fence.runId, "late")], 1)
    }

    // How a writer loses its run. The run has a child that a late writer could prune.
    const losses: {
      readonly [loss: string]: (
        store: RunStore.RunStore["Service"],
        fence: RunRow.Fence
      ) => Effect.Effect<unknown, RunStore.StoreError | RunStore.Fenced>
    } = {
      "another instance took the lease": (store, fence) => store.lease(fence.threadId, by("two", ttl)),
      "the run was seized": (store, fence) => store.seize(fence.runId, by("two")),
      "the run is settled": (store, fence) => store.settle(fence, settlement(), [], 16),
      "the thread was deleted": (store, fence) => store.forget(fence.threadId)
    }

    for (const [write, late] of Object.entries(writes)) {
      for (const [loss, lose] of Object.entries(losses)) {
        check(`${write} fails and changes nothing once ${loss}`, () =>
          Effect.gen(function*() {
            const store = yield* RunStore.RunStore
            const fence = yield* open("t")
            yield* finished(fence, "0.0")
            yield* finished(fence, "0.1")
            yield* append(fence, "m/0")
            yield* lose(store, fence)
            const before = yield* everything("t", "t#0", "t#0/0.0#0", "t#0/9.9#0")

            const error = yield* Effect.flip(late(store, fence))

            assert.strictEqual(error._tag, "Fenced")
            assert.deepStrictEqual(yield* everything("t", "t#0", "t#0/0.0#0", "t#0/9.9#0"), before)
          }))
      }
    }

    check("a writer of a deleted thread stays fenced when the thread starts anew", () =>
      Effect.gen(function*() {
        const store = yield* RunStore.RunStore
        const before = yield* open("t")
        yield* store.forget("t")
        const after = yield* open("t")

        assert.strictEqual(after.runId, before.runId)
        assert.isAbove(after.epoch, before.epoch)
        assert.strictEqual((yield* Effect.flip(append(before, "late")))._tag, "Fenced")
      }))

    check("closing several runs changes none of them if one is lost", () =>
      Effect.gen(function*() {
        const store = yield* RunStore.RunStore
        const parent = yield* open("t")
        const child = yield* create(parent, "0.0")
        yield* append(child, "m/0")
        yield* store.lease(child.threadId, by("two", ttl))
        const before = yield* everything("t", "t#0", child.runId)

        const error = yield* Effect.flip(store.close(
          [{ fence: parent, settlement: settlement() }, { fence: child, settlement: settlement() }],
          [event("t#0", "closed")],
          16
        ))

        assert.deepStrictEqual([error._tag, error._tag === "Fenced" && error.runId], ["Fenced", child.runId])
        assert.deepStrictEqual(yield* everything("t", "t#0", child.runId), before)
      }))

    check("a settled child stays as it is when its parent closes it again", () =>
      Effect.gen(function*() {
        const store = yield* RunStore.RunStore
        const parent = yield* open("t")
        const child = yield* create(parent, "0.0")
        yield* store.settle(child, settlement("{\"first\":1}"), [], 16)
        const before = yield* store.load(child.runId)

        yield* Effect.exit(store.append(parent, {
          records: [],
          events: [],
          close: [{ runId: child.runId, settlement: settlement("{\"second\":2}") }]
        }))

        assert.deepStrictEqual(yield* store.load(child.runId), before)
      }))
  })
}
