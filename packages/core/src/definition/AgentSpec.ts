/**
 * What an agent is, as data: the one description behind `TypedAgent` and
 * `AgentBuilder`.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type * as Schedule from "effect/Schedule"
import * as Schema from "effect/Schema"
import type { Budget } from "../values/Budget.ts"
import type { CachePolicy } from "../values/CachePolicy.ts"
import type { ChildFailurePolicy } from "../values/ChildFailure.ts"
import * as DeepFreeze from "../values/DeepFreeze.ts"
import type { DelegationConfig } from "../values/DelegationConfig.ts"
import type { FileLimits } from "../values/FileLimits.ts"
import type { ModelError } from "../values/ModelError.ts"
import type { ModelSettings } from "../values/ModelRequest.ts"
import { decode as decodeSettings } from "../values/ModelSettings.ts"
import * as Options from "../values/Options.ts"
import { defaultMaxSteps } from "../values/RunLimits.ts"
import { TaskRequest } from "../values/TaskRequest.ts"
import * as ToolLimits from "../values/ToolLimits.ts"
import * as ValueKind from "../values/ValueKind.ts"
import type { Breakpoint } from "./Breakpoint.ts"
import type { ToolSource } from "./ToolSource.ts"

/**
 * A codec whose types are erased.
 *
 * @category models
 * @since 0.1.0
 */
export type AnyCodec = Schema.Codec<any, any, unknown, unknown>

/**
 * When failed model calls are made again.
 *
 * @category models
 * @since 0.1.0
 */
export type RetrySchedule = Schedule.Schedule<unknown, ModelError>

/**
 * Which postures an agent may delegate to.
 *
 * **Details**
 *
 * - `names`: these alone, as far as they are in the registry. Default: all
 *
 * @category models
 * @since 0.1.0
 */
export interface PostureOptions {
  readonly names?: ReadonlyArray<string>
}

/**
 * Description of an agent.
 *
 * **Details**
 *
 * - `role`: a typed subagent, a text subagent, or an agent that applications
 *   run with a text
 * - `report`: codec of the answer; absent for an answer in text
 * - `inputText`: renders the input as the first message; absent for the
 *   default of the role
 * - `catalogTools`: names of the catalog's tools; empty for all of them,
 *   absent for none
 * - `postures`: which postures the agent may delegate to; absent for none
 * - `cache`: how results are cached; absent for not at all
 * - `context`: codec of the context that each run is given; absent for none
 * - `instructions`: a text, or a function of the context
 * - `instructionsOf`: the codec of the context that the function takes
 * - `files`: bounds on the files of an input, over the defaults
 * - `breakpoints`: what a run stops before
 * - `maxRepeats`: times a run may make one call; absent for any number
 * - `retry`: absent for the default schedule
 * - `refused`: what was given to a method and is not what it takes, a sentence
 *   each; a definition with any is refused when it is bound
 * - `maxRetryAfter`: the longest wait that a provider may ask for before a
 *   retry; absent for the default
 *
 * @category models
 * @since 0.1.0
 */
export interface AgentSpec {
  readonly id: string
  readonly role: "typed" | "text" | "agent"
  readonly description: string
  readonly context: AnyCodec | undefined
  readonly instructions: string | ((context: any) => string)
  readonly instructionsOf: AnyCodec | undefined
  readonly modelId: string | undefined
  readonly settings: ModelSettings
  readonly input: AnyCodec
  readonly report: AnyCodec | undefined
  readonly inputText: ((input: any) => string) | undefined
  readonly files: FileLimits
  readonly tools: ReadonlyArray<ToolSource>
  readonly catalogTools: ReadonlyArray<string> | undefined
  readonly postures: PostureOptions | undefined
  readonly cache: CachePolicy | undefined
  readonly breakpoints: ReadonlyArray<Breakpoint>
  readonly subagents: ReadonlyArray<AgentSpec>
  readonly delegation: DelegationConfig
  readonly childFailure: ChildFailurePolicy
  readonly maxSteps: number
  readonly reasks: number
  readonly maxRepeats: number | undefined
  readonly toolLimits: ToolLimits.ToolLimits
  readonly retry: RetrySchedule | undefined
  readonly maxRetryAfter: Duration.Input | undefined
  readonly budget: Budget
  readonly refused: ReadonlyArray<string>
}

/**
 * Times an answer that does not decode is asked for again by default.
 *
 * @category constants
 * @since 0.1.0
 */
export const defaultReasks = 1

/**
 * Creates a description. What a caller passes in is copied, so that changing
 * it later changes no agent.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  base: Pick<AgentSpec, "id" | "role" | "description"> & Partial<Pick<AgentSpec, "input" | "report" | "refused">>
): AgentSpec =>
  freeze({
    id: base.id,
    role: base.role,
    description: base.description,
    context: undefined,
    instructions: "",
    instructionsOf: undefined,
    modelId: undefined,
    settings: {},
    input: base.input ?? (base.role === "text" ? TaskRequest : Schema.String),
    report: base.report,
    inputText: undefined,
    files: {},
    tools: [],
    catalogTools: undefined,
    postures: undefined,
    cache: undefined,
    breakpoints: [],
    subagents: [],
    delegation: {},
    childFailure: {},
    maxSteps: defaultMaxSteps,
    reasks: defaultReasks,
    maxRepeats: undefined,
    toolLimits: {},
    retry: undefined,
    maxRetryAfter: undefined,
    budget: {},
    refused: base.refused ?? []
  })

/**
 * Replaces fields of a description.
 *
 * @category combinators
 * @since 0.1.0
 */
export const update = (self: AgentSpec, patch: Partial<AgentSpec>): AgentSpec => freeze({ ...self, ...patch })

/**
 * Replaces the instructions: a text, or a function of the context that is
 * declared by now.
 *
 * @category combinators
 * @since 0.1.0
 */
export const withInstructions = (self: AgentSpec, instructions: AgentSpec["instructions"]): AgentSpec =>
  update(self, { instructions, instructionsOf: typeof instructions === "function" ? self.context : undefined })

/**
 * Sets bounds on the files of an input, bound by bound. What is no object of
 * bounds is refused at bind.
 *
 * @category combinators
 * @since 0.1.0
 */
export const withFileLimits = (self: AgentSpec, limits: FileLimits): AgentSpec =>
  update(self, { files: ValueKind.isPlainObject(limits) ? { ...self.files, ...limits } : limits })

/**
 * Sets limits of a run, field by field.
 *
 * @category combinators
 * @since 0.1.0
 */
export const withBudget = (self: AgentSpec, budget: Budget): AgentSpec =>
  update(self, { budget: ownTimeout(Options.merge(self.budget, budget)) })

// A duration may be given as something its owner can change. What is not a duration is refused at bind.
const ownTimeout = (budget: Budget): Budget =>
  Result.getOrElse(
    Result.try(() =>
      Number.isNaN(Options.millisOf(budget.timeout))
        ? budget
        : { ...budget, timeout: Duration.fromInputUnsafe(budget.timeout!) }
    ),
    () => budget
  )

/**
 * Replaces the longest wait that a provider may ask for before a retry.
 *
 * @category combinators
 * @since 0.1.0
 */
export const withMaxRetryAfter = (self: AgentSpec, duration: Duration.Input): AgentSpec =>
  // A duration may be given as something its owner can change. What is not a duration is refused at bind.
  update(self, {
    maxRetryAfter: typeof duration === "number"
      ? duration
      : Option.getOrElse(Duration.fromInput(duration), () => duration)
  })

/**
 * Sets bounds on tool calls, field by field.
 *
 * @category combinators
 * @since 0.1.0
 */
export const withToolLimits = (self: AgentSpec, limits: ToolLimits.ToolLimits): AgentSpec =>
  update(self, { toolLimits: ToolLimits.merge(self.toolLimits, limits) })

/**
 * Adds tools after those that are there.
 *
 * @category combinators
 * @since 0.1.0
 */
export const addTools = (self: AgentSpec, source: ToolSource): AgentSpec =>
  update(self, { tools: [...self.tools, source] })

/**
 * Replaces the model and the settings of its calls.
 *
 * @category combinators
 * @since 0.1.0
 */
export const withModel = (self: AgentSpec, modelId: string | undefined, settings: ModelSettings): AgentSpec =>
  update(self, {
    modelId,
    // What is not valid may be beyond copying, and is refused at bind.
    settings: Result.isSuccess(decodeSettings(settings)) ? DeepFreeze.deepFreeze(structuredClone(settings)) : settings
  })

// Freezes the parts that are plain data; schemas, tools, schedules and effects look after themselves.
const freeze = (spec: AgentSpec): AgentSpec => {
  const { breakpoints, budget, childFailure, delegation, files, refused, settings, subagents, toolLimits, tools } = spec
  const lists = [breakpoints, refused, subagents, tools]
  for (const part of [...lists, budget, childFailure, delegation, files, settings, toolLimits]) {
    // What a caller gave in place of options is the caller's.
    Result.try(() => Array.isArray(part) || ValueKind.isPlainObject(part) ? Object.freeze(part) : part)
  }
  return Object.freeze(spec)
}
