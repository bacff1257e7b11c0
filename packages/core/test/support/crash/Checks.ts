/**
 * What must be true of a story in which a process was killed. Each check gives what is wrong, in words.
 */
import type { RunEvent } from "@mandate/core"
import { isDeepStrictEqual } from "node:util"
import * as Ledger from "./Ledger.ts"
import type { Killed, Left } from "./Life.ts"
import * as StoreImage from "./StoreImage.ts"

/** What is wrong with a story, compared with one in which no process was killed. */
export const problems = (whole: Left, left: Left): ReadonlyArray<string> => [
  ...differs("history", timeless(left.acts.at(-1)?.history), timeless(whole.acts.at(-1)?.history)),
  ...store(left.image),
  ...differs("rows", rowsOf(left.image), rowsOf(whole.image)),
  ...events(left),
  ...differs("events", bag(left.image.events), bag(whole.image.events)),
  ...Ledger.names.flatMap((name) => calls(name, whole, left)),
  ...left.killed.flatMap((killed) => Ledger.names.flatMap((name) => lost(name, killed)))
]

/** How often something was done that had been done before: it was in flight at a kill. */
export const repeated = ({ ledgers }: Left, name: Ledger.Name): number =>
  ledgers[name].length - new Set(ledgers[name]).size

/** Whether a kill came before the last write of the story, which settles the run at the top. */
export const isBeforeLastWrite = ({ image }: Killed): boolean => image.rows[0]?.state !== "Settled"

/** A story that has ended leaves a whole file, settled runs and nothing else. */
const store = ({ held, integrity, records, rows }: StoreImage.StoreImage): ReadonlyArray<string> => [
  ...(integrity === "ok" ? [] : [`the file is not whole: ${integrity}`]),
  ...rows.filter(({ state }) => state !== "Settled").map(({ runId, state }) => `${runId} is ${state}`),
  ...[...records].flatMap(([runId, keys]) => keys.map((key) => `${runId} still has the record ${key}`)),
  ...held.map((thread) => `${thread} is still held`)
]

/** Events are numbered without a gap, and what starts ends once. Each recovery says so once, and nothing else does. */
const events = ({ acts, image, killed }: Left): ReadonlyArray<string> => {
  const { events } = image
  const gap = events.findIndex(({ sequence }, index) => sequence !== index + 1)
  const recoveries = acts.filter(({ did }) => did === "recover").length
  const recovered = events.filter(({ _tag }) => _tag === "RunRecovered").length
  return [
    ...(gap < 0 ? [] : [`event ${gap + 1} has the number ${events[gap]!.sequence}`]),
    ...paired(events, "RunStarted", "RunSettled", ({ runId }) => runId),
    ...paired(events, "TaskStarted", "TaskSettled", (event) => "childRunId" in event ? event.childRunId : ""),
    // Of recoveries that were killed themselves, some had said so.
    ...(recovered >= recoveries && recovered < recoveries + Math.max(1, killed.length)
      ? []
      : [`${recovered} RunRecovered for ${recoveries} recoveries`])
  ]
}

const paired = (
  events: ReadonlyArray<RunEvent.DurableEvent>,
  start: RunEvent.DurableEvent["_tag"],
  end: RunEvent.DurableEvent["_tag"],
  of: (event: RunEvent.DurableEvent) => string
): ReadonlyArray<string> => {
  const indices = (tag: RunEvent.DurableEvent["_tag"], id: string) =>
    events.flatMap((event, index) => event._tag === tag && of(event) === id ? [index] : [])
  const ids = new Set(events.filter(({ _tag }) => _tag === start || _tag === end).map(of))
  return [...ids].flatMap((id) => {
    const [starts, ends] = [indices(start, id), indices(end, id)]
    const isPair = starts.length === 1 && ends.length === 1 && starts[0]! < ends[0]!
    return isPair ? [] : [`${id} has ${start} at ${starts.join(", ")} and ${end} at ${ends.join(", ")}`]
  })
}

/**
 * No line of a ledger is missing or new, and none is there twice between two kills. What was recorded at a kill is not
 * there again after it, so that only what was in flight may be.
 *
 * That a thing was recorded is also known from what only follows when it is, whatever the store says.
 */
const calls = (name: Ledger.Name, whole: Left, { killed, ledgers }: Left): ReadonlyArray<string> => {
  const lines = ledgers[name]
  const kills = killed.map(({ ledgers }) => ledgers[name].length)
  const lives = [0, ...kills].map((start, index) => lines.slice(start, kills[index]))
  return [
    ...whole.ledgers[name].filter((line) => !lines.includes(line)).map((line) => `${name}: ${line} is missing`),
    ...[...new Set(lines)].filter((line) => !whole.ledgers[name].includes(line)).map((line) =>
      `${name}: ${line} is new`
    ),
    ...lives.flatMap((life) =>
      life.filter((line, index) => life.indexOf(line) !== index).map((line) =>
        `${name}: ${line} is there twice at once`
      )
    ),
    ...killed.flatMap((one) => {
      const after = lines.slice(one.ledgers[name].length)
      return one.ledgers[name].filter((line) => isDone(name, line, one) && after.includes(line))
        .map((line) => `${name}: ${line} was recorded, and is there again after the kill`)
    })
  ]
}

/** What the store has no record of, though what only follows it had happened. */
const lost = (name: Ledger.Name, killed: Killed): ReadonlyArray<string> =>
  killed.ledgers[name]
    .filter((line) => isFollowed(name, line, killed.ledgers) && !isRecorded(name, line, killed))
    .map((line) => `${name}: ${line} had been recorded, and its record is lost`)

const isDone = (name: Ledger.Name, line: string, killed: Killed): boolean =>
  isRecorded(name, line, killed) || isFollowed(name, line, killed.ledgers)

const isRecorded = (name: Ledger.Name, line: string, { image }: Killed): boolean => {
  const { key, runId } = Ledger.recordOf(name, line)
  return StoreImage.isRecorded(image, runId, key)
}

const isFollowed = (name: Ledger.Name, line: string, { answers, models, tools }: Ledger.Ledgers): boolean => {
  const { key, runId } = Ledger.recordOf(name, line)
  const place = key.slice(2)
  switch (name) {
    // A model is asked for a step when all calls of the step before are recorded.
    case "tools":
      return models.includes(`${runId}/${Number(place.split(".")[0]) + 1}`)
    // The calls of a step run when it is recorded.
    case "models":
      return tools.some((tool) => tool.startsWith(`${runId}/${place}.`))
    // The question comes after the effect, and the answer after the question.
    case "effects":
      return answers.some((answer) => answer.startsWith(`${runId}/${place.split("/")[0]}:`))
    // What waited for the answer has run.
    case "answers":
      return tools.includes(`${runId}/${place.split(":")[0]}`)
  }
}

const rowsOf = ({ rows }: StoreImage.StoreImage): ReadonlyArray<unknown> =>
  rows.map((row) => timeless({ ...row, messages: parsed(row.messages), outcome: parsed(row.outcome) }))

const parsed = (json: string | null): unknown => json === null ? null : JSON.parse(json)

/** Events without their times and numbers, in an order of their own. A recovery is one more than there was. */
const bag = (events: ReadonlyArray<RunEvent.DurableEvent>): ReadonlyArray<string> =>
  events.filter(({ _tag }) => _tag !== "RunRecovered")
    .map((event) => JSON.stringify(timeless({ ...event, sequence: 0 })))
    .sort()

const timeless = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value ?? null), (key, inner) => typeof inner === "number" && times.test(key) ? 0 : inner)

const times = /Millis$|^at$|^startedAt$|^stoppedAt$/

/** What a value has too little or too much of. */
export const differs = (what: string, found: unknown, expected: unknown): ReadonlyArray<string> => {
  if (isDeepStrictEqual(found, expected)) return []
  if (!Array.isArray(found) || !Array.isArray(expected)) return [`${what}: ${shown(found)} for ${shown(expected)}`]
  const missing = expected.filter((one) => !found.some((other) => isDeepStrictEqual(one, other)))
  const extra = found.filter((one) => !expected.some((other) => isDeepStrictEqual(one, other)))
  return [
    `${what}: ${found.length} for ${expected.length}`,
    ...missing.map((one) => `${what}: missing ${shown(one)}`),
    ...extra.map((one) => `${what}: not expected ${shown(one)}`)
  ]
}

const shown = (value: unknown): string => String(JSON.stringify(value)).slice(0, 600)
