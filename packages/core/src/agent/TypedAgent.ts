/**
 * The definition of a subagent: a typed input, a typed report. How one is made
 * is in `DefineSubagent.ts`.
 *
 * @since 0.1.0
 */
import type * as Tool from "effect/ai/Tool"
import type * as Toolkit from "effect/ai/Toolkit"
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"
import * as Pipeable from "effect/Pipeable"
import type * as Schedule from "effect/Schedule"
import type * as Schema from "effect/Schema"
import type * as Types from "effect/Types"
import * as AgentSpec from "../definition/AgentSpec.ts"
import type { Breakpoint } from "../definition/Breakpoint.ts"
import * as SpecParts from "../definition/SpecParts.ts"
import * as ToolSource from "../definition/ToolSource.ts"
import * as Bind from "../delegation/Bind.ts"
import * as BoundAgent from "../delegation/BoundAgent.ts"
import type { DelegateRuntime } from "../delegation/DelegateService.ts"
import type { Mandate } from "../service/Mandate.ts"
import type { ModelRegistry } from "../service/ModelRegistry.ts"
import type { ResultCache } from "../service/ResultCache.ts"
import type { ToolCatalog } from "../service/ToolCatalog.ts"
import type { AgentDefinitionError } from "../values/AgentDefinitionError.ts"
import type { Budget } from "../values/Budget.ts"
import type { CachePolicy } from "../values/CachePolicy.ts"
import type { ChildFailurePolicy } from "../values/ChildFailure.ts"
import type { DelegationConfig } from "../values/DelegationConfig.ts"
import type { FileLimits } from "../values/FileLimits.ts"
import type { ModelError } from "../values/ModelError.ts"
import type { ModelSettings } from "../values/ModelRequest.ts"
import * as Options from "../values/Options.ts"
import type { ToolLimits } from "../values/ToolLimits.ts"

/**
 * Definition of a subagent that takes an `I` and reports an `O`. `R` is what
 * its handlers and codecs need; it is captured when the definition is bound.
 *
 * **Details**
 *
 * A definition never changes: every `with*` method returns a new one.
 * `withTools`, `withToolkit` and `withSubagents` add to what is there, bounds,
 * budgets and policies of failures merge field by field, and every other method
 * replaces.
 *
 * @category models
 * @since 0.1.0
 */
export class TypedAgent<in out I, in out O, out R = never, in out C = undefined> extends Pipeable.Class {
  declare readonly "~types": {
    readonly I: Types.Invariant<I>
    readonly O: Types.Invariant<O>
    readonly R: Types.Covariant<R>
    readonly C: Types.Invariant<C>
  }

  /** Id of the subagent, unique in its family. */
  readonly id: string

  /** The definition as data, for code that compiles it. */
  readonly spec: AgentSpec.AgentSpec

  constructor(spec: AgentSpec.AgentSpec) {
    super()
    this.id = spec.id
    this.spec = spec
    Object.freeze(this)
  }

  /**
   * Replaces the instructions, the child's system message: a text, or a
   * function of the run's context, called once for each drive. Default: none.
   */
  withInstructions(instructions: string | ((context: C) => string)): TypedAgent<I, O, R, C> {
    return new TypedAgent(AgentSpec.withInstructions(this.spec, instructions))
  }

  /**
   * Declares the context that each run is given, by a caller or from its
   * parent's, which must be a value of this schema too. Tools read it with
   * `ToolContext.context`; models see it nowhere but in instructions. Default:
   * none.
   */
  withContext<A, E, RD, RE>(context: Schema.Codec<A, E, RD, RE>): TypedAgent<I, O, R | RD | RE, A> {
    return new TypedAgent(AgentSpec.update(this.spec, { context: context as AgentSpec.AnyCodec }))
  }

  /** Replaces the model, by its id in the `ModelRegistry`, and the settings of its calls. Default: the registry's. */
  withModel(modelId: string | undefined, settings: ModelSettings = {}): TypedAgent<I, O, R, C> {
    return new TypedAgent(AgentSpec.withModel(this.spec, modelId, settings))
  }

  /** Adds tools and their handlers, plain functions or an effect that gives them. */
  withTools<Tools extends Record<string, Tool.Any>, H extends ToolSource.Handlers<Tools>, E = never, RX = never>(
    toolkit: Toolkit.Toolkit<Tools>,
    handlers: (H & Record<Exclude<keyof H, keyof Tools>, never>) | Effect.Effect<H, E, RX>
  ): TypedAgent<I, O, R | ToolSource.HandlersServices<H, Tools> | NoInfer<RX>, C> {
    return new TypedAgent(AgentSpec.addTools(this.spec, ToolSource.make(toolkit, handlers)))
  }

  /**
   * Adds tools that carry their handlers, such as those of an MCP server, or
   * an effect that gives them. The effect runs when the definition is bound.
   */
  withToolkit<Tools extends Record<string, Tool.Any>, E = never, RX = never>(
    toolkit: Toolkit.WithHandler<Tools> | Effect.Effect<Toolkit.WithHandler<Tools>, E, RX>
  ): TypedAgent<I, O, R | ToolSource.ToolkitServices<Tools> | RX, C> {
    return new TypedAgent(AgentSpec.addTools(this.spec, ToolSource.fromToolkit(toolkit)))
  }

  /**
   * Replaces the tools that are taken from the `ToolCatalog` by name: each run
   * gets those that are there when it starts. An empty list allows all of
   * them. Default: none.
   */
  withCatalogTools(names: ReadonlyArray<string>): TypedAgent<I, O, R | ToolCatalog, C> {
    return new TypedAgent(SpecParts.withCatalogTools(this.spec, names))
  }

  /** Adds subagents that this one may delegate to, and bounds on its tasks. */
  withSubagents<const A extends ReadonlyArray<Any>>(
    subagents: A,
    config?: DelegationConfig
  ): TypedAgent<I, O, R | Services<A[number]>, C> {
    return new TypedAgent(SpecParts.addSubagents(this.spec, subagents, config))
  }

  /**
   * Lets the agent delegate to postures, through the tool `delegate`, within
   * its bounds on tasks. Default: to none.
   */
  withPostures(options?: AgentSpec.PostureOptions): TypedAgent<I, O, R | DelegateRuntime, C> {
    return new TypedAgent(SpecParts.withPostures(this.spec, options))
  }

  /**
   * Replaces what a run stops before: calls of tools by name, task tools
   * included, or calls that a function picks. It waits there until it is told
   * to proceed. Default: nothing.
   */
  withBreakpoints(breakpoints: ReadonlyArray<Breakpoint>): TypedAgent<I, O, R, C> {
    return new TypedAgent(SpecParts.withBreakpoints(this.spec, breakpoints))
  }

  /** Replaces how many model responses a run may take. Default: 32. */
  withMaxSteps(maxSteps: number): TypedAgent<I, O, R, C> {
    return new TypedAgent(AgentSpec.update(this.spec, { maxSteps }))
  }

  /** Replaces how often an answer that does not decode is asked for again, 0 to 5. Default: 1. */
  withReasks(reasks: number): TypedAgent<I, O, R, C> {
    return new TypedAgent(AgentSpec.update(this.spec, { reasks }))
  }

  /**
   * Replaces how often a run may make one and the same call. One more is a tool
   * error, the next ends the run. Default: any number of times.
   */
  withMaxRepeats(maxRepeats: number): TypedAgent<I, O, R, C> {
    return new TypedAgent(AgentSpec.update(this.spec, { maxRepeats }))
  }

  /**
   * Sets bounds on tool calls, field by field. Default: results of 256 KiB, 128
   * calls a response, 16 handlers at once.
   */
  withToolLimits(limits: ToolLimits): TypedAgent<I, O, R, C> {
    return new TypedAgent(AgentSpec.withToolLimits(this.spec, limits))
  }

  /**
   * Replaces when failed model calls are made again, for failures that may
   * pass. Default: twice, after about half a second and a second.
   */
  withRetry(schedule: Schedule.Schedule<unknown, ModelError>): TypedAgent<I, O, R, C> {
    return new TypedAgent(AgentSpec.update(this.spec, { retry: schedule }))
  }

  /**
   * Replaces the longest wait before a retry that a provider may ask for; the
   * run fails at once with a longer one. Default: 60 seconds.
   */
  withMaxRetryAfter(duration: Duration.Input): TypedAgent<I, O, R, C> {
    return new TypedAgent(AgentSpec.withMaxRetryAfter(this.spec, duration))
  }

  /** Sets limits of a run, field by field. Default: none. */
  withBudget(budget: Budget): TypedAgent<I, O, R, C> {
    return new TypedAgent(AgentSpec.withBudget(this.spec, budget))
  }

  /**
   * Sets what happens when a child fails, field by field. Default: a fatal tool
   * of a child fails the run, anything else is an error that the model reads.
   */
  withChildFailure(policy: ChildFailurePolicy): TypedAgent<I, O, R, C> {
    return new TypedAgent(AgentSpec.update(this.spec, { childFailure: Options.merge(this.spec.childFailure, policy) }))
  }

  /**
   * Replaces how the input becomes the child's first message. Default: its
   * canonical JSON under a line that names the subagent; a `TaskRequest`'s
   * description as it is.
   */
  withInputText(inputText: (input: I) => string): TypedAgent<I, O, R, C> {
    return new TypedAgent(AgentSpec.update(this.spec, { inputText }))
  }

  /**
   * Lets equal calls use each other's reports, as task calls and by `run`
   * without a thread id, from the `ResultCache`. Calls are equal when their
   * encoded inputs are, and nothing of the definition that is data differs;
   * `version` stands for what is code. Default: not cached.
   */
  withCache(policy?: CachePolicy): TypedAgent<I, O, R | ResultCache, C> {
    return new TypedAgent(AgentSpec.update(this.spec, { cache: Options.merge({}, policy) }))
  }

  /**
   * Sets how many files the input of a text subagent may have and how large
   * they may be, bound by bound. Default: 20 files, 10 MiB a file, 20 MiB in
   * all.
   */
  withFileLimits(limits: FileLimits): TypedAgent<I, O, R, C> {
    return new TypedAgent(AgentSpec.withFileLimits(this.spec, limits))
  }

  /** Compiles the definition, with its whole family, onto the runtime in the context. */
  bind(): Effect.Effect<BoundAgent.BoundAgent<I, O, C>, AgentDefinitionError, R | Mandate | ModelRegistry> {
    return Effect.map(Bind.bind(this.spec), (bound) => BoundAgent.make<I, O, C>(bound))
  }
}

/**
 * Any subagent, for code that does not depend on its input or report.
 *
 * @category models
 * @since 0.1.0
 */
// `unknown` for the services: `any` would let a missing service pass unseen.
export type Any = TypedAgent<any, any, unknown, any>

/**
 * Input type of a subagent.
 *
 * @category utility types
 * @since 0.1.0
 */
export type Input<A> = A extends TypedAgent<infer I, infer _O, infer _R, infer _C> ? I : never

/**
 * Report type of a subagent.
 *
 * @category utility types
 * @since 0.1.0
 */
export type Report<A> = A extends TypedAgent<infer _I, infer O, infer _R, infer _C> ? O : never

/**
 * Services that a subagent needs when it is bound.
 *
 * @category utility types
 * @since 0.1.0
 */
export type Services<A> = A extends TypedAgent<infer _I, infer _O, infer R, infer _C> ? R : never
