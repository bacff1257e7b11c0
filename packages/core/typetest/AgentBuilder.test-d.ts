import { describe, expectTypeOf, it } from "@effect/vitest"
import {
  type Agent,
  AgentBuilder,
  type AgentDefinitionError,
  type Mandate,
  type ModelRegistry,
  type RunError,
  type RunEvent,
  type RunResult,
  type Runs,
  TypedAgent
} from "@mandate/core"
import { type Effect, Schedule, Schema, type Stream } from "effect"
import { type Index, search, SearchTools } from "./support.ts"

const Article = Schema.Struct({ title: Schema.String, at: Schema.Date })
type Article = typeof Article.Type

const researcher = TypedAgent.make("researcher", {
  description: "Researches",
  input: Schema.Struct({ topic: Schema.String }),
  report: Schema.Struct({ facts: Schema.Array(Schema.String) })
}).withTools(SearchTools, { search })
const scribe = TypedAgent.text("scribe", { description: "Writes" })

describe("AgentBuilder", () => {
  it("answers in text until it is given an output", () => {
    expectTypeOf(AgentBuilder.make("editor")).toEqualTypeOf<AgentBuilder.AgentBuilder<string>>()
    expectTypeOf(AgentBuilder.make("editor").withOutput(Article)).toEqualTypeOf<AgentBuilder.AgentBuilder<Article>>()
    expectTypeOf(AgentBuilder.make("editor").withOutput(Article).withOutput(Schema.NumberFromString))
      .toEqualTypeOf<AgentBuilder.AgentBuilder<number>>()
  })

  it("keeps answer and services in every with* that adds none", () => {
    const same = AgentBuilder.make("editor")
      .withInstructions("")
      .withModel(undefined)
      .withMaxSteps(4)
      .withReasks(0)
      .withRetry(Schedule.recurs(2))
      .withBudget({ maxToolCalls: 10 })
      .withChildFailure({ refused: "fail-run" })

    expectTypeOf(same).toEqualTypeOf<AgentBuilder.AgentBuilder<string>>()
  })

  it("adds the services of its tools and its subagents", () => {
    expectTypeOf(AgentBuilder.make("editor").withSubagents([scribe])).toEqualTypeOf<AgentBuilder.AgentBuilder<string>>()
    expectTypeOf(AgentBuilder.make("editor").withSubagents([researcher, scribe], { maxTasksPerTurn: 8 }))
      .toEqualTypeOf<AgentBuilder.AgentBuilder<string, Index>>()
    expectTypeOf(AgentBuilder.make("editor").withTools(SearchTools, { search }))
      .toEqualTypeOf<AgentBuilder.AgentBuilder<string, Index>>()
  })

  it("takes a list of subagents that was made before", () => {
    const list = [researcher, scribe]
    const mixed: ReadonlyArray<TypedAgent.Any> = list

    expectTypeOf(AgentBuilder.make("editor").withSubagents(list))
      .toEqualTypeOf<AgentBuilder.AgentBuilder<string, Index>>()
    expectTypeOf(AgentBuilder.make("editor").withSubagents(mixed))
      .toEqualTypeOf<AgentBuilder.AgentBuilder<string, unknown>>()
  })

  it("builds an agent of its answer, on the runtime and its services", () => {
    expectTypeOf(AgentBuilder.make("editor").withSubagents([researcher]).withOutput(Article).build()).toEqualTypeOf<
      Effect.Effect<
        Agent.Agent<Article>,
        AgentDefinitionError.AgentDefinitionError,
        Index | Mandate.Mandate | ModelRegistry.ModelRegistry
      >
    >()
  })

  it("can be piped", () => {
    const named = AgentBuilder.make("editor").pipe((self) => self.withOutput(Article), (self) => self.withReasks(2))

    expectTypeOf(named).toEqualTypeOf<AgentBuilder.AgentBuilder<Article>>()
  })
})

declare const agent: Agent.Agent<Article>

describe("Agent", () => {
  it("needs nothing to run, and fails with one error", () => {
    expectTypeOf(agent.run("Go")).toEqualTypeOf<Effect.Effect<RunResult.RunResult<Article>, RunError.RunError>>()
    expectTypeOf(agent.start("Go", { threadId: "t", budget: { maxTokens: 1 }, childRetention: 1 }))
      .toEqualTypeOf<Effect.Effect<Runs.RunHandle<RunResult.RunResult<Article>>, RunError.RunError>>()
    expectTypeOf(agent.stream("Go")).toEqualTypeOf<
      Stream.Stream<RunEvent.RunEvent | RunResult.RunFinished<RunResult.RunResult<Article>>, RunError.RunError>
    >()
    expectTypeOf(agent.cancel("t", { child: "t#0/0.0" })).toEqualTypeOf<Effect.Effect<void, RunError.RunError>>()
  })

  it("types the answer once the status is looked at", () => {
    const read = ({ status }: RunResult.RunResult<Article>) => {
      if (status._tag === "Completed") expectTypeOf(status.answer).toEqualTypeOf<Article>()
      if (status._tag === "BudgetExceeded") {
        expectTypeOf(status.limit).toEqualTypeOf<"tokens" | "toolCalls" | "time" | "treeTokens" | "treeToolCalls">()
      }
    }
    expectTypeOf(read).returns.toEqualTypeOf<void>()
  })

  it("says in its status what a drive can come out as, and two states more", () => {
    type Tags = Effect.Success<ReturnType<typeof agent.status>>["status"]["_tag"]

    expectTypeOf<Tags>().toEqualTypeOf<
      | "Completed"
      | "Suspended"
      | "Blocked"
      | "InvalidReport"
      | "StepLimitReached"
      | "BudgetExceeded"
      | "Cancelled"
      | "Running"
      | "Failed"
    >()
    expectTypeOf<RunResult.RunStatus<Article>["_tag"]>().toEqualTypeOf<Exclude<Tags, "Running" | "Failed">>()
  })

  it("stands for an agent that promises less", () => {
    expectTypeOf(agent).toExtend<Agent.Agent<unknown>>()
    expectTypeOf(agent).not.toExtend<Agent.Agent<string>>()
  })
})
