/**
 * The command, from its arguments to its exit code.
 */
import type { RunError } from "@mandate/core"
import { Effect } from "effect"
import { Output } from "../../support/src/Output.ts"
import { escape } from "../../support/src/Text.ts"
import * as Agents from "./Agents.ts"
import * as Case from "./Case.ts"
import * as Ledger from "./Ledger.ts"
import * as Options from "./Options.ts"
import * as Runtime from "./Runtime.ts"
import * as Show from "./Show.ts"
import * as Walk from "./Walk.ts"

const done = 0
const nothingDone = 1
const unusable = 2

/** Runs the command and gives its exit code. Interrupting it leaves the case open. */
export const run = (args: ReadonlyArray<string>): Effect.Effect<number, never, Output> =>
  Effect.gen(function*() {
    const { act, db, delayMillis } = yield* Options.parse(args)
    if (act._tag === "Help") return yield* says(Options.usage)
    if (act._tag === "Walk") return yield* Walk.walk(db)
    return yield* perform(act).pipe(
      Effect.provide(Runtime.layer({ db: db ?? Options.defaultDb, delayMillis })),
      Effect.onInterrupt(() => complain(nothingDone, "Stopped. The next command goes on with the case."))
    )
  }).pipe(
    Effect.catchTag("RunError", refusal),
    Effect.catchTag(["UsageError", "SqliteError", "LedgerError"], ({ message }) => complain(unusable, message)),
    Effect.orDie
  )

const perform = Effect.fnUntraced(function*(act: Exclude<Options.Act, { readonly _tag: "Walk" | "Help" }>) {
  const desk = yield* Agents.desk.build()
  switch (act._tag) {
    case "Start":
      return yield* start(desk)
    case "Pending": {
      const { standing } = yield* Case.standing(desk)
      yield* act.json ? Show.json(standing) : Show.standing(standing)
      return done
    }
    case "Answer": {
      const { standing } = yield* Case.standing(desk)
      if (standing.status._tag !== "Suspended") {
        yield* Show.standing(standing)
        return yield* complain(nothingDone, `Nothing waits under ${shown(act.answer.id)}, or under any other id.`)
      }
      return yield* Case.answer(desk, act.answer).pipe(
        Effect.flatMap(Show.standing),
        Effect.as(done),
        Effect.catchReason("RunError", "UnknownInterrupt", ({ pending }) =>
          complain(
            nothingDone,
            [`Nothing waits under ${shown(act.answer.id)}. These wait:`, ...pending.map((id) => `  ${id}`)].join("\n")
          ))
      )
    }
    case "Cancel":
      if (!(yield* Case.cancel(desk))) return yield* complain(nothingDone, "No case is open.")
      yield* Show.standing((yield* Case.standing(desk)).standing)
      return done
  }
})

const start = Effect.fnUntraced(function*(desk: Parameters<typeof Case.start>[0]) {
  const ledger = yield* Ledger.Ledger
  const found = yield* Case.standing(desk).pipe(
    Effect.catchReason("RunError", "UnknownThread", () => Effect.succeed(undefined))
  )
  // The keys of a new store are those of the old one, and the ledger would take its effects for done.
  if (found === undefined && (yield* ledger.entries).length > 0) {
    return yield* complain(
      unusable,
      "The store is new, and its ledger is not. Remove the ledger, or give another --db."
    )
  }
  const standing = found?.isRecovered === true ? found.standing : yield* Case.start(desk)
  yield* Show.standing(standing)
  return done
})

/** Why a verb of the desk failed. */
const refusal = ({ message, reason }: RunError.RunError): Effect.Effect<number, never, Output> => {
  switch (reason._tag) {
    case "ThreadBusy":
      return complain(nothingDone, "Busy: another command is at work on the case. Give this one again later.")
    case "UnknownThread":
      return complain(nothingDone, "There is no case. Open one with start.")
    case "PendingInterrupts":
      return complain(nothingDone, "A case is open. See pending, or cancel it.")
    case "InvalidAnswer":
      return complain(nothingDone, `${message}. Nothing was changed.`)
    case "AgentChanged":
      return complain(nothingDone, `${message}: see cancel, or give another --db.`)
    case "CorruptRun":
      return complain(nothingDone, `${message}. Give another --db.`)
    default:
      return complain(nothingDone, `${message}. The case stays open, and the next command goes on with it.`)
  }
}

const says = Effect.fnUntraced(function*(text: string) {
  const output = yield* Output
  yield* output.print(text)
  return done
})

const complain = Effect.fnUntraced(function*(exitCode: number, problem: string) {
  const output = yield* Output
  yield* output.log(`approval-desk: ${problem.split("\n").map(escape).join("\n")}`)
  return exitCode
})

const shown = (id: string): string => JSON.stringify(id)
