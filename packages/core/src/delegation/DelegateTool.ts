/**
 * The tool through which a model delegates to postures.
 *
 * **Details**
 *
 * The caller's bounds hold as for task calls, and the checks come in the same
 * order: `TooManyTasks`, `UnknownPosture`, `RecursionLimit`, `InvalidInput`. A
 * call whose run is there already is not checked again: the run goes on by the
 * posture that its row holds, whatever the registry has by now.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { AgentSpec } from "../definition/AgentSpec.ts"
import type { NoForm } from "../definition/ArgumentsForm.ts"
import * as ActiveRun from "../loop/ActiveRun.ts"
import * as Announce from "../loop/Announce.ts"
import type { Branch } from "../loop/Branch.ts"
import type { Drive, LoopTool, ToolCall } from "../loop/Drive.ts"
import { decodeText } from "../loop/HandlerTool.ts"
import * as AbsentNulls from "../values/AbsentNulls.ts"
import type { Budget } from "../values/Budget.ts"
import type { DelegateError } from "../values/DelegateError.ts"
import * as ExactNumbers from "../values/ExactNumbers.ts"
import * as Ids from "../values/Ids.ts"
import type * as Json from "../values/Json.ts"
import type { ModelTool } from "../values/ModelRequest.ts"
import * as SchemaIssues from "../values/SchemaIssues.ts"
import * as Text from "../values/Text.ts"
import * as CallLine from "./CallLine.ts"
import * as ChildTask from "./ChildTask.ts"
import type { DelegateRuntime } from "./DelegateService.ts"
import { delegateName } from "./PostureSpec.ts"
import * as StoredPosture from "./StoredPosture.ts"
import * as TaskResult from "./TaskResult.ts"
import * as TaskTool from "./TaskTool.ts"

/**
 * The tool of an agent, and the offered tools with its description as it is
 * now. Without postures it is not offered.
 *
 * @category models
 * @since 0.1.0
 */
export interface DelegateTool {
  readonly tool: LoopTool
  readonly refresh: (offered: ReadonlyArray<ModelTool>) => Effect.Effect<ReadonlyArray<ModelTool>>
}

/**
 * The tool of an agent that may delegate to postures.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  delegates: DelegateRuntime["Service"],
  { childFailure, postures }: Pick<AgentSpec, "childFailure" | "postures">
): DelegateTool => {
  const offers = (name: string) => postures?.names?.includes(name) ?? true
  const known = Effect.map(delegates.postures, (all) => all.filter(({ name }) => offers(name)))

  const admitted = Effect.fnUntraced(function*(args: Arguments, drive: Drive) {
    const { context, posture, task } = args
    const { depth, depthLeft } = drive.run
    const input = { task, ...(context === undefined ? {} : { context }) }
    // What is not offered is as unknown as what is not there.
    return yield* delegates.admit(offers(posture) ? posture : "", input, budgetOf(args), {
      depth,
      depthLeft,
      tenant: drive.run.tenant === "" ? undefined : drive.run.tenant
    })
  })

  const start = Effect.fnUntraced(function*(args: Arguments, call: ToolCall, drive: Drive) {
    const answer = yield* Effect.result(admitted(args, drive))
    if (Result.isFailure(answer)) {
      const names = (yield* known).map(({ name }) => name)
      return refused(answer.failure, args.posture, names, call, drive)
    }
    const { binding, budget, input, keys, subagent } = answer.success
    const posture = { binding, budget, depthLeft: subagent.maxDepth }
    const { entered, queue } = CallLine.place(drive.run.runId)
    const self: TaskResult.Task = { drive, call, subagent, policy: childFailure, task: input, posture, entered }
    const ended = yield* delegates.results.use(
      {
        keys,
        subagent,
        id: Ids.childThreadId(drive.run.runId, call.key),
        within: CallLine.of(drive.run.threadId),
        queue,
        partial: false
      },
      Effect.flatMap(
        TaskTool.watched(self),
        (branch) => Effect.map(TaskResult.kept(self, branch), (keep) => ({ value: branch, keep }))
      )
    )
    if (ended._tag === "Ran") return ended.value
    const run = ChildTask.starting(self, undefined)
    const runId = Ids.runId(run.threadId, 0)
    return TaskResult.known(self, ended.hit.json, Announce.hit({ ...run, runId }, drive.now()))
  })

  const goOn = Effect.fnUntraced(function*(call: ToolCall, drive: Drive) {
    const loaded = drive.isRecovery
      ? yield* drive.runtime.store.load(Ids.childRunId(drive.run.runId, call.key))
      : undefined
    const stored = loaded === undefined ? undefined : yield* Effect.result(StoredPosture.of(delegates, loaded))
    if (stored === undefined) return undefined
    if (Result.isFailure(stored)) return StoredPosture.failed(stored.failure)
    const { binding, budget, depthLeft, input, prompt, subagent } = stored.success
    const task = { json: input, prompt }
    const self: TaskResult.Task = {
      drive,
      call,
      subagent,
      policy: childFailure,
      task,
      posture: { binding, budget, depthLeft }
    }
    return yield* TaskTool.watched(self)
  })

  return {
    tool: {
      definition: definition([]),
      isTask: true,
      formArguments: (args) => Effect.succeed(formOf(args)),
      execute: (call, drive) =>
        TaskTool.tooManyTasks(call, drive) ?? Effect.flatMap(goOn(call, drive), (branch) => {
          if (branch !== undefined) return Effect.succeed<Branch>(branch)
          return Result.match(argumentsOf(call), {
            onFailure: (problem) => Effect.succeed<Branch>(TaskTool.invalidInput(drive, problem)),
            onSuccess: (args) => start(args, call, drive)
          })
        })
    },
    refresh: (offered) =>
      Effect.map(known, (all) =>
        offered.flatMap((tool) => {
          if (tool.name !== delegateName) return [tool]
          return all.length === 0 ? [] : [definition(all)]
        }))
  }
}

const Arguments = Schema.Struct({
  posture: Schema.String,
  task: Schema.String,
  context: Schema.optionalKey(Schema.Json),
  maxTokens: Schema.optionalKey(Schema.Number),
  maxToolCalls: Schema.optionalKey(Schema.Number),
  timeoutSeconds: Schema.optionalKey(Schema.Number)
})

type Arguments = typeof Arguments.Type

const definition = (postures: ReadonlyArray<{ readonly name: string; readonly description: string }>): ModelTool => ({
  name: delegateName,
  description: `Delegates a task to a subagent, which sees only the task and the context.\n${
    postures.map(({ description, name }) => `- ${name}: ${description}`).join("\n")
  }`,
  inputSchema: {
    type: "object",
    properties: {
      posture: { type: "string", enum: postures.map(({ name }) => name), description: "The subagent to delegate to" },
      task: { type: "string", description: "A description of the task that stands on its own" },
      context: { description: "Data for the task, as JSON" },
      maxTokens: { type: "integer", minimum: 1, description: "The most tokens it may use" },
      maxToolCalls: { type: "integer", minimum: 1, description: "The most tool calls it may make" },
      timeoutSeconds: { type: "number", exclusiveMinimum: 0, description: "The most seconds it may work" }
    },
    required: ["posture", "task"],
    additionalProperties: false
  },
  // Nobody can be held to a context that may be anything.
  strict: false
})

// A limit that is misspelt must not be a limit that is missing.
const decodeArguments = Schema.decodeUnknownResult(Arguments, { errors: "all", onExcessProperty: "error" })

const decode = (json: Json.Json): Result.Result<Arguments, ReadonlyArray<string>> => {
  const inexact = ExactNumbers.inValue(json)
  return inexact === undefined
    ? Result.mapError(decodeArguments(absent(json)), (error) => SchemaIssues.lines(error))
    : Result.fail([inexact])
}

const absent = AbsentNulls.make(() => definition([]).inputSchema)

// Nothing in them is filled in or changed when they are decoded.
const formOf = (args: Json.Json): Result.Result<Json.Json, NoForm> =>
  Result.match(decode(args), {
    onFailure: (issues) => Result.fail({ _tag: "Invalid", issues }),
    onSuccess: (decoded) =>
      Text.isBlank(decoded.task)
        ? Result.fail({ _tag: "Invalid", issues: ["task: Expected text that is not blank"] })
        : Result.succeed({ ...decoded })
  })

const argumentsOf = (call: ToolCall): Result.Result<Arguments, string> =>
  Result.flatMap(
    decodeText(call.part.arguments),
    (json) => Result.mapError(decode(json), (issues) => issues.join("; "))
  )

const budgetOf = ({ maxTokens, maxToolCalls, timeoutSeconds }: Arguments): Budget => ({
  ...(maxTokens === undefined ? {} : { maxTokens }),
  ...(maxToolCalls === undefined ? {} : { maxToolCalls }),
  ...(timeoutSeconds === undefined ? {} : { timeout: timeoutSeconds * 1000 })
})

const refused = (
  error: DelegateError,
  posture: string,
  known: ReadonlyArray<string>,
  call: ToolCall,
  drive: Drive
): Branch => {
  const { reason } = error
  switch (reason._tag) {
    case "UnknownPosture":
      return TaskTool.refused(
        drive,
        reason._tag,
        `There is no such posture; postures: ${known.join(", ") || "none"}`
      )
    case "RecursionLimit":
      return {
        ...TaskTool.refused(drive, reason._tag, error.message),
        events: [{
          ...ActiveRun.origin(drive.run),
          _tag: "DelegateRefused",
          at: drive.now(),
          key: call.key,
          posture,
          reason: reason._tag
        }]
      }
    case "InvalidPosture":
      return TaskTool.refused(drive, reason._tag, error.message)
    // The model gave limits beside the task, and knows of no overrides.
    case "InvalidRequest": {
      const issues = reason.issues.join("; ")
      return TaskTool.invalidInput(drive, reason.field === "overrides" ? issues : `${reason.field}: ${issues}`)
    }
  }
}
