import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, RunStore } from "@mandate/core"
import { MandateSqlite, SqliteRunStore } from "@mandate/core/sqlite"
import { ScriptedModel, Step, TestRuntime } from "@mandate/testing"
import { Effect, Layer } from "effect"
import { DatabaseSync } from "node:sqlite"
import * as Models from "../support/Models.ts"
import * as SqliteFiles from "../support/SqliteFiles.ts"
import { append, by, event, keys, newRun, open } from "../support/StoreRows.ts"

/** Two stores on one file, each with a connection of its own. */
const two = Effect.gen(function*() {
  const filename = yield* SqliteFiles.path
  const store = Effect.map(
    Layer.build(Layer.fresh(SqliteRunStore.layer({ filename, busyTimeout: "50 millis" }))),
    (services) => (effect: Effect.Effect<any, any, RunStore.RunStore>) => Effect.provide(effect, services)
  )
  return { filename, first: yield* store, second: yield* store }
})

describe("two stores on one file", () => {
  it.effect("see and fence each other", () =>
    Effect.gen(function*() {
      const { first, second } = yield* two
      const fence = yield* first(open("t"))
      yield* first(append(fence, "m/0"))
      const occupied = yield* second(
        Effect.flatMap(RunStore.RunStore, (store) => store.open(newRun("t"), by("two"), () => []))
      )
      const leased = yield* second(
        Effect.flatMap(RunStore.RunStore, (store) => store.lease("t", { ...by("two"), force: true }))
      )
      const fenced = yield* Effect.flip(first(append(fence, "late")))
      yield* second(append({ ...fence, epoch: leased.epoch }, "m/1"))

      assert.deepStrictEqual([occupied._tag, occupied.held], ["Occupied", true])
      assert.strictEqual(fenced._tag, "Fenced")
      assert.deepStrictEqual(
        keys(yield* first(Effect.flatMap(RunStore.RunStore, (store) => store.load("t#0")))),
        ["m/0", "m/1"]
      )
    }).pipe(Effect.scoped))

  it.effect("write at the same time without losing anything, and number events over both", () =>
    Effect.gen(function*() {
      const { first, second } = yield* two
      const stores = [first, second]
      const fences = yield* Effect.forEach(stores, (store, index) => store(open(`t${index}`)))
      yield* Effect.forEach(
        Array.from({ length: 200 }, (_, index) => index),
        (index) => stores[index % 2]!(append(fences[index % 2]!, `m/${index}`)),
        { concurrency: 10 }
      )
      const epochs = yield* Effect.forEach(
        Array.from({ length: 20 }, (_, index) => index),
        (index) => stores[index % 2]!(open(`n${index}`)),
        { concurrency: "unbounded" }
      )
      for (const index of [0, 1]) {
        const loaded = yield* stores[1 - index]!(
          Effect.flatMap(RunStore.RunStore, (store) => store.load(`t${index}#0`))
        )
        assert.lengthOf(loaded.records, 100)
      }
      const shared = yield* Effect.forEach(
        Array.from({ length: 10 }, (_, index) => index),
        (index) =>
          first(
            Effect.flatMap(RunStore.RunStore, (store) =>
              store.append(fences[0]!, { records: [], events: [event("t0#0", `${index}`)] }))
          )
      )

      assert.lengthOf(new Set(epochs.map(({ epoch }) => epoch)), 20)
      assert.deepStrictEqual(shared, Array.from({ length: 10 }, (_, index) => index + 2))
    }).pipe(Effect.scoped))

  it.effect("fail with StoreError while another process keeps the file locked, and go on afterwards", () =>
    Effect.gen(function*() {
      const { filename, first } = yield* two
      const fence = yield* first(open("t"))
      const other = new DatabaseSync(filename)
      other.exec("BEGIN IMMEDIATE")
      const busy = yield* Effect.flip(first(append(fence, "m/0")))
      const read = yield* first(Effect.flatMap(RunStore.RunStore, (store) => store.load("t#0")))
      other.exec("ROLLBACK")
      other.close()
      yield* first(append(fence, "m/1"))

      assert.deepStrictEqual([busy._tag, busy.operation], ["StoreError", "write to the journal of the run \"t#0\""])
      assert.deepStrictEqual(keys(read), [])
      assert.deepStrictEqual(
        keys(yield* first(Effect.flatMap(RunStore.RunStore, (store) => store.load("t#0")))),
        ["m/1"]
      )
    }).pipe(Effect.scoped))
})

describe("two runtimes on one file", () => {
  it.live("drive a run in one of them alone; the other finds its thread busy", () =>
    Effect.gen(function*() {
      const filename = yield* SqliteFiles.path
      const model = yield* ScriptedModel.make({ top: [Step.delay(50, Step.text("done"))] })
      const runtime = Layer.mergeAll(MandateSqlite.layer({ filename }), Models.layerOf(model)).pipe(
        Layer.provide(TestRuntime.layerConfig),
        Layer.fresh
      )
      const agentIn = Effect.map(
        Layer.build(runtime),
        (services) => Effect.provide(AgentBuilder.make("top").build(), services)
      ).pipe(Effect.flatten)
      const first = yield* agentIn
      const second = yield* agentIn
      const handle = yield* first.start("Go", { threadId: "t" })
      const busy = yield* Effect.flip(second.run("Go too", { threadId: "t" }))
      const result = yield* handle.await
      const seen = yield* second.status("t")

      assert.strictEqual(busy.reason._tag, "ThreadBusy")
      assert.deepStrictEqual(result.status, { _tag: "Completed", answer: "done" })
      assert.deepStrictEqual(seen.status, result.status)
      assert.strictEqual(yield* model.calls, 1)
    }).pipe(Effect.scoped))
})
