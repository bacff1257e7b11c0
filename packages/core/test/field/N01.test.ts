import { assert, describe, it } from "@effect/vitest"
import { SqliteRunStore } from "@mandate/core/sqlite"
import { RunStoreContract } from "@mandate/testing"
import { Effect } from "effect"
import { DatabaseSync } from "node:sqlite"

/** Texts of 8 MB take their time on a machine that has other things to do. */
const patient = 30_000

/** Binds parameters as Node before 24.7 does: a numbered one cannot be bound by its position. */
const withOldBinding = Effect.acquireRelease(
  Effect.sync(() => {
    const { prepare } = DatabaseSync.prototype
    DatabaseSync.prototype.prepare = function(...args) {
      const [sql] = args
      const statement = prepare.apply(this, args)
      if (!/\?\d/.test(sql)) return statement
      const refuse = (): never => {
        throw Object.assign(new Error("column index out of range"), { code: "ERR_SQLITE_ERROR", errcode: 25 })
      }
      return Object.assign(statement, { get: refuse, all: refuse, run: refuse })
    }
    return prepare
  }),
  (prepare) => Effect.sync(() => DatabaseSync.prototype.prepare = prepare)
)

const subject: RunStoreContract.Subject = { make: Effect.succeed(SqliteRunStore.layer({ filename: ":memory:" })) }

describe("N01 a SQLite store where numbered parameters have no position", () => {
  for (const { check, name } of RunStoreContract.properties(subject)) {
    it.effect(`N01 ${name}`, () => Effect.scoped(Effect.andThen(withOldBinding, check)), patient)
  }
})

/** Runs an effect while the runtime has no `node:sqlite`, or one that lacks something. */
const withModule = (load: (name: string) => unknown) => {
  const { getBuiltinModule } = process
  return Effect.acquireRelease(
    Effect.sync(() => {
      process.getBuiltinModule = load as typeof getBuiltinModule
    }),
    () => Effect.sync(() => process.getBuiltinModule = getBuiltinModule)
  )
}

class Incomplete {
  prepare() {
    return assert.fail("nothing is read by a connection that is not supported")
  }
  close() {}
}

const says =
  `Node ${process.versions.node} has no SQLite that the run store works with; use Node 22.16 or a later 22.x, ` +
  "Node 24 or later, or a current Bun or Deno"

describe("N01 a runtime that has no SQLite for the store", () => {
  it.effect.each([
    { name: "has no module of that name", module: undefined },
    { name: "has a module without connections", module: {} },
    { name: "has connections that do not say whether they are in a transaction", module: { DatabaseSync: Incomplete } }
  ])("N01 is named by the error when it $name", ({ module }) =>
    Effect.gen(function*() {
      yield* withModule(() => module)
      const error = yield* Effect.flip(SqliteRunStore.make({ filename: ":memory:" }))

      assert.deepStrictEqual({ ...error.reason }, { _tag: "Unsupported", runtime: `Node ${process.versions.node}` })
      assert.strictEqual(error.message, says)
    }).pipe(Effect.scoped))
})
