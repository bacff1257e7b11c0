import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { unlinkSync } from "node:fs"
import * as Cli from "./support/Cli.ts"
import * as Story from "./support/Story.ts"

const timeout = 30_000

const kill = ({ process }: Cli.Running) => Effect.sync(() => process.kill("SIGKILL"))

/** Brings a case to its end, whatever is left to answer, and gives what the last command printed. */
const finish = Effect.fnUntraced(function*(db: string) {
  for (const answer of [Story.edit, Story.reply, Story.approve]) yield* Cli.here(...answer, "--db", db)
  return (yield* Cli.here("pending", "--db", db)).stdout
})

const whole = Story.end(Story.effects.payment, Story.effects.mail)

describe.concurrent("a command that is killed", () => {
  for (const text of [": on its way", ": in the ledger"]) {
    it.live(
      `after "${text}" is gone on with by the next one, and its effect is there once`,
      () =>
        Effect.gen(function*() {
          const db = yield* Story.opened
          const killed = yield* Cli.start([...Story.edit, "--delay", "1000", "--db", db])
          yield* killed.wrote(text)
          yield* kill(killed)
          const { exitCode } = yield* killed.ended
          const next = yield* Cli.run("pending", "--db", db)

          assert.isNull(exitCode)
          assert.strictEqual(next.exitCode, 0)
          assert.include(next.stderr, "The last command did not end.")
          assert.include(next.stderr, text === ": in the ledger" ? ": was in the ledger before" : ": in the ledger")
          assert.include(next.stdout, "Waiting for 1 answer:")
          assert.deepStrictEqual(Cli.ledger(db), [Story.paid])
          assert.strictEqual(yield* finish(db), whole)
          assert.deepStrictEqual(Cli.ledger(db), [Story.paid, Story.sent])
        }),
      timeout
    )
  }

  it.live("at the last effect leaves the whole end to the next one", () =>
    Effect.gen(function*() {
      const db = yield* Story.opened
      yield* Cli.here(...Story.reply, "--db", db)
      yield* Cli.here(...Story.edit, "--db", db)
      const killed = yield* Cli.start([...Story.approve, "--delay", "1000", "--db", db])
      yield* killed.wrote(": in the ledger")
      yield* kill(killed)
      // The answer that was under way is given again: it is stored, so nothing waits for it any more.
      const again = yield* Cli.run(...Story.approve, "--db", db)

      assert.strictEqual(again.exitCode, 1)
      assert.strictEqual(again.stdout, whole)
      assert.include(again.stderr, "Nothing waits under")
      assert.deepStrictEqual(Cli.ledger(db), [Story.paid, Story.sent])
    }), timeout)

  it.live(
    "at any time comes to the same end",
    () =>
      Effect.forEach([-300, 0, 35, 70, 105, 140], (millis) =>
        Effect.gen(function*() {
          const db = yield* Story.opened
          const killed = yield* Cli.start([...Story.edit, "--delay", "50", "--db", db])
          // Below 0: since the process was started. Else since the effect began, which takes 50 milliseconds, twice.
          if (millis >= 0) yield* killed.wrote(": on its way")
          yield* Effect.sleep(Math.abs(millis))
          yield* kill(killed)
          yield* killed.ended

          assert.strictEqual(yield* finish(db), whole)
          assert.deepStrictEqual(Cli.ledger(db), [Story.paid, Story.sent])
        }), { concurrency: 4 }),
    timeout
  )

  it.live(
    "while it opens a case leaves one, or none",
    () =>
      Effect.forEach([200, 300, 400], (millis) =>
        Effect.gen(function*() {
          const db = yield* Cli.newDb
          const killed = yield* Cli.start(["start", "--db", db])
          yield* Effect.sleep(millis)
          yield* kill(killed)
          yield* killed.ended
          yield* Cli.here("start", "--db", db)

          assert.deepStrictEqual(yield* Story.pendingIds(db), [Story.payment, Story.question])
          assert.strictEqual(yield* finish(db), whole)
          assert.deepStrictEqual(Cli.ledger(db), [Story.paid, Story.sent])
        }), { concurrency: 3 }),
    timeout
  )
})

describe.concurrent("a command that is stopped", () => {
  it.live("by Ctrl-C leaves the case open, and the next one does not wait", () =>
    Effect.gen(function*() {
      const db = yield* Story.opened
      const stopped = yield* Cli.start([...Story.edit, "--delay", "20000", "--db", db])
      yield* stopped.wrote(": on its way")
      stopped.process.kill("SIGINT")
      const { exitCode, stderr } = yield* stopped.ended
      const before = performance.now()
      const next = yield* Cli.here("pending", "--db", db)

      assert.strictEqual(exitCode, 130)
      assert.strictEqual(
        stderr,
        `${Story.effects.payment}: on its way\napproval-desk: Stopped. The next command goes on with the case.\n`
      )
      assert.isBelow(performance.now() - before, 1500)
      assert.include(next.stdout, "Waiting for 1 answer:")
      assert.deepStrictEqual(Cli.ledger(db), [Story.paid])
    }), timeout)

  it.live("by a ledger that is gone is gone on with once it is back", () =>
    Effect.gen(function*() {
      const db = yield* Story.opened
      const failing = yield* Cli.start([...Story.edit, "--delay", "200", "--db", db])
      yield* failing.wrote(": on its way")
      unlinkSync(`${db}.ledger`)
      const { exitCode, stderr } = yield* failing.ended
      const next = yield* Cli.here("pending", "--db", db)

      assert.strictEqual(exitCode, 1)
      assert.match(
        stderr,
        /\nThe ledger .* cannot be read or written\napproval-desk: The subagent .*goes on with it\.\n$/
      )
      assert.notInclude(stderr, "    at ")
      assert.include(next.stderr, "The last command failed.")
      assert.include(next.stdout, "Waiting for 1 answer:")
      assert.deepStrictEqual(Cli.ledger(db), [Story.paid])
    }), timeout)
})

describe.concurrent("two commands at once", () => {
  it.live("give one answer once", () =>
    Effect.gen(function*() {
      const db = yield* Story.opened
      const both = yield* Effect.all([
        Cli.run(...Story.edit, "--delay", "100", "--db", db),
        Cli.run(...Story.edit, "--delay", "100", "--db", db)
      ], { concurrency: "unbounded" })

      assert.sameMembers(both.map(({ exitCode }) => exitCode), [0, 1])
      assert.match(both.map(({ stderr }) => stderr).join(""), /approval-desk: (Busy|Nothing waits under)/)
      assert.deepStrictEqual(Cli.ledger(db), [Story.paid])
      assert.deepStrictEqual(yield* Story.pendingIds(db), [Story.question])
    }), timeout)

  it.live("are told that the other one is at work", () =>
    Effect.gen(function*() {
      const db = yield* Story.opened
      const first = yield* Cli.start([...Story.edit, "--delay", "2500", "--db", db])
      yield* first.wrote(": on its way")
      const second = yield* Cli.run(...Story.reply, "--db", db)
      const { exitCode } = yield* first.ended

      assert.deepStrictEqual([second.exitCode, exitCode], [1, 0])
      assert.include(second.stderr, "approval-desk: Busy: another command is at work on the case.")
      assert.strictEqual(second.stdout, "")
      assert.deepStrictEqual(Cli.ledger(db), [Story.paid])
      assert.deepStrictEqual(yield* Story.pendingIds(db), [Story.question])
    }), timeout)
})
