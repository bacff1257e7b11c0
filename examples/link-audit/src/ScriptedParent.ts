/**
 * The program of the scripted parent: delegates the files in order, some at a
 * time, and sums the reports up in a text.
 */
import type { Message } from "@mandate/core"
import { Result, Schema } from "effect"
import { count } from "../../support/src/Text.ts"
import { AuditRequest, taskTool } from "./Agents.ts"
import * as Brief from "./Brief.ts"
import { type Move, resultsOf } from "./Program.ts"
import type { FileReport } from "./Report.ts"
import { TaskResult } from "./TaskResults.ts"

/** The next move of the parent. */
export const next = (messages: ReadonlyArray<Message.Message>): Result.Result<Move, string> =>
  Result.map(
    Result.mapError(Brief.read(AuditRequest, messages), () => "the request is not one that the program knows"),
    ({ files, filesPerStep }) => {
      const results = resultsOf(messages, taskTool)
      const rest = files.slice(results.length, results.length + filesPerStep)
      return rest.length > 0
        ? { calls: rest.map((path) => ({ tool: taskTool, arguments: { path } })) }
        : { text: summary(results) }
    }
  )

const decode = Schema.decodeUnknownResult(TaskResult)

const summary = (results: ReadonlyArray<Message.ToolResultPart>): string => {
  const reports = results.flatMap(({ output }): ReadonlyArray<FileReport> => {
    const result = decode(output.value)
    return Result.isSuccess(result) && "report" in result.success ? [result.success.report] : []
  })
  const links = reports.reduce((sum, { links }) => sum + links, 0)
  const broken = reports.flatMap((report) => report.broken.filter(({ line }) => line > 0))
  const unread = reports.filter((report) => report.broken.some(({ line }) => line === 0))
  const failed = results.length - reports.length
  return [
    `Audited ${reports.length} of ${count(results.length, "file")}, with ${count(links, "link")}.`,
    broken.length === 0
      ? "No link is broken."
      : `Broken: ${count(broken.length, "link")}, most of them in ${worst(reports)}; most frequent: ${
        mostFrequent(broken)
      }.`,
    ...(unread.length === 0 ? [] : [`Not readable: ${count(unread.length, "file")}.`]),
    ...(failed === 0 ? [] : [`Not audited: ${count(failed, "file")}.`])
  ].join(" ")
}

const worst = (reports: ReadonlyArray<FileReport>): string =>
  reports.reduce((most, report) => report.broken.length > most.broken.length ? report : most).path

const mostFrequent = (broken: FileReport["broken"]): string => {
  const count = (reason: string) => broken.filter((link) => link.reason === reason).length
  const reasons = [...new Set(broken.map(({ reason }) => reason))]
  return reasons.reduce((most, reason) => count(reason) > count(most) ? reason : most)
}
