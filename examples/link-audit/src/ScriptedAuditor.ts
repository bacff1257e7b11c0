/**
 * The program of the scripted child: lists the links, checks every target,
 * and reports what the tools said and nothing else.
 */
import type { Message } from "@mandate/core"
import { Result, Schema } from "effect"
import * as Brief from "./Brief.ts"
import { Verdict } from "./Folder.ts"
import { type Call, type Move, resultsOf } from "./Program.ts"
import * as Report from "./Report.ts"
import { LinksFound, ToolError } from "./Tools.ts"

const callsPerStep = 25

/** A file with very many links takes larger steps, so that it stays within the steps that the child has. */
const maxCheckSteps = 400

/** The next move of the child. */
export const next = (messages: ReadonlyArray<Message.Message>): Result.Result<Move, string> =>
  Result.gen(function*() {
    const { path } = yield* understood(Brief.read(Report.FileTask, messages))
    const [list] = resultsOf(messages, "list_links")
    if (list === undefined) return call({ tool: "list_links", arguments: { path } })
    if (list.isError) return report(Report.unreadable(path, (yield* decode(ToolError, list)).error))

    const { links, targets } = yield* decode(LinksFound, list)
    const checks = resultsOf(messages, "check_target")
    if (checks.length < targets.length) {
      const end = checks.length + Math.max(callsPerStep, Math.ceil(targets.length / maxCheckSteps))
      return call(
        ...targets.slice(checks.length, end).map(({ target }) => ({
          tool: "check_target",
          arguments: { path, target }
        }))
      )
    }

    const reasons = yield* Result.all(checks.map(reasonOf))
    const broken = targets.flatMap(({ line, target: link }, index) => {
      const reason = reasons[index]
      return reason === undefined ? [] : [{ line, link, reason }]
    })
    return report({ path, links, broken })
  })

const call = (...calls: ReadonlyArray<Call>): Move => ({ calls })

const report = (report: Report.FileReport): Move => call({ tool: "submit_report", arguments: { ...report } })

/** The reason against a target, none for a sound one. */
const reasonOf = (check: Message.ToolResultPart): Result.Result<Report.BrokenLink["reason"] | undefined, string> =>
  check.isError
    ? Result.map(decode(ToolError, check), ({ error }) => error)
    : Result.map(decode(Verdict, check), (verdict) => verdict.ok ? undefined : verdict.reason)

const decode = <A>(schema: Schema.Codec<A, unknown>, { output }: Message.ToolResultPart): Result.Result<A, string> =>
  understood(Schema.decodeUnknownResult(schema)(output.value))

const understood = <A>(result: Result.Result<A, Schema.SchemaError>): Result.Result<A, string> =>
  Result.mapError(result, () => "the task or the result of a tool is not one that the program knows")
