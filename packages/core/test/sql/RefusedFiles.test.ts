import { assert, describe, it } from "@effect/vitest"
import { SqliteRunStore } from "@mandate/core/sqlite"
import { Effect } from "effect"
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import * as SqliteFiles from "../support/SqliteFiles.ts"

const open = (filename: string) => Effect.scoped(SqliteRunStore.make({ filename }))

const execute = (filename: string, sql: string) =>
  Effect.sync(() => {
    const db = new DatabaseSync(filename)
    db.exec(sql)
    db.close()
  })

/** Lets another process write to a file when a store has looked at it and is about to make its tables there. */
const beforeTables = (filename: string, sql: string) =>
  Effect.acquireRelease(
    Effect.sync(() => {
      const { exec } = DatabaseSync.prototype
      DatabaseSync.prototype.exec = function(text) {
        if (text === "BEGIN IMMEDIATE") {
          DatabaseSync.prototype.exec = exec
          Effect.runSync(execute(filename, sql))
        }
        exec.call(this, text)
      }
      return exec
    }),
    (exec) => Effect.sync(() => DatabaseSync.prototype.exec = exec)
  )

describe("a file that a SQLite store refuses", () => {
  it.effect("may be damaged, and stays as it is", () =>
    Effect.gen(function*() {
      const filename = yield* SqliteFiles.path
      yield* open(filename)
      // The header says that it is a database; what follows is none.
      writeFileSync(filename, readFileSync(filename).fill(0xff, 100, 4096))
      const before = readFileSync(filename)
      const error = yield* Effect.flip(open(filename))

      assert.deepStrictEqual({ ...error.reason }, { _tag: "NotADatabase" })
      assert.isTrue(before.equals(readFileSync(filename)))
    }).pipe(Effect.scoped))

  it.effect("may have become another program's while it was opened, and gets none of our tables", () =>
    Effect.gen(function*() {
      const filename = yield* SqliteFiles.path
      yield* beforeTables(filename, "CREATE TABLE theirs (a)")
      const error = yield* Effect.flip(open(filename))
      const db = new DatabaseSync(filename, { readOnly: true })
      const tables = db.prepare("SELECT name FROM sqlite_schema").all().map(({ name }) => name)
      db.close()

      assert.deepStrictEqual({ ...error.reason }, { _tag: "OtherDatabase" })
      assert.deepStrictEqual(tables, ["theirs"])
    }).pipe(Effect.scoped))

  it.effect("may be where no WAL can be, and is named with the mode it is in", () =>
    Effect.gen(function*() {
      // Locks by files: several processes cannot share memory there.
      const filename = `file:${yield* SqliteFiles.path}?vfs=unix-dotfile`
      const error = yield* Effect.flip(open(filename))

      assert.strictEqual(
        error.message,
        `The file "${filename}" cannot be opened: the journal mode is delete; it has to be wal`
      )
    }).pipe(Effect.scoped))

  it.effect("is let go of: nothing beside it stays", () =>
    Effect.gen(function*() {
      const filename = yield* SqliteFiles.path
      yield* open(filename)
      yield* execute(filename, "UPDATE meta SET value = 2 WHERE key = 'format'")
      const error = yield* Effect.flip(open(filename))

      assert.strictEqual(error.reason._tag, "NewerFormat")
      assert.deepStrictEqual(["-wal", "-shm"].filter((end) => existsSync(filename + end)), [])
    }).pipe(Effect.scoped))
})
