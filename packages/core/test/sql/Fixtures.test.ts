import { assert, describe, it } from "@effect/vitest"
import { SqliteRunStore } from "@mandate/core/sqlite"
import { Effect } from "effect"
import { readdirSync, readFileSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { rowFormat } from "../../src/service/RunRow.ts"
import { migrations } from "../../src/sql/SqliteFormat.ts"
import * as SqlDump from "../support/SqlDump.ts"
import * as SqliteFiles from "../support/SqliteFiles.ts"

const folder = new URL("./fixtures/", import.meta.url)
const names = readdirSync(folder).filter((name) => name.endsWith(".sql"))

const numbers = (filename: string, query: string) =>
  Effect.sync(() => {
    const db = new DatabaseSync(filename, { readOnly: true })
    const found = db.prepare(query).all().map((row) => Number(Object.values(row)[0]))
    db.close()
    return found
  })

const fileFormat = "SELECT value FROM meta WHERE key = 'format'"
const upTo = (newest: number) => Array.from({ length: newest }, (_, index) => index + 1)

describe("the stored formats", () => {
  it.effect("have a fixture each: when one is added, make it with support/MakeFixture.ts and write what it reads as", () =>
    Effect.gen(function*() {
      const files = new Set<number>()
      const rows = new Set<number>()
      for (const name of names) {
        const filename = `${yield* SqliteFiles.path}-${name}`
        yield* Effect.sync(() => SqlDump.load(filename, readFileSync(new URL(name, folder), "utf8")))
        for (const format of yield* numbers(filename, fileFormat)) files.add(format)
        for (const format of yield* numbers(filename, "SELECT DISTINCT format FROM definitions")) rows.add(format)
      }

      assert.sameMembers([...files], upTo(migrations.length))
      assert.sameMembers([...rows], upTo(rowFormat))
    }).pipe(Effect.scoped))

  it.effect.each(names)("of an old file become the newest when it is opened: %s", (name) =>
    Effect.gen(function*() {
      const filename = yield* SqliteFiles.path
      yield* Effect.sync(() => SqlDump.load(filename, readFileSync(new URL(name, folder), "utf8")))
      yield* Effect.scoped(SqliteRunStore.make({ filename }))

      assert.deepStrictEqual(yield* numbers(filename, fileFormat), [migrations.length])
      assert.deepStrictEqual(yield* numbers(filename, "SELECT count(*) FROM pragma_integrity_check"), [1])
    }).pipe(Effect.scoped))
})
