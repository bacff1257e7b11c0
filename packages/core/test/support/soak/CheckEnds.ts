/** Ends: nothing is left open, and a cancel ends all of its tree for good. */
import { type Facts, isWithin, type RunFacts, tagged } from "./Facts.ts"
import type { Played } from "./Play.ts"

export const check = (facts: Facts, { left, problems }: Played): ReadonlyArray<string> => [
  ...problems,
  ...left.flatMap(({ records, row }) => [
    ...(row.state === "Settled" ? [] : [`${row.runId} is left ${row.state}`]),
    ...(records.length === 0 ? [] : [`${row.runId} keeps records`])
  ]),
  ...[...facts.runs.values()].flatMap((run) => run.settled.length === 0 ? [`${run.runId} never settled`] : []),
  ...cancels(facts),
  ...work(facts)
]

const cancels = (facts: Facts): ReadonlyArray<string> =>
  tagged(facts, "Cancelled").flatMap(({ at, runId }) => {
    const cancelling = tagged(facts, "Cancelling").findLast((entry) => entry.runId === runId && entry.at < at)?.at ?? at
    const tree = [...facts.runs.values()].filter((run) => isWithin(run.runId, runId))
    return [
      ...tree.flatMap(({ runId, settled }) => {
        const [end] = settled
        if (end === undefined || end.at > at) return [`${runId} was not settled by its cancel`]
        const outcome = JSON.parse(end.outcome)._tag
        const isByCancel = facts.entries[end.at]?._tag === "Wrote" && end.at > cancelling &&
          (facts.entries[end.at] as { readonly operation: string }).operation === "close"
        return isByCancel && outcome !== "Cancelled" ? [`${runId} was cancelled and ended ${outcome}`] : []
      }),
      ...facts.entries.slice(at).flatMap((entry) =>
        entry._tag === "Wrote" && entry.events.length > 0 && isWithin(entry.runId, runId)
          ? [`${entry.operation} of ${entry.runId} after its cancel`]
          : []
      )
    ]
  })

// Models and tools work for a run only while it is open, unless another process has closed it.
const work = (facts: Facts): ReadonlyArray<string> =>
  facts.plan.cancel?.from === "another process" ? [] : [...facts.runs.values()].flatMap((run) => {
    const end = run.settled[0]?.at ?? Number.POSITIVE_INFINITY
    if (isBeforeDrive(facts, run, end)) return []
    return [...run.asked, ...run.entered, ...run.effected].flatMap(({ _tag, at }) =>
      at > end ? [`${_tag} of ${run.runId} after its end`] : []
    )
  })

// A run that is closed between the write that starts a drive of it and the drive is fenced at its next write.
const isBeforeDrive = ({ entries }: Facts, { runId }: RunFacts, end: number): boolean => {
  const last = entries.slice(0, end).findLast((entry) =>
    entry._tag === "Asked"
      ? entry.call.runId === runId
      : entry._tag === "Entered" || entry._tag === "Effected"
      ? entry.key.startsWith(`${runId}/`)
      : entry._tag === "Wrote" && entry.runId === runId
  )
  return last?._tag === "Wrote" && ["open", "create", "answer", "reopen"].includes(last.operation)
}
