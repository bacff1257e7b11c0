/** Interrupts: unique, stable until they are answered, and answered once. */
import { Ids, type Interrupt } from "@mandate/core"
import { eventsOf, type Facts, tagged } from "./Facts.ts"

export const check = (facts: Facts): ReadonlyArray<string> => {
  const problems: Array<string> = []
  const seen = tagged(facts, "Saw").filter(({ status }) => status === "Suspended")
  seen.forEach(({ at, pending }, index) => {
    const ids = pending.map(({ id }) => id)
    if (new Set(ids).size < ids.length) problems.push(`a list has an id twice: ${ids.join(", ")}`)
    for (const interrupt of pending) {
      if (isAnswered(facts, interrupt, at)) problems.push(`${interrupt.id} is pending and answered`)
      if (isOver(facts, interrupt, at)) problems.push(`${interrupt.id} is pending and its run is settled`)
    }
    for (const interrupt of seen[index - 1]?.pending ?? []) {
      const now = pending.find(({ id }) => id === interrupt.id)
      if (now === undefined && !isAnswered(facts, interrupt, at) && !isOver(facts, interrupt, at)) {
        problems.push(`${interrupt.id} is not pending any more and has no answer`)
      }
      if (now !== undefined && JSON.stringify(now) !== JSON.stringify(interrupt)) {
        problems.push(`${interrupt.id} has changed while it was pending`)
      }
    }
    const announced = announcedBefore(facts, at)
    const isCancelled = tagged(facts, "Cancelling").some((cancelling) => cancelling.at < at)
    if (!isCancelled && JSON.stringify(announced) !== JSON.stringify(ids)) {
      problems.push(`${JSON.stringify(announced)} was announced and ${JSON.stringify(ids)} is pending`)
    }
  })
  return problems
}

const announcedBefore = (facts: Facts, at: number) => {
  const [root] = facts.runs.values()
  return root === undefined
    ? undefined
    : eventsOf(root, "RunSuspended").findLast((suspended) => suspended.at < at)?.event.pending
}

const isAnswered = ({ runs }: Facts, { id, run }: Interrupt.PendingInterrupt, at: number): boolean =>
  (runs.get(run.runId)?.records.get(`a/${Ids.split(id).interrupt}`)?.at ?? at) < at

const isOver = ({ runs }: Facts, { run }: Interrupt.PendingInterrupt, at: number): boolean =>
  (runs.get(run.runId)?.settled[0]?.at ?? at) < at
