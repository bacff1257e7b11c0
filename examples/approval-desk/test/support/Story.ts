/** The case that the tests go through. */
import { Effect } from "effect"
import * as Cli from "./Cli.ts"

export const payment = "0.0:child~0.0:child~0.0:approval0"
export const question = "0.1:child~0.0:question0"
export const mail = "0.1:child~1.0:approval0"

export const edit = ["answer", payment, "edit", "{\"to\":\"Ada Byron\",\"euros\":90}"]
export const reply = ["answer", question, "reply", "{\"tone\":\"warm\",\"voucherEuros\":15}"]
export const approve = ["answer", mail, "approve"]

const keys = { payment: "case#0/0.0#0/0.0#0/0.0", mail: "case#0/0.1#0/1.0" }

/** The effects of the whole story. */
export const paid = { key: keys.payment, entry: { effect: "payment", to: "Ada Byron", euros: 90 } }
export const sent = {
  key: keys.mail,
  entry: { effect: "mail", to: "ada@example.org", subject: "We are so sorry, Ada" }
}

/** What is printed at its end, whatever happened on the way. */
export const end = (...effects: ReadonlyArray<string>): string =>
  [
    "Done: 90 euros were paid back to Ada Byron. \"We are so sorry, Ada\" was sent to ada@example.org.",
    "In the ledger:",
    ...effects.map((effect) => `  ${effect}`),
    ""
  ].join("\n")

export const effects = {
  payment: "Payment of 90 euros to Ada Byron",
  mail: "Mail to ada@example.org, \"We are so sorry, Ada\""
}

/** A store with an open case. */
export const opened = Effect.tap(Cli.newDb, (db) => Cli.here("start", "--db", db))

/** What waits, without its age. */
export const pending = Effect.fnUntraced(function*(db: string) {
  const { stdout } = yield* Cli.here("pending", "--json", "--db", db)
  return (JSON.parse(stdout) as ReadonlyArray<{ readonly id: string; readonly ageMillis: number }>)
    .map(({ ageMillis: _, ...one }) => one)
})

export const pendingIds = (db: string) => Effect.map(pending(db), (all) => all.map(({ id }) => id))
