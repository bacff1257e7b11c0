/**
 * Bound subagents as tools of the Vercel AI SDK.
 *
 * @since 0.1.0
 */
import type { BoundAgent, Json, RunConfig, RunResult } from "@mandate/core"
import { ChildFailure, ErrorClass, Options, RunError } from "@mandate/core"
import * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { StandardJSONSchemaV1, StandardSchemaV1 } from "effect/StandardSchema"
import * as Stream from "effect/Stream"
import * as AgentProgress from "./AgentProgress.ts"

/**
 * A tool for `generateText`, `streamText` and agents of `ai`, whose output is a
 * report as JSON.
 *
 * **Gotchas**
 *
 * The AI SDK has one type for the output and for preliminary results, which
 * `streamText` shows: those are an {@link AgentProgress.AgentProgress} whatever
 * their type says.
 *
 * @category models
 * @since 0.1.0
 */
export interface AiSdkAgentTool<out Report = unknown> {
  readonly description: string
  readonly inputSchema: {
    readonly "~standard":
      & StandardSchemaV1.Props<unknown, Json.Json>
      & StandardJSONSchemaV1.Props<unknown, Json.Json>
  }
  readonly execute: (
    input: Json.Json,
    options: { readonly abortSignal?: AbortSignal | undefined }
  ) => AsyncIterable<Report>
}

/**
 * A report as JSON: dates, URLs and big integers are texts there. A type that
 * says nothing of its JSON is any JSON.
 *
 * @category utility types
 * @since 0.1.0
 */
export type ReportJson<A> = unknown extends A ? Json.Json
  : A extends string | number | boolean | null ? A
  : A extends Date | URL | bigint | Uint8Array ? string
  : A extends ReadonlyMap<any, any> | ReadonlySet<any> | symbol | ((...args: never) => unknown) ? Json.Json
  : A extends undefined ? null
  : A extends ReadonlyArray<any> ? { readonly [Key in keyof A]: ReportJson<A[Key]> }
  : { readonly [Key in keyof A]: ReportJson<{} extends Pick<A, Key> ? Exclude<A[Key], undefined> : A[Key]> }

/**
 * Options of a tool.
 *
 * **Details**
 *
 * - `run`: options of every run, its budget for example, and the context of a
 *   subagent that declares one
 * - `context`: where runs find their clock, tracer and loggers. Default:
 *   Effect's own
 *
 * @category models
 * @since 0.1.0
 */
export interface AgentToolOptions {
  readonly run?: Omit<RunConfig.WithContext, "threadId">
  readonly context?: Context.Context<never>
}

/**
 * A subagent gave no report. The AI SDK shows the message to the model, so it
 * holds reasons and schema paths, and none of the subagent's words.
 *
 * **Details**
 *
 * `reason` is the tag of a `ChildFailure` or of a `RunErrorReason`, or
 * `Suspended`. A defect is logged.
 *
 * @category errors
 * @since 0.1.0
 */
export class SubagentError extends ErrorClass.TaggedError<SubagentError>("~mandate/SubagentError")("SubagentError", {
  agent: Schema.String,
  reason: Schema.String,
  detail: Schema.String
}) {
  override get message(): string {
    return `The subagent "${this.agent}" gave no report (${this.reason}): ${this.detail}`
  }
}

/**
 * Makes a bound subagent a tool of the AI SDK.
 *
 * **Details**
 *
 * Each call is a run of its own with a fresh conversation. Its output is the
 * report as JSON, with its type; until then it gives its progress, which `streamText` shows
 * as preliminary results. What is not reported is thrown as a
 * {@link SubagentError}, which the AI SDK gives to its model.
 *
 * Aborting the call's signal cancels the run and everything below it, waits
 * until it has ended, and throws the signal's reason. A run that failed and
 * could be recovered is cancelled too, as nobody could name it any more.
 *
 * **Gotchas**
 *
 * A subagent that waits for an answer is cancelled: approvals cannot be
 * answered here yet.
 *
 * **Example** (A subagent in `generateText`)
 *
 * ```ts
 * import type { LanguageModelV4 } from "@ai-sdk/provider"
 * import type { BoundAgent } from "@mandate/core"
 * import { AiSdkTools } from "@mandate/providers"
 * import { generateText, isStepCount } from "ai"
 *
 * export const ask = (model: LanguageModelV4, researcher: BoundAgent.BoundAgent<{ topic: string }, unknown>) =>
 *   generateText({
 *     model,
 *     prompt: "What is known about tides?",
 *     tools: { research: AiSdkTools.toAiSdkTool(researcher) },
 *     stopWhen: isStepCount(5)
 *   })
 * ```
 *
 * Options that are not valid throw an `InvalidOptions`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const toAiSdkTool = <Report = unknown>(
  { json: agent }: Pick<BoundAgent.BoundAgent<never, Report>, "json"> & {
    readonly run?: (...args: never) => Outcome<Report>
  },
  options: AgentToolOptions = {}
): AiSdkAgentTool<ReportJson<Report>> => made(agent, Options.orThrow("AiSdkTools.toAiSdkTool", decodeOptions(options)))

// What a run takes is for the run to check, which fails its call.
const decodeOptions = Options.make<AgentToolOptions>("option", {
  run: Options.any,
  context: Options.checked("a Context of Effect", Context.isContext)
})

const made = <Report>(agent: BoundAgent.JsonAgent, options: AgentToolOptions): AiSdkAgentTool<ReportJson<Report>> => ({
  description: agent.description,
  inputSchema: {
    "~standard": {
      version: 1,
      vendor: "mandate",
      // The run decodes its input itself.
      validate: (value) => ({ value: value as Json.Json }),
      jsonSchema: {
        // The AI SDK changes what it is given.
        input: () => structuredClone(agent.inputSchema) as Record<string, unknown>,
        output: () => structuredClone(agent.inputSchema) as Record<string, unknown>
      }
    }
  },
  execute: (input, { abortSignal }) =>
    // The AI SDK takes the last element for the output.
    Stream.toAsyncIterableWith(
      endedBy(abortSignal, withoutText(agent.id, task(agent, input, options.run))),
      options.context ?? Context.empty()
    ) as AsyncIterable<ReportJson<Report>>
})

// An agent that is run by Effect or by promises.
type Outcome<Report> =
  | Effect.Effect<RunResult.TaskOutcome<Report>, unknown>
  | PromiseLike<RunResult.TaskOutcome<Report>>

const task = (
  agent: BoundAgent.JsonAgent,
  input: Json.Json,
  config: RunConfig.WithContext | undefined
): Stream.Stream<AgentProgress.AgentProgress | Json.Json, SubagentError> =>
  Stream.unwrap(Effect.gen(function*() {
    let isSettled = false
    const { await: outcome, events } = yield* Effect.acquireRelease(
      Effect.mapError(agent.start(input, config), (error) => ofRunError(agent.id, error)),
      (handle) => isSettled ? Effect.void : Effect.ignore(handle.cancel)
    )
    const report = Effect.matchEffect(outcome, {
      onFailure: (error) => Effect.fail(ofRunError(agent.id, error)),
      onSuccess: (outcome) => {
        isSettled = outcome._tag !== "Suspended"
        return reportOf(agent.id, outcome)
      }
    })
    return Stream.concat(AgentProgress.of(agent.id, events), Stream.fromEffect(report))
  }))

// The AI SDK shows a model whatever is thrown.
const withoutText = <A>(agent: string, stream: Stream.Stream<A, SubagentError>): Stream.Stream<A, SubagentError> =>
  Stream.catchCause(stream, (cause) =>
    Cause.hasDies(cause)
      ? Stream.fromEffect(Effect.andThen(
        Effect.logError(`The subagent "${agent}" could not be run`, cause),
        Effect.fail(new SubagentError({ agent, reason: "Defect", detail: "it could not be run; see the log" }))
      ))
      : Stream.failCause(cause))

const endedBy = <A, E>(signal: AbortSignal | undefined, stream: Stream.Stream<A, E>): Stream.Stream<A, unknown> => {
  if (signal === undefined) return stream
  if (signal.aborted) return Stream.suspend(() => Stream.fail(signal.reason as unknown))
  return Stream.interruptWhen(
    stream,
    Effect.callback<never, unknown>((resume) => {
      const abort = () => resume(Effect.fail(signal.reason as unknown))
      if (signal.aborted) return abort()
      signal.addEventListener("abort", abort, { once: true })
      return Effect.sync(() => signal.removeEventListener("abort", abort))
    })
  )
}

const reportOf = (
  agent: string,
  outcome: RunResult.TaskOutcome<Json.Json>
): Effect.Effect<Json.Json, SubagentError> => {
  switch (outcome._tag) {
    case "Reported":
      return Effect.succeed(outcome.report)
    case "NotReported": {
      const { failure } = outcome
      return Effect.fail(new SubagentError({ agent, reason: failure._tag, detail: ChildFailure.message(failure) }))
    }
    case "Suspended":
      return Effect.fail(
        new SubagentError({
          agent,
          reason: "Suspended",
          detail: "it waits for an answer; approvals cannot be answered here yet"
        })
      )
  }
}

// A run error's own message is for the application; a model reads this one.
const ofRunError = (agent: string, { reason }: RunError.RunError): SubagentError =>
  new SubagentError({ agent, reason: reason._tag, detail: detail(reason) })

const detail = (reason: RunError.RunErrorReason): string => {
  switch (reason._tag) {
    case "InvalidInput":
      return new RunError.RunError({ reason }).message
    case "ModelFailed":
      return ChildFailure.message({ _tag: "ModelFailed", reason: reason.reason })
    case "ToolFatal":
      return ChildFailure.message({ _tag: "ToolFatal", tool: reason.tool })
    case "ChildFailed":
      return `a subagent of its own failed: ${reason.failure._tag}`
    default:
      return "the run could not be finished"
  }
}
