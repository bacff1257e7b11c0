/**
 * The agents: a parent that delegates every file of a folder, and a child that
 * audits one file.
 */
import { AgentBuilder, TypedAgent } from "@mandate/core"
import { Schema } from "effect"
import * as Brief from "./Brief.ts"
import type { Folder } from "./Folder.ts"
import { FileReport, FileTask } from "./Report.ts"
import * as Tools from "./Tools.ts"

/** Schema for what the parent is asked: the files, and how many to delegate in one step. */
export const AuditRequest = Schema.Struct({ filesPerStep: Schema.Natural, files: Schema.Array(Schema.String) })

/** What the parent is asked. It names the files and holds nothing of them. */
export type AuditRequest = typeof AuditRequest.Type

/** The child: audits one file with its two tools and reports what is broken. */
export const auditor: TypedAgent.TypedAgent<FileTask, FileReport, Folder> = TypedAgent.make("auditor", {
  description: "Audits the links of one Markdown file. It is given the path of the file and reports its broken links.",
  input: FileTask,
  report: FileReport
})
  .withInstructions(
    `You audit the links of one Markdown file, with tools.

1. Call list_links with the path of the file.
2. Call check_target once for each target it lists, in order, with the same path and the target exactly as it is listed. Make up to 25 calls in one step, and go on until every target is checked. Two equal targets on different lines are two checks.
3. Call submit_report:
   - path: the path of the file, exactly as in the task
   - links: the number of links that list_links gave
   - broken: one entry for each target whose check said ok: false, with its line, the target as link, and the reason of the check. An empty list when all is well.

If list_links gives an error, report links 0 and one broken entry with line 0, an empty link, and the error as its reason. If check_target gives an error, its target is broken, with the error as the reason.

Report only what the tools said. Never guess, correct or leave out a result.`
  )
  .withInputText((task) => Brief.write("Audit the links of this file:", task))
  .withTools(Tools.toolkit, Tools.handlers)
  .withMaxSteps(500)

/** The tool through which the parent delegates to {@link auditor}. */
export const taskTool = `task_${auditor.id}`

/** The parent, for a folder with this many files. */
export const linkAudit = (files: number, concurrency: number): AgentBuilder.AgentBuilder<string, Folder> =>
  AgentBuilder.make("link-audit")
    .withInstructions(
      `You lead an audit of the links in a folder of Markdown files. You are given the paths of the files.

1. Call ${taskTool} once for each file, with the path exactly as it is given. Make as many calls in one step as filesPerStep says, then go on with the next files in order, until every file was delegated. Delegate no file twice.
2. When all reports are there, answer with a summary in plain text, two to five sentences: how many files and links there are, how many links are broken, which files need work and what kind of problem is the most frequent. A broken entry on line 0 is a file that could not be read. Say which files were not audited because their task failed.

Use only what the reports say.`
    )
    .withSubagents([auditor], {
      maxConcurrentChildren: concurrency,
      // A model that slips may delegate a file twice.
      maxTasksPerTurn: files * 2,
      // A report may be as large as any answer of a model.
      maxReportBytes: 8 * 1024 * 1024
    })
    // One file a step at worst, and then the summary.
    .withMaxSteps(files + 10)

/** What to ask the parent. Steps are large enough to keep all children busy. */
export const request = (files: ReadonlyArray<string>, concurrency: number): string =>
  Brief.write(
    `Audit these ${files.length} files:`,
    { filesPerStep: Math.max(20, 2 * concurrency), files } satisfies AuditRequest
  )
