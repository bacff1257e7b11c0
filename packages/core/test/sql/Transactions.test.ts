import { assert, describe, it } from "@effect/vitest"
import { RunStore } from "@mandate/core"
import { SqliteRunStore } from "@mandate/core/sqlite"
import { Effect, Fiber } from "effect"
import { DatabaseSync, StatementSync } from "node:sqlite"
import * as SqliteFiles from "../support/SqliteFiles.ts"
import { append, keys, open, record } from "../support/StoreRows.ts"

/** Lets another process write just before the next query that gives rows, which is amid the next read of a store. */
const amid = (filename: string, sql: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const { all } = StatementSync.prototype
      const other = new DatabaseSync(filename)
      StatementSync.prototype.all = function(...values: ReadonlyArray<unknown>) {
        StatementSync.prototype.all = all
        other.exec(sql)
        return Reflect.apply(all, this, values)
      }
      return { all, other }
    }),
    ({ all, other }) =>
      Effect.sync(() => {
        StatementSync.prototype.all = all
        other.close()
      })
  )

describe("a read of a SQLite store", () => {
  it.effect("gives all of one moment, whatever another process writes meanwhile", () =>
    Effect.gen(function*() {
      const filename = yield* SqliteFiles.path
      const store = yield* SqliteRunStore.make({ filename })
      const fence = yield* Effect.provideService(
        Effect.tap(open("t"), (fence) => append(fence, "m/0")),
        RunStore.RunStore,
        store
      )
      yield* amid(filename, "UPDATE runs SET state = 'Settled'; DELETE FROM records")
      const during = yield* store.load(fence.runId)
      const after = yield* store.load(fence.runId)

      assert.deepStrictEqual([during?.row.state, keys(during)], ["Running", ["m/0"]])
      assert.deepStrictEqual([after?.row.state, keys(after)], ["Settled", []])
    }).pipe(Effect.scoped))
})

describe("a write of a SQLite store", () => {
  it.effect("is kept when an interruption of it has ended, and nothing of it comes later", () =>
    Effect.gen(function*() {
      const store = yield* RunStore.RunStore
      const fence = yield* open("t")
      const writing = yield* Effect.forkChild(store.append(fence, { records: [record("m/0")], events: [] }), {
        startImmediately: true
      })
      yield* Fiber.interrupt(writing)

      assert.deepStrictEqual(keys(yield* store.load(fence.runId)), ["m/0"])
    }).pipe(Effect.provide(SqliteRunStore.layer({ filename: ":memory:" }))))
})
