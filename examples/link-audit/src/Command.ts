/**
 * The command, from its arguments to its exit code.
 */
import { type AgentDefinitionError, Mandate } from "@mandate/core"
import { Effect, type FileSystem, Layer, type Path, Result } from "effect"
import { Output } from "../../support/src/Output.ts"
import { count, escape } from "../../support/src/Text.ts"
import * as Audit from "./Audit.ts"
import type { FolderError } from "./ConfinedFiles.ts"
import * as Folder from "./Folder.ts"
import * as Models from "./Models.ts"
import * as Options from "./Options.ts"
import * as Progress from "./Progress.ts"
import * as Report from "./Report.ts"
import * as Table from "./Table.ts"
import type * as TaskResults from "./TaskResults.ts"
import * as Trace from "./Trace.ts"

type Services = FileSystem.FileSystem | Output | Path.Path

/** Runs the command and gives its exit code. Interrupting it cancels the audit and prints what was done. */
export const run = (
  args: ReadonlyArray<string>,
  environment: Models.Environment
): Effect.Effect<number, never, Services> =>
  Effect.gen(function*() {
    const options = yield* Options.parse(args)
    if (options.help) return yield* help
    return yield* audit(options, Models.fromEnvironment(environment))
  }).pipe(Effect.catchTag(["UsageError", "FolderError"], unusable), Effect.orDie)

const help = Effect.gen(function*() {
  const output = yield* Output
  yield* output.print(Options.usage)
  return 0
})

const unusable = (error: Options.UsageError | FolderError): Effect.Effect<number, never, Output> =>
  Effect.gen(function*() {
    const output = yield* Output
    yield* output.log(`link-audit: ${error.message}`)
    return Options.usageExitCode
  })

/** Audits a folder with a model, and gives the exit code. */
export const audit = (
  options: Options.Options,
  models: Models.Models
): Effect.Effect<number, Options.UsageError | FolderError | AgentDefinitionError.AgentDefinitionError, Services> =>
  Effect.gen(function*() {
    const output = yield* Output
    const folder = yield* Folder.open(options.folder)
    const files = yield* folder.files
    const trace = options.trace === undefined ? Trace.none : yield* Trace.open(options.trace)
    if (files.length === 0) {
      yield* output.log(`There are no Markdown files in ${escape(options.folder)}`)
      return yield* conclude(options, { reports: [], failures: [] })
    }

    yield* output.log(
      `Auditing ${count(files.length, "file")} in ${escape(options.folder)}, `
        + `at most ${options.concurrency} at once, with ${models.name}`
    )
    const runtime = Layer.merge(Mandate.layerMemory, Layer.succeed(Folder.Folder, folder))
    const { summary, ...results } = yield* Effect.provide(
      Effect.gen(function*() {
        const audit = yield* Audit.start(files, options.concurrency, yield* watcher(files.length, trace))
        return yield* Effect.onInterrupt(
          audit.await,
          () => Effect.flatMap(audit.cancel, (audited) => cancelled(options, files.length, audited))
        )
      }),
      runtime
    )
    yield* output.log(
      Result.match(summary, { onSuccess: (text) => `Summary: ${paragraph(text)}`, onFailure: paragraph })
    )
    const exitCode = yield* conclude(options, results)
    return Result.isSuccess(summary) ? exitCode : 3
  }).pipe(Effect.scoped, Effect.provide(models.layer))

/** Hands events to the trace and the log. */
const watcher = Effect.fnUntraced(function*(files: number, trace: Trace.Trace) {
  const output = yield* Output
  let progress = Progress.start(files)
  return Effect.fnUntraced(function*(events: Parameters<Trace.Trace["write"]>[0]) {
    for (const event of events) {
      const [next, line] = Progress.after(progress, event)
      progress = next
      if (line !== undefined) yield* output.log(line)
    }
    yield* trace.write(events)
  })
})

/** Prints the result and gives the exit code. */
const conclude = Effect.fnUntraced(function*(options: Options.Options, { failures, reports }: TaskResults.Audited) {
  const output = yield* Output
  const result = Report.total(reports)
  if (options.json) {
    for (const line of Table.notAudited(failures)) yield* output.log(line)
  }
  yield* output.print(options.json ? Report.json(result) : Table.format(result, failures))
  return Report.exitCode(result, failures)
})

const cancelled = Effect.fnUntraced(function*(options: Options.Options, files: number, { reports }: Audit.Audited) {
  const output = yield* Output
  if (!options.json) yield* output.print(Table.format(Report.total(reports)))
  yield* output.log(`Cancelled: ${reports.length} of ${count(files, "file")} audited`)
})

/** The words of a model, on one line. */
const paragraph = (text: string): string => escape(text.trim().replace(/\s+/g, " "))
