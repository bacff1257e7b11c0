import { assert, describe, it } from "@effect/vitest"
import { type RunRow, RunStore } from "@mandate/core"
import { SqliteRunStore } from "@mandate/core/sqlite"
import { RunStoreContract } from "@mandate/testing"
import { Effect, Exit, Layer, Schema } from "effect"
import { statSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import * as SqliteFiles from "../support/SqliteFiles.ts"
import {
  append,
  by,
  childOf,
  create,
  event,
  everything,
  finished,
  keys,
  newRun,
  open,
  record,
  settlement
} from "../support/StoreRows.ts"

/** Texts of 8 MB take their time on a machine that has other things to do. */
const patient = 30_000

const inMemory: RunStoreContract.Subject = { make: Effect.succeed(SqliteRunStore.layer({ filename: ":memory:" })) }

const inFile: RunStoreContract.Subject = {
  make: Effect.map(SqliteFiles.path, (filename) => SqliteRunStore.layer({ filename })),
  reopens: true,
  shares: true
}

describe("SqliteRunStore in memory", () => {
  for (const { check, name } of RunStoreContract.properties(inMemory)) it.effect(name, () => check, patient)
})

describe("SqliteRunStore in a file", () => {
  for (const { check, name } of RunStoreContract.properties(inFile)) it.effect(name, () => check, patient)
})

/** A process with a store on a file. */
const process = <A, E>(
  filename: string,
  body: Effect.Effect<A, E, RunStore.RunStore>,
  options: Omit<SqliteRunStore.Options, "filename"> = {}
) => Effect.provide(body, SqliteRunStore.layer({ filename, ...options }), { local: true })

/** Does something to a file behind the store's back. */
const behind = (filename: string, sql: string) =>
  Effect.sync(() => {
    const db = new DatabaseSync(filename)
    db.exec(sql)
    db.close()
  })

const text = (length: number) => "漢😀é\n\"\u0000".repeat(Math.ceil(length / 8)).slice(0, length)

describe("SqliteRunStore", () => {
  it.effect("keeps all that was acknowledged over closing and opening", () =>
    Effect.gen(function*() {
      const filename = yield* SqliteFiles.path
      const before = yield* process(
        filename,
        Effect.gen(function*() {
          const parent = yield* open("t")
          const child = yield* create(parent, "0.0")
          yield* append(child, "m/0", "t/0.0")
          return yield* everything("t", "t#0", child.runId)
        })
      )
      const after = yield* process(filename, everything("t", "t#0", "t#0/0.0#0"))

      assert.deepStrictEqual(after, before)
      assert.lengthOf(after.events, 2)
    }).pipe(Effect.scoped))

  it.effect("commits what waits before it closes, and refuses what comes later", () =>
    Effect.gen(function*() {
      const filename = yield* SqliteFiles.path
      const store = yield* process(
        filename,
        Effect.gen(function*() {
          const store = yield* RunStore.RunStore
          // Not awaited: it still waits when the scope closes.
          Effect.runFork(store.open(newRun("t"), by("one"), () => []))
          return store
        })
      )
      const late = yield* Effect.flip(store.open(newRun("late"), by("one"), () => []))
      const read = yield* Effect.flip(store.load("t#0"))

      assert.deepStrictEqual([late._tag, late.operation], ["StoreError", "start a run of the thread \"late\""])
      assert.deepStrictEqual([read._tag, read.operation], ["StoreError", "read the run \"t#0\""])
      assert.lengthOf(yield* process(filename, Effect.flatMap(RunStore.RunStore, (store) => store.thread("t"))), 1)
    }).pipe(Effect.scoped))

  it.effect("never gives an epoch twice, over deleting and opening again", () =>
    Effect.gen(function*() {
      const filename = yield* SqliteFiles.path
      const start = Effect.gen(function*() {
        const store = yield* RunStore.RunStore
        const { epoch } = yield* open("t")
        yield* store.forget("t")
        return epoch
      })
      const epochs = [yield* process(filename, start), yield* process(filename, start), yield* process(filename, start)]

      assert.deepStrictEqual(epochs, [1, 2, 3])
    }).pipe(Effect.scoped))

  it.effect("keeps values of 8 MB, whatever characters they have", () =>
    Effect.gen(function*() {
      const filename = yield* SqliteFiles.path
      const big = text(8 * 1024 * 1024)
      const end = { ...settlement(big), messages: big, usage: big }
      yield* process(
        filename,
        Effect.gen(function*() {
          const store = yield* RunStore.RunStore
          const fence = yield* open("t", { input: big, prompt: big })
          yield* store.append(fence, { records: [record("m/0", big)], events: [event("t#0", big)] })
          assert.isTrue((yield* store.load("t#0"))!.records[0]!.json === big)
          yield* store.settle(fence, end, [], 16)
        })
      )
      const { row, events } = yield* process(
        filename,
        Effect.gen(function*() {
          const store = yield* RunStore.RunStore
          return { row: (yield* store.load("t#0"))!.row, events: yield* store.events("t", 1) }
        })
      )

      for (const value of [row.input, row.prompt, row.outcome, row.messages, row.usage]) assert.isTrue(value === big)
      assert.isTrue(events[0]!.json === event("t#0", big).json)
    }).pipe(Effect.scoped), patient)

  it.effect.prop(
    "gives events back as they came, however much they have in common",
    { first: Schema.String, others: Schema.Array(Schema.String) },
    ({ first, others }) =>
      Effect.gen(function*() {
        const store = yield* RunStore.RunStore
        // Text enters a journal well formed; a part of it that is alike may still end within a pair.
        const texts = [`${first}😀`, first, ...others, `${first}😁`, ""].map((text) => text.toWellFormed())
        const opened = yield* store.open(newRun("t"), by("one"), (runId) => texts.map((json) => ({ runId, json })))

        assert.strictEqual(opened._tag, "Started")
        assert.deepStrictEqual((yield* store.events("t", 0)).map(({ json }) => json), texts)
      }).pipe(Effect.provide(SqliteRunStore.layer({ filename: ":memory:" }), { local: true }))
  )

  it.effect("gives events back as they came that repeat the usage their run settled with", () =>
    Effect.gen(function*() {
      const store = yield* RunStore.RunStore
      const parent = yield* open("t")
      const child = yield* create(parent, "0.0")
      const events = [
        ["t#0", "{\"usage\":{\"own\":1}}"],
        [child.runId, "{\"usage\":{\"own\":2},\"again\":{\"own\":2}}"],
        [child.runId, "{\"usage\":{\"own\":1}}"],
        ["t#0", "{\"own\":1}"]
      ].map(([runId, json]) => ({ runId: runId!, json: json! }))
      const settled = (usage: string) => ({ ...settlement(), usage })
      yield* store.close(
        [
          { fence: parent, settlement: settled("{\"own\":1}"), keepChildren: 16 },
          { fence: child, settlement: settled("{\"own\":2}"), keepChildren: 16 }
        ],
        events
      )

      assert.deepStrictEqual((yield* store.events("t", 2)).map(({ json }) => json), events.map(({ json }) => json))
    }).pipe(Effect.provide(SqliteRunStore.layer({ filename: ":memory:" }))))

  it.effect("keeps nothing of a tree that is deleted", () =>
    Effect.gen(function*() {
      const filename = yield* SqliteFiles.path
      yield* process(
        filename,
        Effect.gen(function*() {
          const store = yield* RunStore.RunStore
          const parent = yield* open("t")
          yield* finished(parent, "0.0")
          const child = yield* create(parent, "0.1")
          yield* append(child, "m/0")
          yield* store.suspend(child, { usage: "{}", activeMillis: 1, stoppedAt: 1 }, [event(child.runId, "suspended")])
          yield* store.forget("t")
        })
      )
      const db = new DatabaseSync(filename)
      const left = ["threads", "runs", "results", "records", "events"].map((table) =>
        db.prepare(`SELECT count(*) AS count FROM ${table}`).get()?.["count"]
      )
      db.close()

      assert.deepStrictEqual(left, [0, 0, 0, 0, 0])
    }).pipe(Effect.scoped))

  it.effect("does not grow under retention", () =>
    Effect.gen(function*() {
      const filename = yield* SqliteFiles.path
      const store = yield* Effect.map(
        Layer.build(SqliteRunStore.layer({ filename })),
        (services) => RunStore.RunStore.pipe(Effect.provide(services))
      ).pipe(Effect.flatten)
      const turns = Effect.fnUntraced(function*(count: number) {
        for (let turn = 0; turn < count; turn++) {
          const opened = yield* store.open(newRun("t", { ephemeral: true, prompt: text(3000) }), by("one"), () => [])
          if (opened._tag !== "Started") return assert.fail()
          const fence: RunRow.Fence = { threadId: "t", ...opened }
          for (const key of ["0.0", "0.1", "0.2"]) {
            const { run } = yield* store.create(fence, childOf(fence, key), by("one"), [])
            const child = { threadId: run.row.threadId, runId: run.row.runId, epoch: run.epoch }
            yield* store.append(child, {
              records: [record("m/0", text(5000))],
              events: [event(child.runId, text(300))]
            })
            yield* store.settle(child, { ...settlement(), messages: text(5000) }, [], 1)
            yield* store.append(fence, { records: [record(`t/${key}`)], events: [], keepChildren: 1 })
          }
          yield* store.settle(fence, settlement(), [], 1)
        }
      })
      const size = () => statSync(filename).size + statSync(`${filename}-wal`).size
      yield* turns(200)
      const before = size()
      yield* turns(600)

      assert.isAtMost(size(), before * 1.05)
    }).pipe(Effect.scoped), patient)
})

describe("operations that wait at the same time", () => {
  const guarded = Effect.fnUntraced(function*(filename: string) {
    yield* process(filename, open("before"))
    yield* behind(
      filename,
      `CREATE TABLE good (id INTEGER PRIMARY KEY);
       CREATE TABLE bad (good INTEGER REFERENCES good (id) DEFERRABLE INITIALLY DEFERRED);
       CREATE TRIGGER breaks AFTER INSERT ON records WHEN NEW.key = 'breaks' BEGIN SELECT RAISE (ABORT, 'broken'); END;
       CREATE TRIGGER spoils AFTER INSERT ON records WHEN NEW.key = 'spoils' BEGIN INSERT INTO bad VALUES (1); END;`
    )
  })
  const appends = (fences: ReadonlyArray<RunRow.Fence>, names: ReadonlyArray<string>) =>
    Effect.forEach(names, (name, index) => Effect.exit(append(fences[index]!, "m/0", name)), {
      concurrency: "unbounded"
    })
  const threads = ["a", "b", "c", "d"]
  const kept = Effect.gen(function*() {
    const store = yield* RunStore.RunStore
    return yield* Effect.forEach(threads, (thread) => Effect.map(store.load(`${thread}#0`), keys))
  })

  it.effect("are each fenced by themselves", () =>
    Effect.gen(function*() {
      const fences = yield* Effect.forEach(threads, (thread) => open(thread))
      const stale = fences.map((fence, index) => index === 1 ? { ...fence, epoch: fence.epoch - 1 } : fence)
      const exits = yield* appends(stale, ["x", "x", "x", "x"])

      assert.deepStrictEqual(exits.map(Exit.isSuccess), [true, false, true, true])
      assert.deepStrictEqual(yield* kept, [["m/0", "x"], [], ["m/0", "x"], ["m/0", "x"]])
    }).pipe(Effect.provide(SqliteFiles.layerFile())))

  it.effect("are not spoiled by one that breaks off half done", () =>
    Effect.gen(function*() {
      const filename = yield* SqliteFiles.path
      yield* guarded(filename)
      yield* process(
        filename,
        Effect.gen(function*() {
          const fences = yield* Effect.forEach(threads, (thread) => open(thread))
          const exits = yield* appends(fences, ["x", "breaks", "x", "x"])

          assert.deepStrictEqual(exits.map(Exit.isSuccess), [true, false, true, true])
          const error = yield* Effect.flip(exits[1]!)
          assert.deepStrictEqual(
            error._tag === "StoreError" && error.operation,
            "write to the journal of the run \"b#0\""
          )
          assert.deepStrictEqual(yield* kept, [["m/0", "x"], [], ["m/0", "x"], ["m/0", "x"]])
          yield* append(fences[1]!, "m/1")
        })
      )
    }).pipe(Effect.scoped))

  it.effect("all fail when their commit fails, and none is kept", () =>
    Effect.gen(function*() {
      const filename = yield* SqliteFiles.path
      yield* guarded(filename)
      yield* process(
        filename,
        Effect.gen(function*() {
          const fences = yield* Effect.forEach(threads, (thread) => open(thread))
          const exits = yield* appends(fences, ["x", "spoils", "x", "x"])

          for (const exit of exits) assert.strictEqual((yield* Effect.flip(exit))._tag, "StoreError")
          assert.deepStrictEqual(yield* kept, [[], [], [], []])
          yield* Effect.forEach(fences, (fence) => append(fence, "again"))
          assert.deepStrictEqual(yield* kept, [["again"], ["again"], ["again"], ["again"]])
        })
      )
    }).pipe(Effect.scoped))

  it.effect("start children that are still theirs after the operations beside them broke", () =>
    Effect.gen(function*() {
      const filename = yield* SqliteFiles.path
      yield* guarded(filename)
      yield* process(
        filename,
        Effect.gen(function*() {
          const parent = yield* open("a")
          const other = yield* open("b")
          const [, first, second] = yield* Effect.all([
            Effect.exit(append(other, "breaks")),
            create(parent, "0.0"),
            create(parent, "0.1")
          ], { concurrency: "unbounded" })
          yield* append(first, "m/0")
          yield* append(second, "m/1")
          const store = yield* RunStore.RunStore

          assert.deepStrictEqual(keys(yield* store.load(first.runId)), ["m/0"])
          assert.deepStrictEqual(keys(yield* store.load(second.runId)), ["m/1"])
        })
      )
    }).pipe(Effect.scoped))
})
