/** Events: numbered without a gap, in order, one end for each start. */
import type { RunEvent } from "@mandate/core"
import { eventsOf, type Facts, type RunFacts } from "./Facts.ts"
import type { Played } from "./Play.ts"

export const check = (facts: Facts, { events: stored, left }: Played): ReadonlyArray<string> => {
  const numbers = facts.events.map(({ event }) => event.sequence)
  const gap = numbers.findIndex((number, index) => number !== index + 1)
  const kept = new Set(left.map(({ row }) => row.runId))
  const should = facts.events.filter(({ event }) => kept.has(holderOf(event))).map(({ event }) => event.sequence)
  const are = stored.map(({ sequence }) => sequence)
  return [
    ...(gap < 0 ? [] : [`event ${gap + 1} has the number ${numbers[gap]}`]),
    ...(should.join() === are.join() ? [] : [`the store has the events ${are.join()}, not ${should.join()}`]),
    ...[...facts.runs.values()].flatMap((run) => [...life(run), ...task(run, facts)])
  ]
}

// A caller keeps the pairs of what it called, those without a run too.
const holderOf = (event: RunEvent.DurableEvent): string =>
  ("callerRunId" in event ? event.callerRunId : undefined) ?? event.runId

const life = (run: RunFacts): ReadonlyArray<string> => {
  // A posture's run is between the two of its pair.
  const tags = run.events.map(({ event }) => event._tag).filter((tag) => !pair.has(tag))
  const count = (tag: string) => tags.filter((other) => other === tag).length
  const rests = tags.filter((tag) => states.has(tag))
  return [
    ...(tags[0] === "RunStarted" && count("RunStarted") === 1
      ? []
      : [`${run.runId} started ${count("RunStarted")} times`]),
    ...(tags.at(-1) === "RunSettled" && count("RunSettled") === 1 && run.settled.length === 1
      ? []
      : [
        `${run.runId} settled ${count("RunSettled")} times in events and ${run.settled.length} in rows; last: ${
          tags.at(-1)
        }`
      ]),
    ...rests.flatMap((tag, index) => {
      const next = rests[index + 1]
      return next === undefined || (follows[tag] ?? []).includes(next) ? [] : [`${next} came after ${tag}`]
    }),
    ...eventsOf(run, "ModelCallCompleted").flatMap(({ event }, index) =>
      event.step === index ? [] : [`step ${event.step} of ${run.runId} completed as number ${index}`]
    )
  ]
}

const pair: ReadonlySet<string> = new Set(["DelegateStart", "DelegateComplete"])

const going = ["RunSuspended", "RunFailed", "RunRecovered", "RunSettled"]
const follows: { readonly [tag: string]: ReadonlyArray<string> } = {
  RunStarted: going,
  RunResumed: going,
  RunRecovered: going,
  RunSuspended: ["RunResumed", "RunRecovered", "RunSettled"],
  RunFailed: ["RunRecovered", "RunSettled"],
  RunSettled: []
}
const states: ReadonlySet<string> = new Set(Object.keys(follows))

const task = (run: RunFacts, { events, runs }: Facts): ReadonlyArray<string> => {
  const parent = runs.get(run.row.parentRunId ?? "")
  if (parent === undefined || run.posture !== undefined) return []
  const places = (tag: "TaskStarted" | "TaskSettled") =>
    eventsOf(parent, tag).flatMap(({ event }) => event.childRunId === run.runId ? [event.sequence] : [])
  const place = (of: RunFacts, tag: "RunStarted" | "RunSettled") =>
    eventsOf(of, tag)[0]?.event.sequence ?? events.length
  const [started = 0, ...restarted] = places("TaskStarted")
  const [ended = 0, ...endedAgain] = places("TaskSettled")
  const isFine = restarted.length + endedAgain.length === 0 && started < place(run, "RunStarted") &&
    place(run, "RunSettled") < ended && ended < place(parent, "RunSettled") && started > 0
  return isFine ? [] : [
    `the task ${run.runId} started at ${places("TaskStarted").join()} and settled at ${
      places("TaskSettled").join()
    }, its run from ${place(run, "RunStarted")} to ${place(run, "RunSettled")}, its parent until ${
      place(parent, "RunSettled")
    }`
  ]
}
