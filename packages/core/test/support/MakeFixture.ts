/**
 * Prints the fixture of the newest stored formats, made by the code as it is:
 * `node --conditions=mandate-source packages/core/test/support/MakeFixture.ts > packages/core/test/sql/fixtures/<name>.sql`.
 *
 * Run it by hand, once, when a new format of rows or of files is added, and into a new file. A fixture that is there says
 * what a released version wrote: it is never made again, and never changed.
 */
import { Answer } from "@mandate/core"
import { SqliteRunStore } from "@mandate/core/sqlite"
import { ScriptedModel } from "@mandate/testing"
import { Effect, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import { writeSync } from "node:fs"
import { rowFormat } from "../../src/service/RunRow.ts"
import { migrations } from "../../src/sql/SqliteFormat.ts"
import { backings } from "./Backings.ts"
import * as Format1 from "./Format1.ts"
import * as SqlDump from "./SqlDump.ts"
import * as SqliteFiles from "./SqliteFiles.ts"
import * as Waiting from "./Waiting.ts"

const pass = backings.find(({ name }) => name === "SQLite")!.pass("1 second")
const { clerk, scout } = Format1.family([], "first")

const program = Effect.gen(function*() {
  const filename = yield* SqliteFiles.path
  const model = yield* ScriptedModel.make(Format1.scripts("first"))
  const home = Effect.orDie(SqliteRunStore.make({ filename }))
  const { die, next } = Waiting.processesOf(home, model, ScriptedModel.layerOf(model))

  yield* next(Effect.gen(function*() {
    const agent = yield* clerk.build()
    const bound = yield* scout.bind()
    const settled = { threadId: "settled", tenant: "acme" }
    const begun = yield* Effect.forkChild(agent.run("Begin", settled), { startImmediately: true })
    yield* pass
    yield* Fiber.join(begun)
    yield* agent.run("Pay", settled)
    yield* agent.resume("settled", [Answer.reject("0.0:approval0", "no money left")])
    yield* agent.run("Say what you must not", settled)
    const cancelled = yield* Effect.forkChild(agent.run("Wait", settled), { startImmediately: true })
    yield* pass
    yield* agent.cancel("settled")
    yield* Fiber.join(cancelled)
    yield* agent.run("Spend", { ...settled, budget: { maxTokens: 1000 } })
    yield* agent.run("Go on and on", settled)
    yield* agent.run("Say nothing", settled)
    yield* bound.run({ text: "reports" }, { threadId: "typed" })
  }))

  yield* next(Effect.gen(function*() {
    const agent = yield* clerk.build()
    const budget = { maxTokens: 5000, maxToolCalls: 50, timeout: "1 hour" } as const
    yield* agent.run("Ask", { threadId: "suspended", budget, treeBudget: { maxTokens: 9000 }, childRetention: 3 })
    yield* agent.resume("suspended", [
      Answer.approve("0.1:approval0"),
      Answer.edit("0.2:approval0", { amount: 3 }),
      Answer.reject("0.3:approval0", "too much"),
      Answer.proceed("0.4:breakpoint0"),
      Answer.reply("0.7:child~0.0:question0", Schema.String, "first")
    ])
    yield* Effect.flip(agent.run("Fail", { threadId: "failed" }))
    yield* Effect.flip(agent.run("Break", { threadId: "broken" }))
    yield* Effect.flip(agent.recover("broken"))
  }))

  yield* die(Effect.gen(function*() {
    const agent = yield* clerk.build()
    yield* agent.start("Charge", { threadId: "running" })
    yield* pass
  }))
  const numbers =
    `-- Format ${migrations.length} of files, format ${rowFormat} of rows. Made by support/MakeFixture.ts; never changed.\n`
  yield* Effect.sync(() => writeSync(1, numbers + SqlDump.dump(filename)))
})

await Effect.runPromise(Effect.scoped(program).pipe(Effect.provide(TestClock.layer())))
