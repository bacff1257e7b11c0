/**
 * What came of the delegated files, read from the parent's conversation: the
 * one place where the typed reports of its children are.
 */
import { Message } from "@mandate/core"
import { Option, Schema } from "effect"
import { taskTool } from "./Agents.ts"
import { type Failure, FileReport, FileTask } from "./Report.ts"

/** Schema for the result of a task call: a report, or why there is none. */
export const TaskResult = Schema.Union([
  Schema.Struct({ report: FileReport }),
  Schema.Struct({ error: Schema.Struct({ reason: Schema.String, message: Schema.String }) })
])

/** The reports of the files that were audited, and why the others were not. */
export interface Audited {
  readonly reports: ReadonlyArray<FileReport>
  readonly failures: ReadonlyArray<Failure>
}

/**
 * Collects what became of each file.
 *
 * **Details**
 *
 * A report counts only for the file that its task named. Where a file was
 * delegated more than once, its first report counts.
 */
export const collect = (files: ReadonlyArray<string>, messages: ReadonlyArray<Message.Message>): Audited => {
  const tasks = new Map<string, Array<Task>>(files.map((file) => [file, []]))
  for (const task of tasksIn(messages)) tasks.get(task.path)?.push(task)
  const ends = files.map((file) => endOf(file, tasks.get(file) ?? []))
  return {
    reports: ends.filter((end) => "report" in end).map(({ report }) => report),
    failures: ends.filter((end) => "message" in end)
  }
}

interface Task {
  readonly path: string
  readonly result: typeof TaskResult.Type | undefined
}

const tasksIn = (messages: ReadonlyArray<Message.Message>): ReadonlyArray<Task> => {
  const results = new Map(
    messages.flatMap((message) => message.role === "tool" ? message.content : []).map((part) => [part.id, part.output])
  )
  return messages
    .flatMap((message) => message.role === "assistant" ? Message.toolCalls(message.content) : [])
    .flatMap(({ arguments: text, id, name }) => {
      const task = name === taskTool ? decodeTask(text) : Option.none()
      return Option.isNone(task)
        ? []
        : [{ path: task.value.path, result: Option.getOrUndefined(decodeResult(results.get(id)?.value)) }]
    })
}

const decodeTask = Schema.decodeUnknownOption(Schema.fromJsonString(FileTask))

const decodeResult = Schema.decodeUnknownOption(TaskResult)

const endOf = (file: string, tasks: ReadonlyArray<Task>): { readonly report: FileReport } | Failure => {
  const results = tasks.flatMap(({ result }) => result === undefined ? [] : [result])
  const reports = results.filter((result) => "report" in result).map(({ report }) => report)
  const own = reports.find(({ path }) => path === file)
  if (own !== undefined) return { report: own }
  const [foreign] = reports
  if (foreign !== undefined) return { file, message: `the report is about ${JSON.stringify(foreign.path)}` }
  const errors = results.filter((result) => "error" in result)
  const message = errors.at(-1)?.error.message
  return { file, message: message ?? (tasks.length === 0 ? "it was not delegated" : "there is no report") }
}
