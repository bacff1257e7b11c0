/** Usage: a run's own is what its model and its tools used, its tree's is its own and its children's trees. */
import { Usage } from "@mandate/core"
import { Schema } from "effect"
import { eventsOf, type Facts, type RunFacts } from "./Facts.ts"

export const check = (facts: Facts): ReadonlyArray<string> =>
  [...facts.runs.values()].flatMap((run) => {
    const [settled] = run.settled
    if (settled === undefined) return []
    const stored = decode(settled.usage)
    const tree = run.children.reduce((sum, child) => Usage.add(sum, treeOf(child)), stored.own)
    return [
      ...differs(`own usage of ${run.runId}`, stored.own, own(run, facts)),
      ...differs(`tree usage of ${run.runId}`, stored.tree, tree),
      ...eventsOf(run, "RunSettled").flatMap(({ event }) =>
        differs(`event usage of ${run.runId}`, event.usage.own, stored.own)
      ),
      ...eventsOf(run, "TaskSettled").flatMap(({ event }) => {
        const child = facts.runs.get(event.childRunId)
        return child === undefined ? [] : differs(`usage of the task ${child.runId}`, event.usage, treeOf(child))
      })
    ]
  })

const treeOf = ({ settled: [settled] }: RunFacts): Usage.Usage =>
  settled === undefined ? Usage.zero : decode(settled.usage).tree

const decode = Schema.decodeUnknownSync(Schema.fromJsonString(Usage.RunUsage))

// A response counts when it was recorded, with the failed attempts before it in its drive. So do those of a drive that
// failed, or that asked no more since the tree had no tokens left.
const own = (run: RunFacts, facts: Facts): Usage.Usage => {
  const responses = eventsOf(run, "ModelCallCompleted")
  const failures = eventsOf(run, "RunFailed").filter(({ event }) => event.reason === "ModelFailed")
  const attempts = [...responses, ...failures, ...withheld(run, facts)].flatMap(({ at }) => attemptsBefore(run, at))
  return {
    ...Usage.zero,
    inputTokens: sum(attempts.map(({ tokens }) => tokens.input)),
    outputTokens: sum(attempts.map(({ tokens }) => tokens.output)),
    modelCalls: responses.length,
    toolCalls: [...run.records.keys()].filter((key) => key.startsWith("t/")).length,
    childRuns: run.children.length
  }
}

// The end of a run whose last attempt failed, in the drive that ended it.
const withheld = (run: RunFacts, { entries }: Facts) => {
  const last = run.asked.at(-1)
  return run.settled.filter(({ at, outcome }) =>
    last?.failed === true && outcome.includes("treeTokens") &&
    !entries.slice(last.at, at).some((entry) =>
      entry._tag === "Died" || entry._tag === "Wrote" && entry.operation === "fail" && entry.runId === run.runId
    )
  )
}

const attemptsBefore = (run: RunFacts, at: number) => {
  const asked = run.asked.filter((asked) => asked.at < at)
  return asked.slice(asked.findLastIndex(({ call }) => call.attempt === 0))
}

const sum = (values: ReadonlyArray<number>): number => values.reduce((sum, value) => sum + value, 0)

const differs = (what: string, is: Usage.Usage, should: Usage.Usage): ReadonlyArray<string> =>
  JSON.stringify(is) === JSON.stringify(should)
    ? []
    : [`the ${what} is ${JSON.stringify(is)}, not ${JSON.stringify(should)}`]
