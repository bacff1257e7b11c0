/**
 * The progress of an audit, told from the events of its runs: one line for
 * each event that matters to a person.
 */
import { ChildFailure, type RunEvent } from "@mandate/core"
import { Option, Schema } from "effect"
import { count, escape } from "../../support/src/Text.ts"
import { Verdict } from "./Folder.ts"
import { LinksFound } from "./Tools.ts"

/** What is known of a file whose child is at work. */
interface Work {
  readonly path: string | undefined
  readonly links: number
  readonly broken: number
}

/**
 * The counts so far. `links` and `broken` are what the tools of the children
 * that are done have said.
 */
export interface Progress {
  readonly files: number
  readonly done: number
  readonly links: number
  readonly broken: number
  readonly atWork: ReadonlyMap<string, Work>
}

/** The progress before anything happened. */
export const start = (files: number): Progress => ({ files, done: 0, links: 0, broken: 0, atWork: new Map() })

/** The progress after an event, and the line that tells of it, if it is worth one. */
export const after = (
  progress: Progress,
  event: RunEvent.RunEvent
): readonly [progress: Progress, line?: string] => {
  switch (event._tag) {
    case "TaskStarted":
      return [withWork(progress, event.childRunId, { path: undefined, links: 0, broken: 0 })]
    case "ToolStarted":
      return event.tool === "list_links" ? started(progress, event.runId, event.input) : [progress]
    case "ToolFinished":
      return [finished(progress, event)]
    case "TaskSettled":
      return settled(progress, event)
    case "ModelAttemptDiscarded": {
      const path = progress.atWork.get(event.runId)?.path
      const place = event.depth === 0 ? "the parent" : path === undefined ? "a file" : escape(path)
      return [
        progress,
        `${position(progress)} a model call failed (${event.reason}), attempt ${event.attempt + 1}: ${place}`
      ]
    }
    default:
      return [progress]
  }
}

const position = ({ done, files }: Progress): string => `[${String(done).padStart(String(files).length)}/${files}]`

const withWork = (progress: Progress, runId: string, work: Work): Progress => ({
  ...progress,
  atWork: new Map(progress.atWork).set(runId, work)
})

const decodeTask = Schema.decodeUnknownOption(Schema.Struct({ path: Schema.String }))

/** The first call of a child's first tool tells which file it has. */
const started = (progress: Progress, runId: string, input: unknown): readonly [Progress, string?] => {
  const work = progress.atWork.get(runId)
  const task = decodeTask(input)
  if (work === undefined || work.path !== undefined || Option.isNone(task)) return [progress]
  return [
    withWork(progress, runId, { ...work, path: task.value.path }),
    `${position(progress)} ${escape(task.value.path)}: started`
  ]
}

const decodeLinks = Schema.decodeUnknownOption(LinksFound)
const decodeVerdict = Schema.decodeUnknownOption(Verdict)

const finished = (
  progress: Progress,
  { isError, output, runId, tool }: Extract<RunEvent.RunEvent, { readonly _tag: "ToolFinished" }>
): Progress => {
  const work = progress.atWork.get(runId)
  if (work === undefined) return progress
  if (tool === "list_links") {
    const links = Option.match(decodeLinks(output), { onNone: () => 0, onSome: ({ links }) => links })
    return withWork(progress, runId, { ...work, links, broken: isError ? 1 : work.broken })
  }
  const isBroken = isError || Option.exists(decodeVerdict(output), ({ ok }) => !ok)
  return isBroken ? withWork(progress, runId, { ...work, broken: work.broken + 1 }) : progress
}

const settled = (
  progress: Progress,
  { childRunId, failure }: Extract<RunEvent.RunEvent, { readonly _tag: "TaskSettled" }>
): readonly [Progress, string?] => {
  const work = progress.atWork.get(childRunId)
  const atWork = new Map(progress.atWork)
  atWork.delete(childRunId)
  const path = escape(work?.path ?? "a file")
  if (failure?._tag === "Cancelled") return [{ ...progress, atWork }]
  if (failure !== undefined) {
    const next = { ...progress, atWork, done: progress.done + 1 }
    return [next, `${position(next)} ${path}: failed. ${escape(ChildFailure.message(failure))}`]
  }
  const { broken, links } = work ?? { broken: 0, links: 0 }
  const next = {
    ...progress,
    atWork,
    done: progress.done + 1,
    links: progress.links + links,
    broken: progress.broken + broken
  }
  return [
    next,
    `${position(next)} ${path}: ${count(links, "link")}, ${broken} broken; so far ${
      count(next.links, "link")
    }, ${next.broken} broken`
  ]
}
