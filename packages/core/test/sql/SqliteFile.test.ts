import { assert, describe, it } from "@effect/vitest"
import { RunStore } from "@mandate/core"
import { SqliteRunStore } from "@mandate/core/sqlite"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { readFileSync, writeFileSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { promisify } from "node:util"
import * as SqliteFiles from "../support/SqliteFiles.ts"
import { by, newRun } from "../support/StoreRows.ts"

const open = (filename: string, options: Omit<SqliteRunStore.Options, "filename"> = {}) =>
  Effect.scoped(SqliteRunStore.make({ filename, ...options }))

const execute = (filename: string, sql: string) =>
  Effect.sync(() => {
    const db = new DatabaseSync(filename)
    db.exec(sql)
    db.close()
  })

const value = (filename: string, query: string) =>
  Effect.sync(() => {
    const db = new DatabaseSync(filename, { readOnly: true })
    const found = Object.values(db.prepare(query).get() ?? {})[0]
    db.close()
    return found
  })

/** A file is refused for a reason, and not a byte of it changes. */
const refused = Effect.fnUntraced(function*(filename: string, reason: unknown) {
  const before = readFileSync(filename)
  const error = yield* Effect.flip(open(filename))

  assert.strictEqual(error._tag, "SqliteError")
  assert.deepStrictEqual({ ...error.reason }, reason)
  assert.strictEqual(error.filename, filename)
  assert.isTrue(before.equals(readFileSync(filename)))
  return error
})

describe("a SQLite file", () => {
  it.effect("is made with the newest format, in WAL mode, marked as ours", () =>
    Effect.gen(function*() {
      const filename = yield* SqliteFiles.path
      yield* open(filename)

      assert.strictEqual(yield* value(filename, "SELECT value FROM meta WHERE key = 'format'"), 1)
      assert.strictEqual(yield* value(filename, "PRAGMA journal_mode"), "wal")
      assert.strictEqual(yield* value(filename, "PRAGMA application_id"), 0x4d4e4454)
      assert.strictEqual(yield* value(filename, "SELECT count(tenant) FROM threads"), 0)
    }).pipe(Effect.scoped))

  it.effect("may be there already and be empty", () =>
    Effect.gen(function*() {
      const filename = yield* SqliteFiles.path
      writeFileSync(filename, "")
      yield* open(filename)

      assert.strictEqual(yield* value(filename, "SELECT value FROM meta WHERE key = 'format'"), 1)
    }).pipe(Effect.scoped))

  it.effect("of a newer format is refused, and stays as it is", () =>
    Effect.gen(function*() {
      const filename = yield* SqliteFiles.path
      yield* open(filename)
      yield* execute(filename, "UPDATE meta SET value = 2 WHERE key = 'format'")

      const error = yield* refused(filename, { _tag: "NewerFormat", found: 2, known: 1 })
      assert.include(error.message, "has format 2, written by a newer version")
    }).pipe(Effect.scoped))

  it.effect("that is no database is refused, and stays as it is", () =>
    Effect.gen(function*() {
      const filename = yield* SqliteFiles.path
      writeFileSync(filename, "A letter, not a database. ".repeat(1000))
      yield* refused(filename, { _tag: "NotADatabase" })
      writeFileSync(filename, "short")
      yield* refused(filename, { _tag: "NotADatabase" })
    }).pipe(Effect.scoped))

  it.effect("of another program is refused, and stays as it is", () =>
    Effect.gen(function*() {
      const filename = yield* SqliteFiles.path
      yield* execute(filename, "CREATE TABLE meta (key TEXT, value INTEGER); CREATE TABLE runs (id INTEGER)")
      yield* refused(filename, { _tag: "OtherDatabase" })
    }).pipe(Effect.scoped))

  it.effect("with our mark and none of our tables is damaged", () =>
    Effect.gen(function*() {
      const filename = yield* SqliteFiles.path
      yield* execute(filename, "PRAGMA application_id = 0x4d4e4454")
      const error = yield* Effect.flip(open(filename))

      assert.deepStrictEqual({ ...error.reason }, { _tag: "Damaged", detail: "it has no table \"meta\"" })
    }).pipe(Effect.scoped))

  for (
    const [title, name, why] of [
      ["without a name", "", "the name is empty"],
      ["in a folder that is not there", "/nowhere/at/all/runs.db", "unable to open database file (SQLITE_CANTOPEN)"]
    ] as const
  ) {
    it.effect(`${title} cannot be opened, and says why`, () =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(open(name))

        assert.strictEqual(error.reason._tag, "CannotOpen")
        assert.strictEqual(error.message, `The file "${name}" cannot be opened: ${why}`)
      }))
  }

  it.effect("that another process keeps locked cannot be opened, until it can", () =>
    Effect.gen(function*() {
      const filename = yield* SqliteFiles.path
      const other = new DatabaseSync(filename)
      other.exec("CREATE TABLE t (a); DROP TABLE t; BEGIN EXCLUSIVE")
      const error = yield* Effect.flip(open(filename, { busyTimeout: "20 millis" }))
      other.exec("ROLLBACK")
      other.close()
      yield* open(filename)

      assert.strictEqual(error.reason._tag, "CannotOpen")
      assert.strictEqual(error.message, `The file "${filename}" cannot be opened: database is locked (SQLITE_BUSY)`)
    }).pipe(Effect.scoped))

  const levels: ReadonlyArray<readonly [string, Omit<SqliteRunStore.Options, "filename">, number]> = [
    ["normal unless told otherwise", {}, 1],
    ["normal if asked", { synchronous: "normal" }, 1],
    ["full if asked", { synchronous: "full" }, 2]
  ]
  for (const [how, options, level] of levels) {
    it.effect(`is synchronous=${how}, and says so`, () =>
      Effect.gen(function*() {
        const exec = DatabaseSync.prototype.exec
        const found: Array<unknown> = []
        DatabaseSync.prototype.exec = function(sql) {
          exec.call(this, sql)
          if (/synchronous/.test(sql)) found.push(this.prepare("PRAGMA synchronous").get()?.["synchronous"])
        }
        yield* Effect.ensuring(
          open(":memory:", options),
          Effect.sync(() => DatabaseSync.prototype.exec = exec)
        )

        assert.deepStrictEqual(found, [level])
      }))
  }

  it.effect("that is new can be opened by several processes at once", () =>
    Effect.gen(function*() {
      const filename = yield* SqliteFiles.path
      const script = `
        import { SqliteRunStore } from "@mandate/core/sqlite"
        import { RunStore } from "@mandate/core"
        import { Effect } from "effect"
        const [filename, at, name] = process.argv.slice(1)
        for (let file = 0; file < 30; file++) {
          while (Date.now() < Number(at) + file * 40);
          await Effect.runPromise(
            Effect.flatMap(RunStore.RunStore, (store) => store.lease(name, { holder: name, now: 0, ttl: 1 })).pipe(
              Effect.provide(SqliteRunStore.layer({ filename: filename + file }))
            )
          )
        }
      `
      const at = Date.now() + 1500
      const process_ = (name: string) =>
        Effect.promise(() =>
          promisify(execFile)(process.execPath, [
            "--conditions=mandate-source",
            "--disable-warning=ExperimentalWarning",
            "--input-type=module",
            "--eval",
            script,
            filename,
            String(at),
            name
          ], { cwd: new URL("../..", import.meta.url) })
        )
      const outputs = yield* Effect.forEach(["a", "b", "c", "d"], process_, { concurrency: "unbounded" })

      assert.deepStrictEqual(outputs.map(({ stderr }) => stderr), ["", "", "", ""])
      for (let file = 0; file < 30; file++) {
        assert.strictEqual(yield* value(`${filename}${file}`, "SELECT count(*) FROM threads"), 4)
        assert.strictEqual(yield* value(`${filename}${file}`, "SELECT value FROM meta WHERE key = 'epoch'"), 4)
      }
    }).pipe(Effect.scoped), 20_000)

  it.effect("can be copied while it is written, as a backup", () =>
    Effect.gen(function*() {
      const filename = yield* SqliteFiles.path
      const copy = `${filename}.copy`
      const store = yield* SqliteRunStore.make({ filename })
      yield* store.open(newRun("t"), by("one"), () => [])
      yield* execute(filename, `VACUUM INTO '${copy}'`)
      yield* store.open(newRun("u"), by("one"), () => [])
      const copied = yield* Effect.flatMap(RunStore.RunStore, (store) =>
        Effect.all([store.thread("t"), store.thread("u")])).pipe(
          Effect.provide(SqliteRunStore.layer({ filename: copy }), { local: true })
        )

      assert.deepStrictEqual(
        copied.map((runs) =>
          runs.length
        ),
        [1, 0]
      )
    }).pipe(Effect.scoped))
})
