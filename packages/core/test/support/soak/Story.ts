/** A case's log in words, a line an entry, for whoever looks for what went wrong. */
import { Posture } from "@mandate/core"
import type { Entry } from "./Log.ts"

export const tell = (entries: ReadonlyArray<Entry>): string =>
  entries.map((entry, at) => `${String(at).padStart(4)} ${line(entry)}`).join("\n")

const line = (entry: Entry): string => {
  switch (entry._tag) {
    case "Asked":
      return `model   ${entry.call.runId} step ${entry.call.step} attempt ${entry.call.attempt}${
        entry.failed ? ", will fail" : ""
      }`
    case "Entered":
      return `tool    ${entry.key} ${entry.tool} ${JSON.stringify(entry.args)}`
    case "Effected":
      return `effect  ${entry.key} ${entry.name}`
    case "Wrote":
      return [
        `store   ${entry.operation} ${entry.runId}`,
        ...entry.records.map(({ key, runId }) => (runId === entry.runId ? key : `${runId} ${key}`)),
        ...entry.settled.map(({ outcome, runId }) => `${runId} is ${outcome.slice(0, 60)}`),
        ...entry.events.map(({ _tag, sequence }) => `${sequence}:${_tag}`)
      ].join("  ")
    case "Registered":
      return `-- there are ${
        entry.postures.map((posture) => `${posture.name} ${Posture.version(posture)}`).join(", ")
      } and ${entry.tools.join(", ")}`
    case "Died":
      return `-- the process of act ${entry.act} has died`
    case "Saw":
      return `-- ${entry.status}${entry.pending.map(({ id }) => ` ${id}`).join()}`
    case "Answered":
      return `-- answers ${entry.answers.map(({ _tag, id }) => `${_tag} ${id}`).join(", ")}`
    case "Cancelling":
    case "Cancelled":
      return `-- ${entry._tag} ${entry.runId}`
    case "Returned":
      return `-- ${entry.verb} gave ${entry.result}`
  }
}
