/**
 * How a case stands, in words.
 */
import type { Interrupt } from "@mandate/core"
import { Clock, Effect } from "effect"
import { Output } from "../../support/src/Output.ts"
import { count, escape } from "../../support/src/Text.ts"
import { age } from "./Age.ts"
import type * as Case from "./Case.ts"
import * as Ledger from "./Ledger.ts"

/** Prints how a case stands: what it waits on, or how it ended and what was done. */
export const standing = Effect.fnUntraced(function*({ status }: Case.Standing) {
  const output = yield* Output
  if (status._tag === "Suspended") {
    const now = yield* Clock.currentTimeMillis
    yield* output.print(`Waiting for ${count(status.pending.length, "answer")}:`)
    for (const one of status.pending) yield* output.print(asked(one, now))
    return
  }
  yield* output.print(ended(status))
  const ledger = yield* Ledger.Ledger
  const entries = yield* ledger.entries
  yield* output.print(entries.length === 0 ? "The ledger is empty." : "In the ledger:")
  for (const entry of entries) yield* output.print(`  ${Ledger.describe(entry)}`)
})

/** Prints what a case waits on as a line of JSON. */
export const json = Effect.fnUntraced(function*({ status }: Case.Standing) {
  const output = yield* Output
  const now = yield* Clock.currentTimeMillis
  const pending = status._tag === "Suspended" ? status.pending : []
  yield* output.print(JSON.stringify(pending.map(({ agentPath, askedAt, id, request }) => ({
    id,
    agentPath,
    request,
    ageMillis: Math.max(0, now - askedAt)
  }))))
})

const asked = ({ agentPath, askedAt, id, request }: Interrupt.PendingInterrupt, now: number): string => {
  const who = escape(agentPath.join(" > "))
  const tool = escape(request.tool)
  const [what, ways] = request._tag === "Question"
    ? [[escape(request.question), `as ${escape(JSON.stringify(request.answerSchema))}`], "reply JSON"]
    : [[`${tool} ${escape(JSON.stringify(request.arguments))}`], "approve | reject WHY | edit JSON"]
  return [
    "",
    `  ${id}`,
    `    ${who} ${request._tag === "Question" ? `asks in ${tool}` : `wants to call ${tool}`}, for ${
      age(now - askedAt)
    }`,
    ...what.map((line) => `    ${line}`),
    `    answer ${id} ${ways}`
  ].join("\n")
}

const ended = (status: Exclude<Case.Standing["status"], { readonly _tag: "Suspended" }>): string => {
  switch (status._tag) {
    case "Completed":
      return `Done: ${escape(status.answer)}`
    case "Cancelled":
      return "Cancelled."
    default:
      return `Ended without an answer: ${status._tag}`
  }
}
