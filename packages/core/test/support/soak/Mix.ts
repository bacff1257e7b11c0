/** What befell the cases of a soak, as shares of all: a property over cases in which nothing happens proves nothing. */
import { eventsOf, type Facts, type RunFacts, tagged } from "./Facts.ts"
import * as PostureTraits from "./PostureTraits.ts"

export interface Mix {
  readonly cases: number

  /** How many of the cases have postures. */
  readonly postured: number
  readonly counts: ReadonlyMap<Trait, number>
}

export type Trait = (typeof traits)[number]["name"] | PostureTraits.Trait

export const empty: Mix = { cases: 0, postured: 0, counts: new Map() }

/** Counts one more case. */
export const add = ({ cases, counts, postured }: Mix, facts: Facts): Mix => ({
  cases: cases + 1,
  postured: postured + (facts.plan.postures === undefined ? 0 : 1),
  counts: new Map(
    [...traits, ...PostureTraits.traits].map(({ holds, name }) => [
      name,
      (counts.get(name) ?? 0) + (holds(facts) ? 1 : 0)
    ])
  )
})

/** The share of the cases that a trait holds of, in percent; for traits of postures, of the cases that have some. */
export const percent = ({ cases, counts, postured }: Mix, trait: Trait): number => {
  const all = PostureTraits.traits.some(({ name }) => name === trait) ? postured : cases
  return all === 0 ? 0 : (counts.get(trait) ?? 0) / all * 100
}

/** The least shares, in percent, without which a soak proves too little. */
export const least: ReadonlyArray<readonly [Trait, number]> = [
  ["suspends at depth 2 or more", 30],
  ["suspends one child twice", 20],
  ["crashes", 30],
  ["answers partially", 20],
  ["has postures", 20],
  ...PostureTraits.least
]

/** The mix as lines of text. */
export const format = (mix: Mix): string =>
  [...traits, ...PostureTraits.traits].map(({ name }) => {
    const bound = least.find(([trait]) => trait === name)?.[1]
    return `${percent(mix, name).toFixed(1).padStart(5)} % ${name}${
      bound === undefined ? "" : ` (at least ${bound} %)`
    }`
  }).join("\n")

const runsOf = ({ runs }: Facts): ReadonlyArray<RunFacts> => [...runs.values()]
const ended = (facts: Facts, outcome: string): boolean =>
  runsOf(facts).some(({ settled }) => settled.some((one) => JSON.parse(one.outcome)._tag === outcome))
const gave = (facts: Facts, reason: string): boolean =>
  runsOf(facts).some(({ records }) =>
    [...records].some(([key, { json }]) => key.startsWith("t/") && json.includes(`"reason":"${reason}"`))
  )

const traits = [
  {
    name: "suspends at depth 2 or more",
    holds: (facts: Facts) => tagged(facts, "Saw").some(({ pending }) => pending.some(({ run }) => run.depth >= 2))
  },
  {
    name: "suspends one child twice",
    holds: (facts: Facts) =>
      runsOf(facts).some((run) => run.row.parentRunId !== null && eventsOf(run, "RunSuspended").length > 1)
  },
  { name: "crashes", holds: (facts: Facts) => tagged(facts, "Died").length > 0 },
  { name: "crashes more than once", holds: (facts: Facts) => tagged(facts, "Died").length > 1 },
  {
    name: "crashes in a resume",
    holds: (facts: Facts) => crashesIn(facts, "resume")
  },
  {
    name: "crashes in a recovery",
    holds: (facts: Facts) => crashesIn(facts, "recover")
  },
  { name: "answers partially", holds: (facts: Facts) => tagged(facts, "Answered").some(({ isPartial }) => isPartial) },
  { name: "cancels", holds: (facts: Facts) => tagged(facts, "Cancelled").length > 0 },
  {
    name: "fails and is recovered",
    holds: (facts: Facts) => runsOf(facts).some((run) => eventsOf(run, "RunFailed").length > 0)
  },
  { name: "has a child completed", holds: (facts: Facts) => runsOf(facts).some(isCompletedChild) },
  { name: "has postures", holds: ({ plan }: Facts) => plan.postures !== undefined },
  { name: "has 5 runs or more", holds: ({ runs }: Facts) => runs.size >= 5 },
  { name: "refuses a task over its bound", holds: (facts: Facts) => gave(facts, "TooManyTasks") },
  { name: "refuses a task too deep", holds: (facts: Facts) => gave(facts, "DepthExceeded") },
  { name: "refuses a report too large", holds: (facts: Facts) => gave(facts, "ReportTooLarge") },
  { name: "reaches a step limit", holds: (facts: Facts) => ended(facts, "StepLimitReached") },
  { name: "exceeds a budget", holds: (facts: Facts) => ended(facts, "BudgetExceeded") },
  {
    name: "runs out of time",
    holds: (facts: Facts) =>
      runsOf(facts).some(({ settled }) => settled.some(({ outcome }) => JSON.parse(outcome).limit === "time"))
  },
  { name: "exceeds the budget of the tree", holds: exceedsTree },
  { name: "is blocked", holds: (facts: Facts) => ended(facts, "Blocked") },
  { name: "gives no valid report", holds: (facts: Facts) => ended(facts, "InvalidReport") },
  {
    name: "stops at a breakpoint",
    holds: (facts: Facts) =>
      tagged(facts, "Saw").some(({ pending }) => pending.some(({ request }) => request._tag === "Breakpoint"))
  },
  {
    name: "is uncertain of a call",
    holds: (facts: Facts) =>
      tagged(facts, "Saw").some(({ pending }) => pending.some(({ request }) => request._tag === "Uncertain"))
  }
] as const

// What is over a budget of its own would be so without the tree's.
function exceedsTree(facts: Facts): boolean {
  return gave(facts, "TreeBudgetExceeded") ||
    runsOf(facts).some(({ budget, settled }) =>
      Object.keys(budget).length === 0 &&
      settled.some(({ outcome }) => JSON.parse(outcome)._tag === "BudgetExceeded")
    )
}

const isCompletedChild = ({ row, settled }: RunFacts): boolean =>
  row.parentRunId !== null && settled.some(({ outcome }) => JSON.parse(outcome)._tag === "Completed")

const crashesIn = (facts: Facts, verb: string): boolean =>
  tagged(facts, "Died").some(({ at }) => {
    const before = facts.entries[at - 1]
    return before?._tag === "Returned" && before.verb === verb
  })
