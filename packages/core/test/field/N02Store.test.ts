import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Mandate, RunError, RunStore } from "@mandate/core"
import { SqliteRunStore } from "@mandate/core/sqlite"
import { Script, ScriptedModel, Step } from "@mandate/testing"
import { Effect, Layer, Logger, References, Result } from "effect"
import { readFileSync, writeFileSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { backings } from "../support/Backings.ts"
import * as Models from "../support/Models.ts"
import * as SqliteFiles from "../support/SqliteFiles.ts"
import { append, by, event, newRun, open, settlement } from "../support/StoreRows.ts"
import * as Trees from "../support/Trees.ts"

/** Gives the connections that stores open meanwhile. */
const connections = Effect.gen(function*() {
  const opened = new Set<DatabaseSync>()
  const { exec } = DatabaseSync.prototype
  yield* Effect.acquireRelease(
    Effect.sync(() => {
      DatabaseSync.prototype.exec = function(sql) {
        if (sql.startsWith("PRAGMA synchronous")) opened.add(this)
        exec.call(this, sql)
      }
    }),
    () => Effect.sync(() => DatabaseSync.prototype.exec = exec)
  )
  return opened
})

/** A store in a file that holds the run "t#0", its connection, and a connection of another process. */
const setUp = Effect.gen(function*() {
  const filename = yield* SqliteFiles.path
  const opened = yield* connections
  const store = yield* SqliteRunStore.make({ filename, busyTimeout: "5 millis" })
  const fence = yield* Effect.provideService(open("t"), RunStore.RunStore, store)
  const [db] = [...opened]
  return { filename, store, fence, db: db! }
})

type Setting = Effect.Success<typeof setUp>

/** A way to make a store fail, and what its errors then say. */
interface Failure {
  readonly name: string
  readonly provoke: (setting: Setting) => void
  readonly code: string
  readonly says: string
  readonly reads: boolean
  readonly writes: boolean
}

const failures: ReadonlyArray<Failure> = [
  {
    name: "a full disk",
    provoke: ({ db }) => {
      db.exec("PRAGMA max_page_count = 1")
    },
    code: "SQLITE_FULL",
    says: "SQLITE_FULL, the disk or the database is full",
    reads: false,
    writes: true
  },
  {
    name: "a file that another process keeps locked",
    provoke: ({ filename }) => new DatabaseSync(filename).exec("BEGIN IMMEDIATE"),
    code: "SQLITE_BUSY",
    says: "SQLITE_BUSY, another process kept the file locked",
    reads: false,
    writes: true
  },
  {
    name: "a connection that only reads",
    provoke: ({ db }) => {
      db.exec("PRAGMA query_only = 1")
    },
    code: "SQLITE_READONLY",
    says: "SQLITE_READONLY, the file is read-only",
    reads: false,
    writes: true
  },
  {
    name: "a file with bytes written over",
    provoke: ({ db, filename }) => {
      db.exec("PRAGMA wal_checkpoint(TRUNCATE); PRAGMA shrink_memory")
      writeFileSync(filename, readFileSync(filename).fill(0xff, 4096))
    },
    code: "SQLITE_CORRUPT",
    says: "SQLITE_CORRUPT, the file is damaged",
    reads: true,
    writes: true
  },
  {
    name: "a table that was dropped",
    provoke: ({ filename }) => {
      const other = new DatabaseSync(filename)
      other.exec("DROP TABLE runs; DROP TABLE records")
      other.close()
    },
    code: "SQLITE_ERROR",
    says: "SQLITE_ERROR, SQLite refused a statement; the file may lack a table or a column",
    reads: true,
    writes: true
  },
  {
    name: "a store that is closed",
    provoke: ({ db }) => db.close(),
    code: "STORE_CLOSED",
    says: "STORE_CLOSED, the store is closed",
    reads: true,
    writes: true
  }
]

const big = "x".repeat(1_000_000)

/** Each operation of a store on the run "t#0", and its name in words. */
const reads: ReadonlyArray<readonly [string, (setting: Setting) => Effect.Effect<unknown, unknown>]> = [
  ["read the run \"t#0\"", ({ store }) => store.load("t#0")],
  ["read the thread \"t\"", ({ store }) => store.thread("t")],
  ["list the threads", ({ store }) => store.list({ after: "", limit: 10 })],
  ["read the children of the run \"t#0\"", ({ store }) => store.children("t#0")],
  ["read the events of the thread \"t\"", ({ store }) => store.events("t", 0)]
]

const writes: ReadonlyArray<readonly [string, (setting: Setting) => Effect.Effect<unknown, unknown>]> = [
  ["start a run of the thread \"u\"", ({ store }) => store.open(newRun("u", { input: big }), by("one"), () => [])],
  [
    "write to the journal of the run \"t#0\"",
    ({ fence, store }) => store.append(fence, { records: [{ key: "m/0", json: big }], events: [] })
  ],
  [
    "write the suspension of the run \"t#0\"",
    ({ fence, store }) => store.suspend(fence, { usage: big, activeMillis: 0, stoppedAt: 0 }, [])
  ],
  [
    "write the failure of the run \"t#0\"",
    ({ fence, store }) => store.fail(fence, { usage: big, activeMillis: 0, stoppedAt: 0, outcome: "{}" }, [])
  ],
  [
    "write the outcome of the run \"t#0\"",
    ({ fence, store }) => store.settle(fence, { ...settlement(), messages: big }, [], 1)
  ],
  [
    "write the end of the run \"t#0\"",
    ({ fence, store }) => store.close([{ fence, settlement: { ...settlement(), messages: big }, keepChildren: 1 }], [])
  ],
  ["reopen the run \"t#0\"", ({ fence, store }) => store.reopen(fence, [event("t#0", big)])]
]

const check = (setting: Setting, failure: Failure) =>
  Effect.fnUntraced(function*([words, run]: (typeof reads)[number]) {
    const error = yield* Effect.flip(run(setting))

    assert.instanceOf(error, RunStore.StoreError)
    const { code, message, operation } = error as RunStore.StoreError
    assert.deepStrictEqual(
      { operation, code, message },
      { operation: words, code: failure.code, message: `The run store could not ${words}: ${failure.says}` }
    )
  })

describe("N02 a SQLite store that fails", () => {
  it.effect.each(failures)(
    "N02 by $name says what it could not do, and SQLite's code",
    (failure) =>
      Effect.gen(function*() {
        const setting = yield* setUp
        failure.provoke(setting)

        if (failure.reads) yield* Effect.forEach(reads, check(setting, failure))
        if (failure.writes) yield* Effect.forEach(writes, check(setting, failure))
      }).pipe(Effect.scoped)
  )
})

describe("N02 a verb whose SQLite store fails", () => {
  it.effect.each(failures)(
    "N02 by $name says what it could not do, and logs the whole cause at Debug",
    (failure) =>
      Effect.gen(function*() {
        const setting = yield* setUp
        yield* Effect.provideService(append(setting.fence, "m/0"), RunStore.RunStore, setting.store)
        const lines: Array<{ readonly level: string; readonly message: unknown }> = []
        const logger = Logger.make(({ logLevel, message }) => {
          lines.push({ level: logLevel, message })
        })
        const model = yield* ScriptedModel.make({ clerk: Script.optional([Step.text("done")]) })
        const runtime = Mandate.layer.pipe(Layer.provide(Layer.succeed(RunStore.RunStore, setting.store)))
        const error = yield* Effect.gen(function*() {
          const agent = yield* AgentBuilder.make("clerk").build()
          failure.provoke(setting)
          return yield* Effect.flip(agent.run(big, { threadId: "v" }))
        }).pipe(
          Effect.provide(Layer.merge(runtime, Models.layerOf(model))),
          Effect.provide(Logger.layer([logger])),
          Effect.provideService(References.MinimumLogLevel, "Debug")
        )

        assert.instanceOf(error, RunError.RunError)
        const { message, reason } = error
        const operation = reason._tag === "StoreFailed" ? reason.operation : ""
        assert.deepStrictEqual({ ...reason }, { _tag: "StoreFailed", threadId: "v", operation, code: failure.code })
        assert.include([`start a run of the thread "v"`, `read the thread "v"`], operation)
        assert.strictEqual(message, `The store could not ${operation}: ${failure.says}`)

        const logged = lines.filter(({ message }) => String([message].flat()[0]).includes(operation))
        assert.deepStrictEqual(logged.map(({ level }) => level), ["Debug"])
        const [, cause] = logged[0]!.message as [unknown, Error]
        assert.instanceOf(cause, Error)
      }).pipe(Effect.scoped)
  )
})

describe.each(backings)("N02 a run that fails since its store did, in $name", ({ make }) => {
  it.effect("N02 keeps the operation and a code, never a text that a store put into the code", () =>
    Effect.gen(function*() {
      const inner = yield* make
      for (
        const [code, kept] of [["SQLITE_FULL", "SQLITE_FULL"], ["disk of customer Ada is full", undefined]] as const
      ) {
        let failed = 0
        const store = Trees.around(inner, (name, done) =>
          Effect.suspend(() =>
            name === "settle" && failed++ === 0
              ? Effect.fail(
                new RunStore.StoreError({ operation: "write the outcome", code, cause: new Error("no") })
              )
              : done
          ))
        const threadId = `t${kept}`
        const model = yield* ScriptedModel.make({ clerk: Script.optional([Step.text("done")]) })
        const result = yield* Effect.gen(function*() {
          const agent = yield* AgentBuilder.make("clerk").build()
          return yield* Effect.result(agent.run("Go", { threadId }))
        }).pipe(Effect.provide(Layer.merge(
          Mandate.layer.pipe(Layer.provide(Layer.succeed(RunStore.RunStore, store))),
          Models.layerOf(model)
        )))

        const keptCode = kept === undefined ? {} : { code: kept }
        const expected = { _tag: "StoreFailed", operation: "write the outcome", ...keptCode }
        const reason = Result.isFailure(result) ? result.failure : assert.fail("the run did not fail")
        assert.deepStrictEqual({ ...(reason as RunError.RunError).reason } as unknown, { ...expected, threadId })
        const [row] = yield* inner.thread(threadId)
        assert.deepStrictEqual(JSON.parse(row!.outcome!), expected)
      }
    }).pipe(Effect.scoped))
})
