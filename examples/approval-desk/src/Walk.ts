/**
 * The walk-through: a case from its start to its end, each act a process of its
 * own. At a terminal it asks for the answers; elsewhere it plays fixed ones, and
 * kills one of the processes.
 */
import { Effect, Schema } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { Output } from "../../support/src/Output.ts"
import * as Acts from "./Acts.ts"
import * as Terminal from "./Terminal.ts"

/** Walks through a case, in a file that is removed afterwards unless it is given. Gives the exit code. */
export const walk = (db: string | undefined): Effect.Effect<number, never, Output> => {
  const play = process.stdin.isTTY && process.stdout.isTTY ? asking : fixed
  if (db !== undefined) return play(db, "The case is left as it is, in the file of --db.")
  return Effect.scoped(Effect.gen(function*() {
    const folder = yield* Effect.acquireRelease(
      Effect.sync(() => mkdtempSync(join(tmpdir(), "approval-desk-"))),
      (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
    )
    return yield* play(join(folder, "desk.db"), "The case is gone with its file; with --db FILE it stays.")
  }))
}

const payment = "0.0:child~0.0:child~0.0:approval0"
const question = "0.1:child~0.0:question0"
const mail = "0.1:child~1.0:approval0"

const fixed = Effect.fnUntraced(function*(db: string) {
  const say = Effect.fnUntraced(function*(text: string) {
    const output = yield* Output
    yield* output.print(`\n# ${text}`)
  })
  const edited = JSON.stringify({ to: "Ada Byron", euros: 90 })
  yield* say("A desk delegates to two agents, and one of them to a third. Two of the three wait for a person.")
  const exitCode = yield* Acts.show(db, ["start"])
  if (exitCode !== 0) return exitCode
  yield* say("Nothing runs now. Another process sees the same.")
  yield* Acts.show(db, ["pending"])
  yield* say("An answer that does not fit the question is refused.")
  yield* Acts.show(db, ["answer", question, "reply", "{\"tone\":\"loud\",\"voucherEuros\":15}"])
  yield* say("The payment is approved with another amount. The process is killed when the money has left.")
  yield* Acts.show(db, ["answer", payment, "edit", edited, "--delay", "1000"], { killAt: ": in the ledger" })
  yield* say("The next one goes on. The payment is asked for again, under the same key, and not made twice.")
  yield* Acts.show(db, ["pending"])
  yield* say("The question is answered, and the agent that asked goes on to its next call.")
  yield* Acts.show(db, ["answer", question, "reply", "{\"tone\":\"warm\",\"voucherEuros\":15}"])
  yield* say("The last answer.")
  return yield* Acts.show(db, ["answer", mail, "approve"])
})

const Pending = Schema.fromJsonString(Schema.Array(Schema.Struct({
  id: Schema.String,
  request: Schema.Struct({ _tag: Schema.String })
})))

const asking = Effect.fnUntraced(function*(db: string, farewell: string) {
  const output = yield* Output
  // Refused where a former walk was left in the middle.
  if ((yield* Acts.show(db, ["start"])) !== 0) yield* Acts.show(db, ["pending"])
  while (true) {
    const listed = yield* Acts.quiet(db, ["pending", "--json"])
    const pending = listed.exitCode === 0 ? yield* Effect.orDie(Schema.decodeEffect(Pending)(listed.stdout)) : []
    const [first] = pending
    if (first === undefined) return listed.exitCode
    const words = yield* Terminal.askAnswer(first.id, first.request._tag === "Question")
    if (words === undefined) {
      yield* output.print(`\n${farewell}`)
      return 0
    }
    yield* Acts.show(db, ["answer", first.id, ...words])
  }
})
