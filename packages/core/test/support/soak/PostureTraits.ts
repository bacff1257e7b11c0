/** What befell the cases with postures, as shares of those alone. */
import { eventsOf, type Facts, type RunFacts, tagged } from "./Facts.ts"

export type Trait = (typeof traits)[number]["name"]

const runsOf = ({ runs }: Facts): ReadonlyArray<RunFacts> =>
  [...runs.values()].filter(({ posture }) => posture !== undefined)
const ended = (facts: Facts, status: string): boolean =>
  facts.events.some(({ event }) => event._tag === "DelegateComplete" && event.status === status)
const gave = ({ runs }: Facts, reason: string): boolean =>
  [...runs.values()].some(({ records }) =>
    [...records].some(([key, { json }]) => key.startsWith("t/") && json.includes(`"reason":"${reason}"`))
  )

export const traits = [
  { name: "runs a posture", holds: (facts: Facts) => runsOf(facts).length > 0 },
  { name: "runs a posture of a posture", holds: (facts: Facts) => runsOf(facts).some(isBelowAnother(facts)) },
  {
    name: "has a posture suspended",
    holds: (facts: Facts) => runsOf(facts).some((run) => eventsOf(run, "RunSuspended").length > 0)
  },
  {
    name: "dies with a posture open",
    holds: (facts: Facts) => tagged(facts, "Died").some(({ at }) => isOpenAt(facts, at))
  },
  {
    name: "cancels with a posture open",
    holds: (facts: Facts) => tagged(facts, "Cancelling").some(({ at }) => isOpenAt(facts, at))
  },
  {
    name: "goes on by a posture that was edited",
    holds: (facts: Facts) => runsOf(facts).some((run) => run.asked.some(({ at }) => isOlder(facts, run, at)))
  },
  { name: "has a hit", holds: (facts: Facts) => ended(facts, "cache_hit") },
  { name: "has a hit in the same step", holds: hitsInStep },
  { name: "gives success", holds: (facts: Facts) => ended(facts, "success") },
  { name: "gives a part", holds: (facts: Facts) => ended(facts, "partial") },
  { name: "gives a timeout", holds: (facts: Facts) => ended(facts, "timeout") },
  { name: "gives an error", holds: (facts: Facts) => ended(facts, "error") },
  { name: "refuses a posture too deep", holds: (facts: Facts) => gave(facts, "RecursionLimit") },
  { name: "refuses a posture unknown", holds: (facts: Facts) => gave(facts, "UnknownPosture") },
  { name: "refuses an input", holds: (facts: Facts) => gave(facts, "InvalidInput") },
  { name: "calls a tool that is gone", holds: (facts: Facts) => gave(facts, "ToolRemoved") }
] as const

/** The least shares, in percent, without which a soak proves too little of postures. */
export const least: ReadonlyArray<readonly [Trait, number]> = []

const isBelowAnother = ({ runs }: Facts) => ({ row }: RunFacts): boolean =>
  runs.get(row.parentRunId ?? "")?.posture !== undefined

const isOpenAt = (facts: Facts, at: number): boolean =>
  runsOf(facts).some((run) => run.at < at && (run.settled[0]?.at ?? at) >= at)

const isOlder = ({ entries }: Facts, { at: start }: RunFacts, at: number): boolean =>
  entries.slice(start, at).some(({ _tag }) => _tag === "Registered")

function hitsInStep({ events, runs }: Facts): boolean {
  return events.some(({ event }) => {
    if (event._tag !== "DelegateComplete" || event.status !== "cache_hit") return false
    const [step] = event.call?.key.split(".") ?? []
    return [...runs.values()].some(({ posture, row }) =>
      posture?.version === event.postureVersion && row.parentRunId === event.callerRunId &&
      row.callKey?.split(".")[0] === step
    )
  })
}
