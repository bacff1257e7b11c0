/**
 * One drive of one run, as the parts of the loop see it: the agent with its
 * tools, the run, and its journal. Each of the three refers to the others.
 *
 * @since 0.1.0
 */
import type * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Result from "effect/Result"
import type { AnyCodec, RetrySchedule } from "../definition/AgentSpec.ts"
import type { FormArguments } from "../definition/ArgumentsForm.ts"
import type { BreakpointCall } from "../definition/Breakpoint.ts"
import type { CorruptRow } from "../service/CorruptRow.ts"
import type { Mandate } from "../service/Mandate.ts"
import type { ModelClient } from "../service/ModelClient.ts"
import type { Fenced, StoreError } from "../service/RunStore.ts"
import type { CallKey } from "../values/Ids.ts"
import type { Json } from "../values/Json.ts"
import type { Message, ToolCallPart } from "../values/Message.ts"
import type { ModelRequest, ModelSettings, ModelTool } from "../values/ModelRequest.ts"
import type { RunUsage } from "../values/Usage.ts"
import type { ActiveRun } from "./ActiveRun.ts"
import type { Branch } from "./Branch.ts"
import type { Journal } from "./Journal.ts"
import type { TreeMeter } from "./TreeMeter.ts"

/**
 * One drive of one run.
 *
 * **Details**
 *
 * - `isRecovery`: the run had records before this drive
 * - `streaming`: models are asked in pieces where they can
 * - `now`: time in milliseconds, on the drive's clock
 * - `activeMillis`: active time of the run so far, former drives included
 * - `leaseRenewal`: asked before work starts outside of the store. Gives
 *   nothing while the lease of the run lasts by the clocks of this process.
 *   After that, an effect that renews the lease, or fails if another process
 *   has taken it
 * - `context`: the run's context, decoded; absent for an agent that declares
 *   none
 * - `meter`: what the tree of the run has spent; absent without a tree budget
 *
 * @category models
 * @since 0.1.0
 */
export interface Drive {
  readonly run: ActiveRun
  readonly agent: CompiledAgent
  readonly runtime: Mandate["Service"]
  readonly journal: Journal
  readonly context?: DeclaredContext & { readonly value: unknown }
  readonly meter: TreeMeter | undefined
  readonly isRecovery: boolean
  readonly streaming: boolean
  readonly now: () => number
  readonly activeMillis: () => number

  /** What the run and its tree have used so far, as every other process reads it. */
  readonly usage: Effect.Effect<RunUsage, StoreError | CorruptRow>
  readonly leaseRenewal: () => Effect.Effect<void, Fenced | StoreError> | undefined
}

/**
 * Decodes an answer that a model wrote as JSON and encodes it again, so that
 * what is stored is what the schema makes of it. Fails with the issues.
 *
 * @category models
 * @since 0.1.0
 */
export type AnswerCheck = (json: Json) => Effect.Effect<Result.Result<Json, ReadonlyArray<string>>>

/**
 * A typed answer: how it is checked, and how a model that gives structured
 * answers beside tools is asked for it. Without `native` the model has the
 * tool `submit_report`.
 *
 * @category models
 * @since 0.1.0
 */
export interface TypedAnswer {
  readonly check: AnswerCheck
  readonly native: ModelRequest["answer"]
}

/**
 * The context that an agent declares: its schema, how a run's is read, and the
 * instructions that depend on it.
 *
 * **Details**
 *
 * `instructions` is absent for an agent whose instructions are a text.
 *
 * @category models
 * @since 0.1.0
 */
export interface DeclaredContext {
  readonly schema: AnyCodec
  readonly decode: (json: Json | undefined) => Effect.Effect<unknown, ReadonlyArray<string>>
  readonly instructions: ((context: unknown) => string) | undefined
}

/**
 * An agent as the loop runs it: everything looked up, compiled once at bind.
 *
 * **Details**
 *
 * - `answer`: the typed answer; absent for an agent that answers in text
 * - `declares`: the context that the agent declares; absent for none
 * - `offered`: all tools as the model sees them, `submit_report` included
 *   where the typed answer is not native
 * - `refresh`: the offered tools as they are at a request; absent where they
 *   never change
 * - `maxRetryAfter`: the longest wait before a retry that a provider may ask
 *   for, in milliseconds
 * - `resultBytes`: the most bytes of the results of single tools, by name
 * - `breakpoint`: whether the run stops before a call; absent for an agent
 *   without breakpoints. Fails closed
 * - `context`: the services captured at bind. A drive sees these, and of its
 *   surroundings only the clock, the tracer, the loggers and the randomness
 *
 * @category models
 * @since 0.1.0
 */
export interface CompiledAgent {
  readonly id: string
  readonly system: Message | undefined
  readonly declares?: DeclaredContext | undefined
  readonly client: ModelClient
  readonly settings: ModelSettings
  readonly tools: ReadonlyMap<string, LoopTool>
  readonly offered: ReadonlyArray<ModelTool>
  readonly refresh: ((offered: ReadonlyArray<ModelTool>) => Effect.Effect<ReadonlyArray<ModelTool>>) | undefined
  readonly answer: TypedAnswer | undefined
  readonly resultBytes: { readonly [tool: string]: number } | undefined
  readonly breakpoint: ((call: BreakpointCall) => Effect.Effect<boolean>) | undefined
  readonly retry: RetrySchedule
  readonly maxRetryAfter: number
  readonly context: Context.Context<never>
}

/**
 * A tool as the loop runs it. To the loop a task tool is one more tool that
 * may wait.
 *
 * @category models
 * @since 0.1.0
 */
export interface LoopTool {
  readonly definition: ModelTool
  readonly isTask: boolean

  /** Decides on the form of the arguments whether a person has to approve the call. Fails closed. */
  readonly needsApproval?: ((args: Json, call: ToolCall) => Effect.Effect<boolean>) | undefined

  /** The form in which arguments are shown to a person and run; absent for a tool that nobody is asked about. */
  readonly formArguments?: FormArguments | undefined

  /** Checks a result that a person gave in place of the tool's. Gives what is wrong with it. */
  readonly checkResult?: ((result: Json) => Effect.Effect<ReadonlyArray<string>>) | undefined

  /** The most bytes of its result that the tool was given itself. */
  readonly maxResultBytes?: number | undefined

  /** Whether the call must not run a second time unless a person says so. */
  readonly isAtMostOnce?: boolean | undefined
  readonly execute: (call: ToolCall, drive: Drive) => Effect.Effect<Branch, Fenced | StoreError>
}

/**
 * One call of a tool.
 *
 * **Details**
 *
 * `ordinal` is the position of the call among the calls of task tools of its
 * run, from 1, counted over the stored messages; 0 for other tools. `order`
 * orders the calls of a run.
 *
 * @category models
 * @since 0.1.0
 */
export interface ToolCall {
  readonly key: CallKey
  readonly part: ToolCallPart
  readonly order: number
  readonly ordinal: number

  /** Whether the run has made the same call as often before as it may. */
  readonly isRepeated: boolean

  /** Called once the call is recorded, or has come to an end without a record, whatever that was. */
  readonly whenEnded: Array<() => void>
}

/**
 * Name of the tool through which a model gives a typed answer.
 *
 * @category constants
 * @since 0.1.0
 */
export const submitReport = "submit_report"
