/**
 * A tool with a handler, as the loop runs it.
 *
 * **Details**
 *
 * Invariants:
 *
 * 1. Arguments are decoded before the handler runs; what does not decode never
 *    reaches it.
 * 2. Each call runs in a fiber and a scope of its own, both gone when the call
 *    ends.
 * 3. What ends a run (`fatal`, a lost journal) stops the handler's fiber, so
 *    nothing in the handler can catch it.
 * 4. A defect is logged here and crosses without its text.
 * 5. What a handler gives is held to its bound before it is recorded or shown.
 * 6. No handler starts after the lease of its run is over.
 *
 * @since 0.1.0
 */
import * as Tool from "effect/ai/Tool"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import type * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import { ArgumentsForm } from "../definition/ArgumentsForm.ts"
import { AtMostOnce } from "../definition/AtMostOnce.ts"
import { MaxResultBytes } from "../definition/MaxResultBytes.ts"
import { ToolContext } from "../definition/ToolContext.ts"
import type { AnyHandler } from "../definition/ToolSource.ts"
import * as ExactNumbers from "../values/ExactNumbers.ts"
import * as Json from "../values/Json.ts"
import type { JsonCodec } from "../values/JsonCodec.ts"
import type { ToolOutput } from "../values/Message.ts"
import * as ActiveRun from "./ActiveRun.ts"
import { type Branch, failed } from "./Branch.ts"
import type { Drive, LoopTool, ToolCall } from "./Drive.ts"
import * as ResultBound from "./ResultBound.ts"
import * as ShownArguments from "./ShownArguments.ts"
import * as ToolContent from "./ToolContent.ts"
import * as ToolFailure from "./ToolFailure.ts"
import * as ToolScope from "./ToolScope.ts"
import { maxModelJsonBytes } from "./Verdicts.ts"

/**
 * The codecs of a tool, compiled once.
 *
 * **Details**
 *
 * `encoded`: the codec of the parameters as their schema encodes them, for a
 * handler that decodes them itself; absent for one that takes them decoded.
 *
 * @category models
 * @since 0.1.0
 */
export interface ToolCodecs {
  readonly parameters: JsonCodec<unknown>
  readonly encoded?: JsonCodec<unknown> | undefined
  readonly success: JsonCodec<unknown>
  readonly failure: JsonCodec<unknown>
}

/**
 * Compiles a tool and its handler.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (tool: Tool.Any, codecs: ToolCodecs, handler: AnyHandler): LoopTool => {
  const description = Tool.getDescription(tool)
  const strict = Tool.getStrictMode(tool)
  return {
    definition: {
      name: tool.name,
      ...(description === undefined ? {} : { description }),
      inputSchema: codecs.parameters.modelSchema,
      ...(strict === undefined ? {} : { strict })
    },
    isTask: false,
    maxResultBytes: Context.get(tool.annotations, MaxResultBytes),
    isAtMostOnce: Context.get(tool.annotations, AtMostOnce),
    formArguments: Context.get(tool.annotations, ArgumentsForm) ?? ShownArguments.make(codecs.parameters),
    checkResult: (result) => issuesOf(codecs.success.read(result)),
    ...approvalOf(tool, codecs),
    execute: (call, drive) =>
      Result.match(decodeText(call.part.arguments), {
        onFailure: (problem) => Effect.succeed(failed("InvalidArguments", `The arguments are not valid: ${problem}`)),
        onSuccess: (json) => execute(codecs, handler, ToolContent.of(tool), json, call, drive)
      })
  }
}

const issuesOf = (decoded: ReturnType<JsonCodec<unknown>["decode"]>): Effect.Effect<ReadonlyArray<string>> =>
  Effect.map(erase(Effect.result(decoded)), (result) => Result.isFailure(result) ? result.failure : [])

// Decided on decoded arguments: only `false` lets a call pass. Arguments that do not decode are the tool's to refuse.
const approvalOf = (tool: Tool.Any, codecs: ToolCodecs): Pick<LoopTool, "needsApproval"> => {
  const policy = tool.needsApproval
  if (policy === undefined || policy === false) return {}
  const isNeeded = (params: unknown, call: ToolCall): Effect.Effect<boolean> =>
    policy === true ? Effect.succeed(true) : Effect.suspend(() => {
      const needed = policy(params, { toolCallId: call.part.id, messages: [] })
      return Effect.isEffect(needed) ? needed : Effect.succeed(needed)
    })
  return {
    needsApproval: (args, call) =>
      Effect.flatMap(
        erase(Effect.result(codecs.parameters.fromModel(args))),
        (decoded) =>
          Result.isFailure(decoded) ? Effect.succeed(false) : Effect.catchCause(
            Effect.map(isNeeded(decoded.success, call), (needed) => needed !== false),
            (cause) =>
              Effect.as(
                ToolFailure.log(Effect.logError, `The approval policy of the tool "${tool.name}" failed`, cause),
                true
              )
          )
      )
  }
}

/**
 * Parses the argument text of a call. No text at all is an empty object: some
 * models write nothing for a tool without parameters. A number that cannot be
 * read exactly is refused.
 *
 * @category constructors
 * @since 0.1.0
 */
export const decodeText = (text: string): Result.Result<Json.Json, string> =>
  text.trim() === "" ? Result.succeed({}) : Result.flatMap(Json.parse(text, maxModelJsonBytes), (json) => {
    const inexact = ExactNumbers.inText(text, json)
    return inexact === undefined ? Result.succeed(json) : Result.fail(inexact)
  })

const execute = Effect.fnUntraced(function*(
  codecs: ToolCodecs,
  handler: AnyHandler,
  content: ToolContent.ToolContent | undefined,
  json: Json.Json,
  call: ToolCall,
  drive: Drive
): Effect.fn.Return<Branch, ToolScope.Lost> {
  const params = yield* erase(Effect.exit(Effect.suspend(() => Effect.result(parameters(codecs, json)))))
  if (params._tag === "Failure") return yield* ToolFailure.branch(call.part.name, params.cause)
  if (Result.isFailure(params.value)) {
    return failed("InvalidArguments", `The arguments are not valid: ${params.value.failure.join("; ")}`)
  }
  const renewal = drive.leaseRenewal()
  if (renewal !== undefined) yield* renewal
  const tool = call.part.name
  const place = () => ({
    ...ActiveRun.origin(drive.run),
    at: drive.now(),
    key: call.key,
    toolCallId: call.part.id,
    tool
  })
  drive.journal.emit(() => ({ ...place(), _tag: "ToolStarted", input: json }))
  const maxBytes = ResultBound.of(drive, drive.agent.tools.get(tool))
  const progress = (value: Json.Json) =>
    Effect.suspend(() => {
      if (!ResultBound.allows(value, maxBytes)) {
        return Effect.logWarning(`Progress of the tool "${tool}" is larger than ${maxBytes} bytes and not shown`)
      }
      drive.journal.emit(() => ({ ...place(), _tag: "ToolProgress", value }))
      return Effect.void
    })
  const scope = ToolScope.make(call, drive, progress)
  const context = {
    toolCallId: call.part.id,
    preliminary: (result: unknown) => erase(Effect.ignore(Effect.flatMap(codecs.success.encode(result), progress)))
  }
  const given = params.value.success
  const exit = yield* runAlone(
    scope,
    Effect.provideService(
      Effect.scoped(Effect.suspend(() => handler(given, context))),
      ToolContext,
      scope.service
    )
  )
  const branch = ResultBound.hold(yield* branchOf(codecs, tool, scope, exit, content), maxBytes)
  if (branch._tag === "Done") {
    const { isError, output } = branch.result
    drive.journal.emit(() => ({ ...place(), _tag: "ToolFinished", output: output.value, isError }))
  }
  return branch
})

const parameters = ({ encoded, parameters }: ToolCodecs, json: Json.Json) =>
  encoded === undefined
    ? parameters.fromModel(json)
    : Effect.andThen(parameters.fromModel(json), encoded.fromModel(json))

// The bound context of the agent is the drive's whole context, so every service a handler or codec needs is there.
const erase = <A, E>(effect: Effect.Effect<A, E, unknown>): Effect.Effect<A, E> => effect as Effect.Effect<A, E>

const runAlone = (
  scope: ToolScope.ToolScope,
  body: Effect.Effect<unknown, unknown, unknown>
): Effect.Effect<Exit.Exit<unknown, unknown>> =>
  Effect.ensuring(
    Effect.flatMap(
      Effect.forkChild(
        erase(Effect.withFiber((fiber) => {
          scope.fiber = fiber
          return body
        })),
        { startImmediately: true }
      ),
      (fiber) =>
        Effect.onInterrupt(
          Fiber.await(fiber),
          () => Effect.flatMap(Effect.andThen(Fiber.interrupt(fiber), Fiber.await(fiber)), reportLate)
        )
    ),
    Effect.sync(scope.end)
  )

// Nobody waits for the result any more; a failure is worth a line.
const reportLate = (exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> =>
  exit._tag === "Success" || Cause.hasInterruptsOnly(exit.cause)
    ? Effect.void
    : ToolFailure.log(Effect.logWarning, "A tool failed after its call had been given up", exit.cause)

const branchOf = (
  codecs: ToolCodecs,
  tool: string,
  scope: ToolScope.ToolScope,
  exit: Exit.Exit<unknown, unknown>,
  content: ToolContent.ToolContent | undefined
): Effect.Effect<Branch, ToolScope.Lost> => {
  const signal = scope.signal
  switch (signal?._tag) {
    case "Fatal":
      return Effect.succeed({ _tag: "Fail", failure: { _tag: "ToolFatal", tool, reason: signal.reason } })
    case "Wait":
      return Effect.succeed({ _tag: "Waiting" })
    case "Lost":
      return Effect.fail(signal.error)
  }
  if (exit._tag === "Success") {
    return ToolFailure.guard(tool, () =>
      Effect.matchEffect(erase(codecs.success.encode(exit.value)), {
        onSuccess: (value) =>
          content === undefined ? Effect.succeed(done(value, false)) : shown(tool, content(exit.value), value),
        onFailure: (issues) =>
          Effect.as(
            Effect.logWarning(`The result of the tool "${tool}" cannot be encoded: ${issues.join("; ")}`),
            failed("InvalidResult", `The result of the tool cannot be encoded: ${issues.join("; ")}`)
          )
      }))
  }
  const declared = Cause.findErrorOption(exit.cause)
  return Option.isNone(declared)
    ? ToolFailure.branch(tool, exit.cause)
    : ToolFailure.guard(tool, () =>
      Effect.matchEffect(erase(codecs.failure.encode(declared.value)), {
        onSuccess: (value) => Effect.succeed(done(value, true)),
        onFailure: () => ToolFailure.branch(tool, exit.cause)
      }))
}

const done = (value: Json.Json, isError: boolean): Branch => {
  const output: ToolOutput = typeof value === "string" ? { type: "text", value } : { type: "json", value }
  return { _tag: "Done", result: { output, isError } }
}

// What the tool makes of its result for the model is the tool's own code. The call has succeeded, whatever that does.
const shown = (
  tool: string,
  content: Effect.Effect<ToolOutput | undefined>,
  value: Json.Json
): Effect.Effect<Branch> =>
  Effect.matchCauseEffect(content, {
    onSuccess: (output) =>
      Effect.succeed<Branch>(
        output === undefined ? done(value, false) : { _tag: "Done", result: { output, isError: false } }
      ),
    onFailure: (cause) =>
      Effect.as(
        ToolFailure.log(
          Effect.logWarning,
          `toModelOutput of the tool "${tool}" failed; its result is shown as it is`,
          cause
        ),
        done(value, false)
      )
  })
