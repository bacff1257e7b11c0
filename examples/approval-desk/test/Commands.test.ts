import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { writeFileSync } from "node:fs"
import * as Options from "../src/Options.ts"
import * as Cli from "./support/Cli.ts"
import * as Story from "./support/Story.ts"

const timeout = 30_000

describe.concurrent("the commands", () => {
  it.live("carry a case from its start to its end, each in a process of its own", () =>
    Effect.gen(function*() {
      const db = yield* Cli.newDb
      const started = yield* Cli.run("start", "--db", db)
      const listed = yield* Cli.run("pending", "--db", db)
      const json = yield* Cli.run("pending", "--json", "--db", db)
      const edited = yield* Cli.run(...Story.edit, "--db", db)
      const replied = yield* Cli.run(...Story.reply, "--db", db)
      const approved = yield* Cli.run(...Story.approve, "--db", db)
      const after = yield* Cli.run("pending", "--db", db)

      const all = [started, listed, json, edited, replied, approved, after]
      assert.deepStrictEqual(all.map(({ exitCode }) => exitCode), [0, 0, 0, 0, 0, 0, 0])
      assert.include(listed.stdout, "Waiting for 2 answers:")
      assert.match(listed.stdout, /desk > refunds > cashier wants to call pay, for \d+ seconds?\n/)
      assert.include(listed.stdout, "pay {\"euros\":120,\"to\":\"Ada Byron\"}")
      assert.match(listed.stdout, /desk > letters asks in ask_care, for \d+ seconds?\n/)
      const pending = JSON.parse(json.stdout)
      assert.deepStrictEqual(
        pending.map(({ agentPath, id, request }: any) => [id, agentPath, request._tag, request.tool]),
        [
          [Story.payment, ["desk", "refunds", "cashier"], "Approval", "pay"],
          [Story.question, ["desk", "letters"], "Question", "ask_care"]
        ]
      )
      for (const { ageMillis } of pending) assert.isAbove(ageMillis, 0)
      assert.deepStrictEqual([started.stderr, listed.stderr, json.stderr, replied.stderr], ["", "", "", ""])
      assert.strictEqual(approved.stdout, Story.end(Story.effects.payment, Story.effects.mail))
      assert.strictEqual(after.stdout, approved.stdout)
      assert.deepStrictEqual(Cli.ledger(db), [Story.paid, Story.sent])
    }), timeout)

  it.live("move only what was answered, and tell the agents why a call was refused", () =>
    Effect.gen(function*() {
      const db = yield* Story.opened
      yield* Cli.here(...Story.reply, "--db", db)
      const after = yield* Story.pendingIds(db)
      const refused = yield* Cli.run("answer", Story.mail, "reject", "not", "before", "Monday", "--db", db)
      const left = yield* Story.pendingIds(db)
      const ended = yield* Cli.run("answer", Story.payment, "reject", "no receipt", "--db", db)

      assert.deepStrictEqual(after, [Story.payment, Story.mail])
      assert.strictEqual(refused.exitCode, 0)
      assert.deepStrictEqual(left, [Story.payment])
      assert.strictEqual(
        ended.stdout,
        "Done: Nothing was paid back: no receipt. No mail was sent: not before Monday.\nThe ledger is empty.\n"
      )
      assert.deepStrictEqual(Cli.ledger(db), [])
    }), timeout)

  it.live("refuse an answer that does not fit, and change nothing", () =>
    Effect.gen(function*() {
      const db = yield* Story.opened
      const before = yield* Story.pending(db)
      const unknown = yield* Cli.run("answer", "0.7:approval0", "approve", "--db", db)
      const tone = yield* Cli.here(
        "answer",
        Story.question,
        "reply",
        "{\"tone\":\"loud\",\"voucherEuros\":1}",
        "--db",
        db
      )
      const kind = yield* Cli.here("answer", Story.question, "approve", "--db", db)
      const much = yield* Cli.here("answer", Story.payment, "edit", "{\"to\":\"Eve\",\"euros\":9000}", "--db", db)
      const noJson = yield* Cli.here("answer", Story.payment, "edit", "{euros: 1}", "--db", db)
      const again = yield* Cli.here("start", "--db", db)

      const refused = [unknown, tone, kind, much, noJson, again]
      assert.deepStrictEqual(refused.map(({ exitCode }) => exitCode), [1, 1, 1, 1, 2, 1])
      assert.deepStrictEqual(refused.map(({ stdout }) => stdout), ["", "", "", "", "", ""])
      assert.strictEqual(
        unknown.stderr,
        "approval-desk: Nothing waits under \"0.7:approval0\". These wait:\n"
          + `approval-desk:   ${Story.payment}\n`.replace("approval-desk: ", "") + `  ${Story.question}\n`
      )
      assert.match(tone.stderr, /tone: Expected .*Nothing was changed\.\n$/)
      assert.include(kind.stderr, "Expected Answer.reply for a question, not Answer.approve")
      assert.match(much.stderr, /euros: .*Nothing was changed\.\n$/)
      assert.include(noJson.stderr, "edit needs JSON")
      assert.include(again.stderr, "A case is open")
      assert.deepStrictEqual(yield* Story.pending(db), before)
      assert.deepStrictEqual(Cli.ledger(db), [])
    }), timeout)

  it.live("cancel the case and all its agents, and open the next one", () =>
    Effect.gen(function*() {
      const db = yield* Story.opened
      yield* Cli.here(...Story.edit, "--db", db)
      const cancelled = yield* Cli.run("cancel", "--db", db)
      const late = yield* Cli.here(...Story.reply, "--db", db)
      const twice = yield* Cli.here("cancel", "--db", db)
      const next = yield* Cli.run("start", "--db", db)

      assert.strictEqual(cancelled.exitCode, 0)
      assert.strictEqual(cancelled.stdout, `Cancelled.\nIn the ledger:\n  ${Story.effects.payment}\n`)
      assert.deepStrictEqual([late.exitCode, twice.exitCode, next.exitCode], [1, 1, 0])
      assert.include(late.stderr, "Nothing waits under")
      assert.deepStrictEqual(yield* Story.pendingIds(db), [Story.payment, Story.question])
      assert.deepStrictEqual(Cli.ledger(db), [Story.paid])
    }), timeout)

  it.live("say when there is no case, and when a file cannot be used", () =>
    Effect.gen(function*() {
      const db = yield* Cli.newDb
      const acts = [["pending"], ["cancel"], ["answer", Story.payment, "approve"]]
      const none = yield* Effect.forEach(acts, (act) => Cli.here(...act, "--db", db))
      writeFileSync(`${db}.text`, "no database".repeat(100))
      const text = yield* Cli.run("start", "--db", `${db}.text`)
      const folder = yield* Cli.here("start", "--db", `${db}/no/desk.db`)
      writeFileSync(`${db}.new.ledger`, `${JSON.stringify(Story.paid)}\n`)
      const old = yield* Cli.here("start", "--db", `${db}.new`)

      for (const { exitCode, stderr, stdout } of none) {
        assert.deepStrictEqual([exitCode, stdout], [1, ""])
        assert.strictEqual(stderr, "approval-desk: There is no case. Open one with start.\n")
      }
      assert.deepStrictEqual([text.exitCode, folder.exitCode, old.exitCode], [2, 2, 2])
      assert.match(text.stderr, /^approval-desk: The file .* is not a SQLite database, or is damaged\n$/)
      assert.match(
        folder.stderr,
        /^approval-desk: The file .* cannot be opened: unable to open database file \(SQLITE_CANTOPEN\)\n$/
      )
      assert.include(old.stderr, "Remove the ledger")
    }), timeout)

  it.live("explain themselves", () =>
    Effect.gen(function*() {
      const help = yield* Cli.run("pending", "--help", "--what")
      const wrong: ReadonlyArray<readonly [string, string]> = [
        ["begin", "There is no command \"begin\""],
        ["start now", "start takes nothing, got \"now\""],
        ["answer", "answer needs an ID"],
        ["answer x", "answer needs an ID"],
        ["answer x maybe", "An answer is approve, reject, edit or reply, not \"maybe\""],
        ["answer x approve it", "approve takes nothing"],
        ["answer x reject", "reject needs a reason"],
        ["answer x reply {", "reply needs JSON"],
        ["start --json", "--json is for pending"],
        ["start --db", "--db needs a file"],
        ["start --db :memory:", "--db needs a file"],
        ["start --delay 1e9", "--delay must be a whole number from 0 to 60000"],
        ["start --verbose", "Unknown option --verbose"]
      ]
      const refused = yield* Effect.forEach(wrong, ([line]) => Cli.here(...line.split(" ")))

      assert.deepStrictEqual(help, { exitCode: 0, stdout: `${Options.usage}\n`, stderr: "" })
      refused.forEach(({ exitCode, stderr, stdout }, index) => {
        assert.deepStrictEqual([exitCode, stdout], [2, ""])
        assert.isTrue(stderr.startsWith(`approval-desk: ${wrong[index]![1]}`), stderr)
      })
    }), timeout)

  it.live("are shown one after the other where there is no terminal", () =>
    Effect.gen(function*() {
      const { exitCode, stderr, stdout } = yield* Cli.run()

      assert.deepStrictEqual([exitCode, stderr], [0, ""])
      for (const text of ["Nothing was changed.\n[exit code 1]", "[killed]", ": was in the ledger before"]) {
        assert.include(stdout, text)
      }
      assert.isTrue(stdout.endsWith(Story.end(Story.effects.payment, Story.effects.mail)), stdout)
    }), timeout)
})
