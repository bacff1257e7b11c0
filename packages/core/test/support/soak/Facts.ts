/** What a case's log says of each run. `at` is always a place in the log. */
import { type Budget, ModelResponse, Posture, type RunEvent, type RunRow } from "@mandate/core"
import { Schema } from "effect"
import { type AgentPlan, type Case, family } from "./Case.ts"
import type { Entry } from "./Log.ts"
import * as PosturePlan from "./PosturePlan.ts"
import type { Registered } from "./Process.ts"

type At<A> = A & { readonly at: number }
type Tagged<Tag extends Entry["_tag"]> = Extract<Entry, { readonly _tag: Tag }>

export interface RunFacts {
  readonly runId: string
  readonly row: RunRow.NewRun
  readonly at: number
  readonly agent: AgentPlan
  readonly budget: Budget.Budget

  /** What it started with, if it is a posture's run. */
  readonly posture: PostureFacts | undefined
  readonly limits: {
    readonly maxConcurrentChildren: number
    readonly maxTasksPerTurn: number
    readonly maxReportBytes: number
    readonly childRetention: number
    readonly maxSteps: number
  }
  readonly children: Array<RunFacts>
  readonly asked: Array<At<Tagged<"Asked">>>
  readonly entered: Array<At<Tagged<"Entered"> & { readonly callKey: string }>>
  readonly effected: Array<At<Tagged<"Effected"> & { readonly callKey: string }>>

  /** Records by key, as they were first inserted. */
  readonly records: Map<string, At<{ readonly json: string }>>
  readonly doubles: Array<string>
  readonly settled: Array<At<RunRow.Settlement>>
  readonly events: Array<At<{ readonly event: RunEvent.DurableEvent }>>
}

export interface PostureFacts {
  readonly posture: Posture.Posture
  readonly version: string
  readonly tools: ReadonlyArray<string>
}

export interface Facts {
  readonly plan: Case
  readonly entries: ReadonlyArray<Entry>

  /** All runs that ever were, in the order they started. */
  readonly runs: ReadonlyMap<string, RunFacts>
  readonly events: ReadonlyArray<At<{ readonly event: RunEvent.DurableEvent }>>
}

export const make = (plan: Case, entries: ReadonlyArray<Entry>): Facts => {
  const agents = new Map(family(plan.root).map((agent) => [agent.id, agent]))
  const runs = new Map<string, RunFacts>()
  const events: Array<At<{ readonly event: RunEvent.DurableEvent }>> = []
  entries.forEach((entry, at) => {
    switch (entry._tag) {
      case "Asked":
        runs.get(entry.call.runId)?.asked.push({ ...entry, at })
        break
      case "Entered": {
        const { callKey, runId } = placeOf(entry.key)
        runs.get(runId)?.entered.push({ ...entry, callKey, at })
        break
      }
      case "Effected": {
        const { callKey, runId } = placeOf(entry.key)
        runs.get(runId)?.effected.push({ ...entry, callKey, at })
        break
      }
      case "Wrote": {
        if (entry.inserted !== undefined) {
          const run = started(at, entry.runId, entry.inserted, agents.get(entry.inserted.agentId) ?? plan.root)
          runs.set(entry.runId, run)
          runs.get(entry.inserted.parentRunId ?? "")?.children.push(run)
        }
        for (const { json, key, runId } of entry.records) {
          const run = runs.get(runId)
          if (run?.records.has(key)) run.doubles.push(key)
          else run?.records.set(key, { json, at })
        }
        for (const settlement of entry.settled) runs.get(settlement.runId)?.settled.push({ ...settlement, at })
        for (const event of entry.events) {
          events.push({ event, at })
          runs.get(event.runId)?.events.push({ event, at })
        }
        break
      }
    }
  })
  return { plan, entries, runs, events }
}

const placeOf = (key: string) => {
  const slash = key.lastIndexOf("/")
  return { runId: key.slice(0, slash), callKey: key.slice(slash + 1) }
}

const started = (at: number, runId: string, row: RunRow.NewRun, agent: AgentPlan): RunFacts => ({
  runId,
  row,
  at,
  ...madeOf(row, agent),
  limits: JSON.parse(row.limits),
  children: [],
  asked: [],
  entered: [],
  effected: [],
  records: new Map(),
  doubles: [],
  settled: [],
  events: []
})

const madeOf = (row: RunRow.NewRun, agent: AgentPlan): Pick<RunFacts, "agent" | "budget" | "posture"> => {
  const { delegate, tools } = row.binding === "" ? nothing : decodeBinding(row.binding)
  if (delegate === undefined) return { agent, budget: agent.budget, posture: undefined }
  const { timeoutMillis, ...budget } = JSON.parse(row.budget)
  return {
    agent: PosturePlan.agentOf(delegate.posture),
    budget: timeoutMillis === undefined ? budget : { ...budget, timeout: timeoutMillis },
    posture: { ...delegate, tools }
  }
}

const nothing = { tools: [], delegate: undefined }

const decodeBinding = Schema.decodeUnknownSync(Schema.fromJsonString(Schema.Struct({
  tools: Schema.Array(Schema.String),
  delegate: Schema.optionalKey(Schema.Struct({ posture: Posture.Posture, version: Schema.String }))
})))

/** The postures and tools that there were at a place in the log. */
export const registeredAt = ({ entries }: Facts, at: number): Registered =>
  entries.slice(0, at).findLast((entry) => entry._tag === "Registered") ?? { postures: [], tools: [] }

/** Entries of a log with a tag. */
export const tagged = <Tag extends Entry["_tag"]>(facts: Facts, tag: Tag): ReadonlyArray<At<Tagged<Tag>>> =>
  facts.entries.flatMap((entry, at) => entry._tag === tag ? [{ ...entry as Tagged<Tag>, at }] : [])

/** Events of a run with a tag. */
export const eventsOf = <Tag extends RunEvent.DurableEvent["_tag"]>(
  run: RunFacts,
  tag: Tag
): ReadonlyArray<At<{ readonly event: Extract<RunEvent.DurableEvent, { readonly _tag: Tag }> }>> =>
  run.events.flatMap(({ at, event }) =>
    event._tag === tag ? [{ at, event: event as Extract<RunEvent.DurableEvent, { readonly _tag: Tag }> }] : []
  )

/** Whether a tool name is one of an agent's task tools, or what it delegates to postures by. */
export const isTask = ({ postures, subagents }: AgentPlan, name: string): boolean =>
  (postures !== undefined && name === "delegate") ||
  subagents.some(({ id, kind }) => kind === "text" ? name === "task" : name === `task_${id}`)

/** The calls that a run's recorded responses made, in order, as the models made them. */
export const callsOf = (run: RunFacts) =>
  [...run.records].filter(([key]) => key.startsWith("m/")).flatMap(([key, { json }]) =>
    decodeStep(json).response.parts.flatMap((part) => part.type === "tool-call" ? [part] : []).map((call, index) => ({
      ...call,
      step: Number(key.slice(2)),
      key: `${key.slice(2)}.${index}`
    }))
  )

const decodeStep = Schema.decodeUnknownSync(
  Schema.fromJsonString(Schema.Struct({ response: ModelResponse.ModelResponse }))
)

/** Whether a step's request offered a tool. */
export const isOffered = ({ records }: RunFacts, step: number, name: string): boolean =>
  JSON.parse(records.get(`m/${step}`)?.json ?? "{}").offered?.includes(name) ?? false

/** Whether a run is another or below it. */
export const isWithin = (runId: string, top: string): boolean => runId === top || runId.startsWith(`${top}/`)
