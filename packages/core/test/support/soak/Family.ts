/** The agents of a case, and how a run of them is started and gone on with. */
import {
  AgentBuilder,
  type AgentDefinitionError,
  type DelegateRuntime,
  type Mandate,
  type ModelRegistry,
  type Runs,
  TypedAgent
} from "@mandate/core"
import { Effect, Schedule, Schema } from "effect"
import type { AgentPlan, Case } from "./Case.ts"
import * as SoakTools from "./SoakTools.ts"

/** What a case needs of an agent, whatever its face is. */
export interface Face extends Omit<Runs.Runs<never, unknown, unknown>, "run" | "start" | "stream" | "id"> {
  readonly run: (threadId: string) => ReturnType<Runs.Runs<never, unknown, unknown>["run"]>
}

type Services = Mandate.Mandate | ModelRegistry.ModelRegistry | DelegateRuntime.DelegateRuntime

/** What typed agents and postures report. */
export const Report = Schema.Struct({ facts: Schema.Array(Schema.String) })
const Topic = Schema.Struct({ topic: Schema.String })

/** Compiles the family of a case onto the runtime in the context. */
export const bind = (
  plan: Case,
  watch: SoakTools.Watch
): Effect.Effect<Face, AgentDefinitionError.AgentDefinitionError, Services> => {
  const handlers = SoakTools.handlers(watch)
  const { root } = plan
  if (plan.face === "Agent") {
    const agent = configured(postured(AgentBuilder.make(root.id), root), root, handlers)
    return root.kind === "text"
      ? Effect.map(agent.build(), (built) => face(plan, built, "Go"))
      : Effect.map(agent.withOutput(Report).build(), (built) => face(plan, built, "Go"))
  }
  return root.kind === "text"
    ? Effect.map(textAgent(root, handlers).bind(), (bound) => face(plan, bound, { description: "Go" }))
    : Effect.map(typedAgent(root, handlers).bind(), (bound) => face(plan, bound, { topic: "Go" }))
}

const face = <I, A, O>({ tree }: Case, runs: Runs.Runs<I, A, O>, input: I): Face => ({
  ...runs,
  run: (threadId) => runs.run(input, { threadId, treeBudget: tree })
})

type Handlers = ReturnType<typeof SoakTools.handlers>

const textAgent = (plan: AgentPlan, handlers: Handlers) =>
  configured(postured(TypedAgent.text(plan.id, { description: `Does ${plan.id}` }), plan), plan, handlers)

const typedAgent = (plan: AgentPlan, handlers: Handlers) =>
  configured(
    postured(TypedAgent.make(plan.id, { description: `Does ${plan.id}`, input: Topic, report: Report }), plan),
    plan,
    handlers
  )

type Subagent = TypedAgent.TypedAgent<any, any, DelegateRuntime.DelegateRuntime>

const subagentsOf = (plan: AgentPlan, handlers: Handlers): ReadonlyArray<Subagent> =>
  plan.subagents.map((subagent) =>
    subagent.kind === "text" ? textAgent(subagent, handlers) : typedAgent(subagent, handlers)
  )

const postured = <Self>(
  definition: Self & { readonly withPostures: (options: NonNullable<AgentPlan["postures"]>) => Self },
  { postures }: AgentPlan
): Self => postures === undefined ? definition : definition.withPostures(postures)

/** The methods that both kinds of definition have, each giving its own kind. */
interface Definition<Self> {
  readonly withTools: (toolkit: typeof SoakTools.toolkit, handlers: Handlers) => Self
  readonly withSubagents: (
    subagents: ReadonlyArray<Subagent>,
    config: AgentPlan["bounds"]
  ) => Self
  readonly withMaxSteps: (maxSteps: number) => Self
  readonly withReasks: (reasks: number) => Self
  readonly withRetry: (schedule: Schedule.Schedule<unknown>) => Self
  readonly withBudget: (budget: AgentPlan["budget"]) => Self
  readonly withChildFailure: (policy: AgentPlan["policy"]) => Self
  readonly withBreakpoints: (breakpoints: AgentPlan["breakpoints"]) => Self
}

const configured = <Self extends Definition<Self>>(definition: Self, plan: AgentPlan, handlers: Handlers): Self =>
  definition.withTools(SoakTools.toolkit, handlers)
    .withSubagents(subagentsOf(plan, handlers), plan.bounds)
    .withMaxSteps(plan.maxSteps)
    .withReasks(plan.reasks)
    .withRetry(Schedule.recurs(plan.retries))
    .withBudget(plan.budget)
    .withChildFailure(plan.policy)
    .withBreakpoints(plan.breakpoints)
