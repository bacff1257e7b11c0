/**
 * Task tools: how a parent's model delegates.
 *
 * **Details**
 *
 * The checks of a call come in a fixed order: `TooManyTasks`,
 * `UnknownSubagent`, `DepthExceeded`, `InvalidInput`. A refused call starts
 * nothing. All are decided from the call's place in its run and the run's
 * stored limits, so a replay decides the same.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { FormArguments } from "../definition/ArgumentsForm.ts"
import * as ActiveRun from "../loop/ActiveRun.ts"
import type { Branch, Done } from "../loop/Branch.ts"
import type { Drive, LoopTool, ToolCall } from "../loop/Drive.ts"
import { decodeText } from "../loop/HandlerTool.ts"
import * as ShownArguments from "../loop/ShownArguments.ts"
import * as Ids from "../values/Ids.ts"
import * as Json from "../values/Json.ts"
import * as RunInput from "../values/RunInput.ts"
import type { BoundSpec } from "./BoundSpec.ts"
import * as CallLine from "./CallLine.ts"
import * as ChildTask from "./ChildTask.ts"
import * as Surroundings from "./Surroundings.ts"
import * as TaskMessage from "./TaskMessage.ts"
import { kept, known, type Lost, type Task } from "./TaskResult.ts"
import type { TypedCache } from "./TypedCache.ts"

/**
 * Name of the tool through which all text subagents are reached.
 *
 * @category constants
 * @since 0.1.0
 */
export const textTaskName = "task"

/**
 * Name of the task tool of a typed subagent. Never longer than the 64
 * characters that providers take, since an id has at most 52.
 *
 * @category getters
 * @since 0.1.0
 */
export const typedTaskName = (subagentId: string): string => `task_${subagentId}`

/**
 * The task tools of an agent: one for each typed subagent, and one for all
 * text subagents together.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  parent: Pick<BoundSpec, "childFailure">,
  subagents: ReadonlyArray<BoundSpec>
): ReadonlyArray<LoopTool> => {
  const texts = subagents.filter((subagent) => subagent.role === "text")
  const typed = subagents.filter((subagent) => subagent.role === "typed")
  return [
    ...typed.map((subagent) => typedTask(parent, subagent)),
    ...(texts.length === 0 ? [] : [textTask(parent, texts)])
  ]
}

const typedTask = (parent: Pick<BoundSpec, "childFailure">, subagent: BoundSpec): LoopTool => ({
  definition: {
    name: typedTaskName(subagent.agent.id),
    description: subagent.description,
    inputSchema: subagent.input.modelSchema
  },
  isTask: true,
  formArguments: formOf(subagent),
  execute: (call, drive) =>
    refusal(call, drive) ?? Result.match(decodeText(call.part.arguments), {
      onFailure: (problem) => Effect.succeed(invalidInput(drive, problem)),
      onSuccess: (json) => delegate(parent, subagent, json, call, drive)
    })
})

const textTask = (parent: Pick<BoundSpec, "childFailure">, subagents: ReadonlyArray<BoundSpec>): LoopTool => {
  const byId = new Map(subagents.map((subagent) => [subagent.agent.id, subagent]))
  const named = (args: Json.Json) => {
    const { subagent: name, ...input } = asObject(args)
    return { subagent: typeof name === "string" ? byId.get(name) : undefined, input }
  }
  const ids = [...byId.keys()]
  return {
    definition: {
      name: textTaskName,
      description: `Delegates a task to a subagent, which sees only your description of it.\n${
        subagents.map((subagent) => `- ${subagent.agent.id}: ${subagent.description}`).join("\n")
      }`,
      inputSchema: {
        type: "object",
        properties: {
          subagent: { type: "string", enum: ids, description: "The subagent to delegate to" },
          description: { type: "string", description: "A description of the task that stands on its own" }
        },
        required: ["subagent", "description"],
        additionalProperties: false
      }
    },
    isTask: true,
    formArguments: (args) => {
      const { input, subagent } = named(args)
      if (subagent === undefined) {
        return Effect.succeed(Result.fail({ _tag: "Invalid", issues: ["there is no such subagent"] }))
      }
      return Effect.map(
        formOf(subagent)(input),
        Result.map((form) => ({ ...asObject(form), subagent: subagent.agent.id }))
      )
    },
    execute: (call, drive) => {
      const tooMany = tooManyTasks(call, drive)
      if (tooMany !== undefined) return tooMany
      const decoded = decodeText(call.part.arguments)
      if (Result.isFailure(decoded)) return Effect.succeed(invalidInput(drive, decoded.failure))
      const { input, subagent } = named(decoded.success)
      if (subagent === undefined) {
        return Effect.succeed(
          refused(drive, "UnknownSubagent", `There is no such subagent; subagents: ${ids.join(", ")}`)
        )
      }
      return tooDeep(drive) ?? delegate(parent, subagent, input, call, drive)
    }
  }
}

// What is no input of the subagent for another reason than its schema has no form either.
const formOf = (subagent: BoundSpec): FormArguments => {
  const form = ShownArguments.make(subagent.input)
  return (args) =>
    Effect.flatMap(inputOf(subagent, args), (input) =>
      Result.isFailure(input)
        ? Effect.succeed(Result.fail({ _tag: "Invalid", issues: input.failure }))
        : Effect.provideContext(form(args), subagent.agent.context as never))
}

// The input of a child as its row keeps it, or what is wrong with what the model wrote.
const inputOf = (
  subagent: BoundSpec,
  json: Json.Json
): Effect.Effect<Result.Result<RunInput.RunInput, ReadonlyArray<string>>> =>
  Effect.provideContext(
    Effect.result(Effect.catchDefect(
      Effect.flatMap(
        subagent.input.fromModel(json),
        (value) =>
          Effect.flatMap(subagent.input.encode(value), (encoded) => {
            const written = Json.canonical(encoded)
            const input = { json: written, prompt: subagent.prompt(value, written) }
            const issues = RunInput.problems(input)
            return issues.length === 0 ? Effect.succeed(input) : Effect.fail(issues)
          })
      ),
      (defect) =>
        Effect.andThen(
          Effect.logError(`The input of the agent "${subagent.agent.id}" cannot be made`, defect),
          Effect.fail(["the value: Expected an input whose message can be made"])
        )
    )),
    subagent.agent.context as never
  )

const delegate = Effect.fnUntraced(function*(
  parent: Pick<BoundSpec, "childFailure">,
  subagent: BoundSpec,
  json: Json.Json,
  call: ToolCall,
  drive: Drive
): Effect.fn.Return<Branch, Lost> {
  const there = drive.isRecovery
    ? yield* drive.runtime.store.load(Ids.childRunId(drive.run.runId, call.key))
    : undefined
  // What was started goes on with what it was started with, whatever the schema of the input is by now.
  if (there !== undefined) {
    const { input, prompt } = there.row
    return yield* watched({ drive, call, subagent, policy: parent.childFailure, task: { json: input, prompt } })
  }
  const input = yield* inputOf(subagent, json)
  if (Result.isFailure(input)) return invalidInput(drive, input.failure.join("; "))
  // It was valid when the tree started. What a schema reads elsewhere may have changed since.
  const context = yield* Effect.result(subagent.context.inherit(drive.run.context))
  if (Result.isFailure(context)) {
    return refused(drive, "InvalidContext", "The subagent cannot read the context of the run")
  }
  const self: Task = {
    drive,
    call,
    subagent,
    policy: parent.childFailure,
    task: input.success,
    context: context.success
  }
  return yield* subagent.cache === undefined ? watched(self) : cached(self, subagent.cache)
})

const cached = Effect.fnUntraced(function*(task: Task, { keys, results }: TypedCache): Effect.fn.Return<Branch, Lost> {
  const { call, drive, subagent } = task
  const { entered, queue } = CallLine.place(drive.run.runId)
  const self = { ...task, entered }
  const id = Ids.childThreadId(drive.run.runId, call.key)
  const starting = ChildTask.starting(self, undefined)
  const surroundings = yield* Surroundings.of(subagent, starting)
  const ended = yield* results.use({
    keys: keys(JSON.parse(task.task.json), {
      tenant: starting.tenant,
      surroundings,
      budget: starting.budget,
      context: starting.context
    }),
    subagent,
    id,
    within: CallLine.of(drive.run.threadId),
    queue,
    partial: false
  }, Effect.flatMap(watched(self), (branch) => Effect.map(kept(self, branch), (keep) => ({ value: branch, keep }))))
  return ended._tag === "Ran" ? ended.value : known(self, ended.hit.json)
})

/**
 * Runs a delegated task, and shows its start and its end to whoever watches.
 *
 * @category running
 * @since 0.1.0
 */
export const watched = (self: Task): Effect.Effect<Branch, Lost> => {
  const { call, drive, task } = self
  const place = () => ({
    ...ActiveRun.origin(drive.run),
    at: drive.now(),
    key: call.key,
    toolCallId: call.part.id,
    tool: call.part.name
  })
  drive.journal.emit(() => ({ ...place(), _tag: "ToolStarted", input: shown(task.json) }))
  return Effect.tap(ChildTask.run(self), (branch) =>
    Effect.sync(() => {
      if (branch._tag !== "Done") return
      const { isError, output } = branch.result
      drive.journal.emit(() => ({ ...place(), _tag: "ToolFinished", output: output.value, isError }))
    }))
}

// A row that was edited by hand may hold anything.
const shown = (json: string): Json.Json => Result.getOrElse(Json.parse(json, json.length * 3), () => null)

const refusal = (call: ToolCall, drive: Drive): Effect.Effect<Branch> | undefined =>
  tooManyTasks(call, drive) ?? tooDeep(drive)

/**
 * Refuses a call whose position is over the run's bound on tasks.
 *
 * @category constructors
 * @since 0.1.0
 */
export const tooManyTasks = (call: ToolCall, drive: Drive): Effect.Effect<Branch> | undefined => {
  const { maxTasksPerTurn } = drive.run.limits
  return call.ordinal > maxTasksPerTurn
    ? Effect.succeed(
      refused(drive, "TooManyTasks", `A run may make ${maxTasksPerTurn} task calls; this is call ${call.ordinal}`)
    )
    : undefined
}

const tooDeep = (drive: Drive): Effect.Effect<Branch> | undefined =>
  drive.run.depthLeft < 1
    ? Effect.succeed(
      refused(drive, "DepthExceeded", `At depth ${drive.run.depth} no task may be delegated any more`)
    )
    : undefined

/**
 * Refuses a call whose input is not valid.
 *
 * @category constructors
 * @since 0.1.0
 */
export const invalidInput = (drive: Drive, problem: string): Branch =>
  refused(drive, "InvalidInput", `The input is not valid: ${problem}`)

/**
 * The branch of a refused call. Its message is cut to the run's bound.
 *
 * @category constructors
 * @since 0.1.0
 */
export const refused = (drive: Drive, reason: string, message: string): Done => ({
  _tag: "Done",
  result: { output: TaskMessage.error(reason, message, drive.run.limits.maxReportBytes), isError: true }
})

const asObject = (json: Json.Json): { readonly [key: string]: Json.Json } =>
  json !== null && typeof json === "object" && !Array.isArray(json) ? json as { readonly [key: string]: Json.Json } : {}
