import { assert, describe, it } from "@effect/vitest"
import { SqliteRunStore } from "@mandate/core/sqlite"
import { Effect } from "effect"
import { execFile } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { promisify } from "node:util"
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

const maker = new URL("../support/MakeFixture.ts", import.meta.url).pathname
const flags = ["--conditions=mandate-source", "--disable-warning=ExperimentalWarning"]

const fileFormat = "SELECT value FROM meta WHERE key = 'format'"
const rowFormats = "SELECT DISTINCT format FROM definitions"
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
        for (const format of yield* numbers(filename, rowFormats)) rows.add(format)
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
      assert.deepStrictEqual(yield* numbers(filename, "SELECT integrity_check = 'ok' FROM pragma_integrity_check"), [1])
    }).pipe(Effect.scoped))

  it.effect("of the newest kind are what MakeFixture makes", () =>
    Effect.gen(function*() {
      const filename = yield* SqliteFiles.path
      const { stdout } = yield* Effect.promise(() => promisify(execFile)(process.execPath, [...flags, maker]))
      yield* Effect.sync(() => SqlDump.load(filename, stdout))

      assert.deepStrictEqual(yield* numbers(filename, fileFormat), [migrations.length])
      assert.deepStrictEqual(yield* numbers(filename, rowFormats), [rowFormat])
    }).pipe(Effect.scoped), 20_000)
})
