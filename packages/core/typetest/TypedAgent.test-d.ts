import { describe, expectTypeOf, it } from "@effect/vitest"
import {
  type AgentDefinitionError,
  type BoundAgent,
  type Mandate,
  type ModelRegistry,
  type RunError,
  type RunResult,
  type TaskRequest,
  TypedAgent
} from "@mandate/core"
import { type DateTime, Effect, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { type Index, search, SearchTools } from "./support.ts"

interface Topic {
  readonly topic: string
  readonly since?: DateTime.Utc
}

interface Finding {
  readonly facts: ReadonlyArray<string>
  readonly at: DateTime.Utc
}

const researcher = TypedAgent.make("researcher", {
  description: "Researches one topic",
  input: Schema.Struct({ topic: Schema.String, since: Schema.optionalKey(Schema.DateTimeUtc) }),
  report: Schema.Struct({ facts: Schema.Array(Schema.String), at: Schema.DateTimeUtc })
})
const scribe = TypedAgent.text("scribe", { description: "Writes prose" })

describe("TypedAgent", () => {
  it("infers input and report from the schemas", () => {
    expectTypeOf<TypedAgent.Input<typeof researcher>>().toEqualTypeOf<Topic>()
    expectTypeOf<TypedAgent.Report<typeof researcher>>().toEqualTypeOf<Finding>()
    expectTypeOf<TypedAgent.Services<typeof researcher>>().toEqualTypeOf<never>()
    expectTypeOf(researcher).toEqualTypeOf<TypedAgent.TypedAgent<Topic, Finding>>()
  })

  it("gives a text subagent a task request and a report in text", () => {
    expectTypeOf(scribe).toEqualTypeOf<TypedAgent.TypedAgent<TaskRequest.TaskRequest, string>>()
    expectTypeOf<TypedAgent.Input<typeof scribe>>().toEqualTypeOf<{ readonly description: string }>()
  })

  it("keeps input, report and services in every with* that adds none", () => {
    const same = researcher
      .withInstructions("")
      .withModel("fast", { temperature: 0 })
      .withMaxSteps(4)
      .withReasks(2)
      .withBudget({ maxTokens: 10, timeout: "1 minute" })
      .withChildFailure({ toolFatal: "tool-error" })
      .withInputText((input) => input.topic)

    expectTypeOf(same).toEqualTypeOf<typeof researcher>()
  })

  it("types the input of withInputText", () => {
    researcher.withInputText((input) => {
      expectTypeOf(input).toEqualTypeOf<Topic>()
      return input.topic
    })
  })

  it("adds the services of handlers and subagents", () => {
    const searching = researcher.withTools(SearchTools, { search })
    expectTypeOf(searching).toEqualTypeOf<TypedAgent.TypedAgent<Topic, Finding, Index>>()
    expectTypeOf(scribe.withSubagents([searching, scribe]))
      .toEqualTypeOf<TypedAgent.TypedAgent<TaskRequest.TaskRequest, string, Index>>()
  })

  it("binds to an agent of its input and report, on the runtime and its services", () => {
    expectTypeOf(researcher.withTools(SearchTools, { search }).bind()).toEqualTypeOf<
      Effect.Effect<
        BoundAgent.BoundAgent<Topic, Finding>,
        AgentDefinitionError.AgentDefinitionError,
        Index | Mandate.Mandate | ModelRegistry.ModelRegistry
      >
    >()
  })

  it("takes recursive, union and JSON roots, and classes", () => {
    class Note extends Schema.Class<Note>("Note")({ text: Schema.String }) {}
    interface Tree {
      readonly children: ReadonlyArray<Tree>
    }
    const Tree = Schema.Struct({ children: Schema.Array(Schema.suspend((): Schema.Codec<Tree> => Tree)) })
    const tree = TypedAgent.make("tree", {
      description: "Draws",
      input: Schema.Union([Schema.String, Schema.Number]),
      report: Tree
    })
    const note = TypedAgent.make("note", { description: "Notes", input: Note, report: Schema.Json })

    expectTypeOf<TypedAgent.Input<typeof tree>>().toEqualTypeOf<string | number>()
    expectTypeOf<TypedAgent.Report<typeof tree>["children"][number]>().toEqualTypeOf<Tree>()
    expectTypeOf<TypedAgent.Input<typeof note>>().toEqualTypeOf<Note>()
    expectTypeOf<TypedAgent.Report<typeof note>>().toEqualTypeOf<Schema.Json>()
  })
})

declare const bound: BoundAgent.BoundAgent<Topic, Finding>

describe("BoundAgent", () => {
  it("runs on its input alone, and gives a task outcome of its report", () => {
    expectTypeOf(bound.run({ topic: "tides" }))
      .toEqualTypeOf<Effect.Effect<RunResult.TaskOutcome<Finding>, RunError.RunError>>()
    expectTypeOf(bound.recover("t"))
      .toEqualTypeOf<Effect.Effect<RunResult.TaskOutcome<Finding>, RunError.RunError>>()
    expectTypeOf(bound.forget("t")).toEqualTypeOf<Effect.Effect<void, RunError.RunError>>()
  })

  it("narrows the outcome to a report or a failure", () => {
    Effect.map(bound.run({ topic: "tides" }), (outcome) => {
      if (outcome._tag === "Reported") expectTypeOf(outcome.report).toEqualTypeOf<Finding>()
      if (outcome._tag === "NotReported") expectTypeOf(outcome.failure._tag).not.toBeAny()
    })
  })

  it("stands for one that takes less and promises less", () => {
    expectTypeOf(bound).toExtend<BoundAgent.BoundAgent<Topic & { readonly topic: "tides" }, unknown>>()
    expectTypeOf(bound).not.toExtend<BoundAgent.BoundAgent<{ readonly subject: string }, unknown>>()
    expectTypeOf(bound).not.toExtend<BoundAgent.BoundAgent<Topic, { readonly facts: number }>>()
  })
})

describe("TypedAgent variance", () => {
  it("holds a definition to its own input and report", () => {
    expectTypeOf(researcher).not.toExtend<TypedAgent.TypedAgent<Topic, unknown>>()
    expectTypeOf(researcher).not.toExtend<TypedAgent.TypedAgent<Topic & { readonly more: string }, Finding>>()
    expectTypeOf(researcher).toExtend<TypedAgent.TypedAgent<Topic, Finding, Index>>()
    expectTypeOf(researcher).toExtend<TypedAgent.Any>()
    expectTypeOf(researcher.withTools(SearchTools, { search })).not.toExtend<TypedAgent.TypedAgent<Topic, Finding>>()
  })
})

describe("handlers", () => {
  const Refund = Tool.make("refund", {
    parameters: Schema.Struct({ order: Schema.String }),
    success: Schema.NumberFromString,
    failure: Schema.Struct({ reason: Schema.String })
  })

  it("types the parameters and the context, written plainly or as an effect", () => {
    scribe.withTools(Toolkit.make(Refund), {
      refund: (params, context) => {
        expectTypeOf(params).toEqualTypeOf<{ readonly order: string }>()
        expectTypeOf(context).not.toBeAny()
        expectTypeOf(context).toEqualTypeOf<Toolkit.HandlerContext<typeof Refund>>()
        return Effect.succeed(1)
      }
    })
    const RefundTools = Toolkit.make(Refund)
    scribe.withTools(
      RefundTools,
      Effect.succeed(RefundTools.of({
        refund: (params) => {
          expectTypeOf(params).toEqualTypeOf<{ readonly order: string }>()
          return params.order === "" ? Effect.fail({ reason: "empty" }) : Effect.succeed(1)
        }
      }))
    )
    scribe.withTools(
      RefundTools,
      Effect.succeed({
        refund: (params) => {
          expectTypeOf(params).not.toBeAny()
          return Effect.succeed(1)
        }
      })
    )
  })
})
