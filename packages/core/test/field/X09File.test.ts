import { assert, describe, it } from "@effect/vitest"
import { MandateSqlite, SqliteError, SqliteRunStore } from "@mandate/core/sqlite"
import { Effect, Layer } from "effect"
import { readFileSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { migrations, tables } from "../../src/sql/SqliteFormat.ts"
import * as SqliteFiles from "../support/SqliteFiles.ts"

/** A file of a store that has been closed. */
const closedFile = Effect.tap(SqliteFiles.path, (filename) => Effect.scoped(SqliteRunStore.make({ filename })))

const execute = (filename: string, sql: string) =>
  Effect.sync(() => {
    const db = new DatabaseSync(filename)
    db.exec(sql)
    db.close()
  })

const columns = (table: string): ReadonlyArray<string> => {
  const db = new DatabaseSync(":memory:")
  for (const migration of migrations) db.exec(migration)
  const names = db.prepare("SELECT name FROM pragma_table_info(?)").all(table).map(({ name }) => String(name))
  db.close()
  return names
}

const rename = (table: string, column: string) => `ALTER TABLE ${table} RENAME COLUMN ${column} TO other`

/** What was done to a file, and what its error says then; any detail where SQLite words it. */
const damages: ReadonlyArray<{ readonly sql: string; readonly detail?: string }> = [
  ...tables.map(([kind, name]) => ({ sql: `DROP ${kind} ${name}`, detail: `it has no ${kind} "${name}"` })),
  ...tables.filter(([kind, name]) => kind === "table" && name !== "meta").flatMap(([, table]) =>
    columns(table).filter((column) => column !== "id").map((column) => ({ sql: rename(table, column) }))
  ),
  ...["key", "value"].map((column) => ({ sql: rename("meta", column) })),
  { sql: "DELETE FROM meta WHERE key = 'format'", detail: "it does not say its format" },
  { sql: "UPDATE meta SET value = 0 WHERE key = 'format'", detail: "it does not say its format" },
  { sql: "UPDATE meta SET value = -1 WHERE key = 'format'", detail: "it does not say its format" },
  { sql: "DELETE FROM meta WHERE key = 'epoch'", detail: "it does not say its last epoch" },
  { sql: "UPDATE meta SET value = -1 WHERE key = 'epoch'", detail: "it does not say its last epoch" },
  { sql: "DELETE FROM meta", detail: "it does not say its format" }
]

describe("X09 a SQLite file of ours that lacks something", () => {
  it.effect.each(damages)(
    "X09 is refused as damaged, and stays as it is, after $sql",
    ({ detail, sql }) =>
      Effect.gen(function*() {
        const filename = yield* closedFile
        yield* execute(filename, sql)
        const before = readFileSync(filename)
        const error = yield* Effect.flip(Effect.scoped(SqliteRunStore.make({ filename })))

        assert.instanceOf(error, SqliteError.SqliteError)
        const { reason } = error
        assert.strictEqual(reason._tag, "Damaged")
        const said = reason._tag === "Damaged" ? reason.detail : ""
        assert.match(said, detail === undefined ? /no such column|has no column/ : /./)
        if (detail !== undefined) assert.strictEqual(said, detail)
        assert.strictEqual(error.message, `The file "${filename}" is damaged: ${said}`)
        assert.isTrue(before.equals(readFileSync(filename)))
      }).pipe(Effect.scoped)
  )

  it.effect("X09 is no defect of the layer of the runtime", () =>
    Effect.gen(function*() {
      const filename = yield* closedFile
      yield* execute(filename, "DROP TABLE results")
      const error = yield* Effect.flip(Effect.scoped(Layer.build(MandateSqlite.layer({ filename }))))

      assert.deepStrictEqual({ ...error.reason }, { _tag: "Damaged", detail: "it has no table \"results\"" })
    }).pipe(Effect.scoped))

  it.effect("X09 is a file all the same if it has more than ours", () =>
    Effect.gen(function*() {
      const filename = yield* closedFile
      yield* execute(filename, "CREATE INDEX theirs ON runs (started_at); CREATE VIEW seen AS SELECT name FROM threads")
      yield* Effect.scoped(SqliteRunStore.make({ filename }))
    }).pipe(Effect.scoped))
})
