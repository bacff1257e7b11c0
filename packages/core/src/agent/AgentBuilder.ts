/**
 * Definitions of agents that applications run with a text.
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
import type { StandardSchemaV1 } from "effect/StandardSchema"
import type * as Types from "effect/Types"
import * as AgentSpec from "../definition/AgentSpec.ts"
import type { Breakpoint } from "../definition/Breakpoint.ts"
import * as SpecParts from "../definition/SpecParts.ts"
import * as ToolSource from "../definition/ToolSource.ts"
import * as Bind from "../delegation/Bind.ts"
import type { DelegateRuntime } from "../delegation/DelegateService.ts"
import type { Mandate } from "../service/Mandate.ts"
import type { ModelRegistry } from "../service/ModelRegistry.ts"
import type { ToolCatalog } from "../service/ToolCatalog.ts"
import type { AgentDefinitionError } from "../values/AgentDefinitionError.ts"
import type { Budget } from "../values/Budget.ts"
import type { ChildFailurePolicy } from "../values/ChildFailure.ts"
import type { DelegationConfig } from "../values/DelegationConfig.ts"
import type { FileLimits } from "../values/FileLimits.ts"
import type { ModelError } from "../values/ModelError.ts"
import type { ModelSettings } from "../values/ModelRequest.ts"
import * as Options from "../values/Options.ts"
import * as StandardCodec from "../values/StandardCodec.ts"
import type { ToolLimits } from "../values/ToolLimits.ts"
import * as Agent from "./Agent.ts"
import type * as TypedAgent from "./TypedAgent.ts"

/**
 * Definition of an agent that answers with an `O`. `R` is what its handlers,
 * its subagents and their codecs need; it is captured when it is built.
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
export class AgentBuilder<out O, out R = never, in out C = undefined> extends Pipeable.Class {
  declare readonly "~types": {
    readonly O: Types.Covariant<O>
    readonly R: Types.Covariant<R>
    readonly C: Types.Invariant<C>
  }

  /** Id of the agent, unique in its family. */
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
   * Replaces the instructions, the system message: a text, or a function of the
   * run's context, called once for each drive of a run. Default: none.
   */
  withInstructions(instructions: string | ((context: C) => string)): AgentBuilder<O, R, C> {
    return new AgentBuilder(AgentSpec.withInstructions(this.spec, instructions))
  }

  /**
   * Declares the context that each run is given, such as whose it is: a value
   * of a schema. Tools read it with `ToolContext.context`, and instructions can
   * be a function of it; models see it nowhere else. Default: none.
   */
  withContext<A, E, RD, RE>(context: Schema.Codec<A, E, RD, RE>): AgentBuilder<O, R | RD | RE, A> {
    return new AgentBuilder(AgentSpec.update(this.spec, { context: context as AgentSpec.AnyCodec }))
  }

  /** Replaces the model, by its id in the `ModelRegistry`, and the settings of its calls. Default: the registry's. */
  withModel(modelId: string | undefined, settings: ModelSettings = {}): AgentBuilder<O, R, C> {
    return new AgentBuilder(AgentSpec.withModel(this.spec, modelId, settings))
  }

  /** Adds tools and their handlers, plain functions or an effect that gives them. */
  withTools<Tools extends Record<string, Tool.Any>, H extends ToolSource.Handlers<Tools>, E = never, RX = never>(
    toolkit: Toolkit.Toolkit<Tools>,
    handlers: (H & Record<Exclude<keyof H, keyof Tools>, never>) | Effect.Effect<H, E, RX>
  ): AgentBuilder<O, R | ToolSource.HandlersServices<H, Tools> | NoInfer<RX>, C> {
    return new AgentBuilder(AgentSpec.addTools(this.spec, ToolSource.make(toolkit, handlers)))
  }

  /**
   * Adds tools that carry their handlers, such as those of an MCP server, or
   * an effect that gives them. The effect runs when the definition is bound.
   */
  withToolkit<Tools extends Record<string, Tool.Any>, E = never, RX = never>(
    toolkit: Toolkit.WithHandler<Tools> | Effect.Effect<Toolkit.WithHandler<Tools>, E, RX>
  ): AgentBuilder<O, R | ToolSource.ToolkitServices<Tools> | RX, C> {
    return new AgentBuilder(AgentSpec.addTools(this.spec, ToolSource.fromToolkit(toolkit)))
  }

  /**
   * Replaces the tools that are taken from the `ToolCatalog` by name: each run
   * gets those that are there when it starts. An empty list allows all of
   * them. Default: none.
   */
  withCatalogTools(names: ReadonlyArray<string>): AgentBuilder<O, R | ToolCatalog, C> {
    return new AgentBuilder(SpecParts.withCatalogTools(this.spec, names))
  }

  /**
   * Adds subagents that the agent may delegate to, and bounds on its tasks:
   * each typed one as a tool `task_<id>`, all text ones through the tool `task`.
   */
  withSubagents<const A extends ReadonlyArray<TypedAgent.Any>>(
    subagents: A,
    config?: DelegationConfig
  ): AgentBuilder<O, R | TypedAgent.Services<A[number]>, C> {
    return new AgentBuilder(SpecParts.addSubagents(this.spec, subagents, config))
  }

  /**
   * Lets the agent delegate to postures, through the tool `delegate`, within
   * its bounds on tasks. Default: to none.
   */
  withPostures(options?: AgentSpec.PostureOptions): AgentBuilder<O, R | DelegateRuntime, C> {
    return new AgentBuilder(SpecParts.withPostures(this.spec, options))
  }

  /**
   * Replaces what a run stops before: calls of tools by name, task tools
   * included, or calls that a function picks. It waits there until it is told
   * to proceed. Default: nothing.
   */
  withBreakpoints(breakpoints: ReadonlyArray<Breakpoint>): AgentBuilder<O, R, C> {
    return new AgentBuilder(SpecParts.withBreakpoints(this.spec, breakpoints))
  }

  /** Replaces how many model responses a run may take. Default: 32. */
  withMaxSteps(maxSteps: number): AgentBuilder<O, R, C> {
    return new AgentBuilder(AgentSpec.update(this.spec, { maxSteps }))
  }

  /** Replaces how often an answer that does not decode is asked for again, 0 to 5. Default: 1. */
  withReasks(reasks: number): AgentBuilder<O, R, C> {
    return new AgentBuilder(AgentSpec.update(this.spec, { reasks }))
  }

  /**
   * Replaces how often a run may make one and the same call. One more is a tool
   * error, the next ends the run. Default: any number of times.
   */
  withMaxRepeats(maxRepeats: number): AgentBuilder<O, R, C> {
    return new AgentBuilder(AgentSpec.update(this.spec, { maxRepeats }))
  }

  /**
   * Sets bounds on tool calls, field by field. Default: results of 256 KiB, 128
   * calls a response, 16 handlers at once.
   */
  withToolLimits(limits: ToolLimits): AgentBuilder<O, R, C> {
    return new AgentBuilder(AgentSpec.withToolLimits(this.spec, limits))
  }

  /**
   * Replaces when failed model calls are made again, for failures that may
   * pass. Default: twice, after about half a second and a second.
   */
  withRetry(schedule: Schedule.Schedule<unknown, ModelError>): AgentBuilder<O, R, C> {
    return new AgentBuilder(AgentSpec.update(this.spec, { retry: schedule }))
  }

  /**
   * Replaces the longest wait before a retry that a provider may ask for; the
   * run fails at once with a longer one. Default: 60 seconds.
   */
  withMaxRetryAfter(duration: Duration.Input): AgentBuilder<O, R, C> {
    return new AgentBuilder(AgentSpec.withMaxRetryAfter(this.spec, duration))
  }

  /** Sets limits of a run, field by field. Default: none. */
  withBudget(budget: Budget): AgentBuilder<O, R, C> {
    return new AgentBuilder(AgentSpec.withBudget(this.spec, budget))
  }

  /**
   * Sets what happens when a child fails, field by field. Default: a fatal tool
   * of a child fails the run, anything else is an error that the model reads.
   */
  withChildFailure(policy: ChildFailurePolicy): AgentBuilder<O, R, C> {
    return new AgentBuilder(
      AgentSpec.update(this.spec, { childFailure: Options.merge(this.spec.childFailure, policy) })
    )
  }

  /**
   * Sets how many files an input may have and how large they may be, bound by
   * bound. Default: 20 files, 10 MiB a file, 20 MiB in all.
   */
  withFileLimits(limits: FileLimits): AgentBuilder<O, R, C> {
    return new AgentBuilder(AgentSpec.withFileLimits(this.spec, limits))
  }

  /**
   * Replaces the answer: a value of this schema instead of text. A Standard
   * Schema has to give a JSON Schema itself, as Zod 4 does.
   */
  withOutput<A, E, RD, RE>(output: Schema.Codec<A, E, RD, RE>): AgentBuilder<A, R | RD | RE, C>
  withOutput<Output extends StandardSchemaV1>(
    output: Output
  ): AgentBuilder<StandardSchemaV1.InferOutput<Output>, R, C>
  withOutput(output: unknown): AgentBuilder<any, any, C> {
    return new AgentBuilder(AgentSpec.update(this.spec, { report: StandardCodec.from(output) as AgentSpec.AnyCodec }))
  }

  /**
   * Compiles the definition, with its whole family, onto the runtime in the
   * context. One error lists every problem.
   */
  build(): Effect.Effect<Agent.Agent<O, C>, AgentDefinitionError, R | Mandate | ModelRegistry> {
    return Effect.map(Bind.bind(this.spec), (bound) => Agent.make<O, C>(bound))
  }
}

/**
 * Defines an agent that answers in text. `id` has 1 to 52 of `[a-zA-Z0-9_-]`.
 *
 * **Example** (An agent that delegates)
 *
 * ```ts
 * import { AgentBuilder, Mandate, TypedAgent } from "@mandate/core"
 * import { ScriptedModel, Step } from "@mandate/testing"
 * import { Effect } from "effect"
 *
 * const scribe = TypedAgent.text("scribe", { description: "Writes prose from notes" })
 * const editor = AgentBuilder.make("editor")
 *   .withInstructions("You plan, delegate and write.")
 *   .withSubagents([scribe], { maxConcurrentChildren: 2 })
 *
 * const program = Effect.gen(function*() {
 *   const agent = yield* editor.build()
 *   const { status } = yield* agent.run("Write about tides")
 *   return status._tag === "Completed" ? status.answer : status._tag
 * }).pipe(Effect.provide([
 *   Mandate.layerMemory,
 *   ScriptedModel.layer({
 *     editor: [Step.taskOf(scribe, { description: "Two lines on tides" }), Step.text("The sea rises and falls.")],
 *     scribe: [Step.text("It rises. It falls.")]
 *   })
 * ]))
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (id: string): AgentBuilder<string> =>
  new AgentBuilder(AgentSpec.make({ id, role: "agent", description: "" }))
