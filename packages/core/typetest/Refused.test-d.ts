import { describe, it } from "@effect/vitest"
import {
  type Agent,
  AgentBuilder,
  type BoundAgent,
  Mandate,
  ModelRegistry,
  type RunResult,
  ToolContext,
  TypedAgent
} from "@mandate/core"
import { Effect, Layer, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { Audit, search, SearchTools } from "./support.ts"

const runtime = Layer.merge(Mandate.layerMemory, ModelRegistry.layer({}))
const Refund = Tool.make("refund", {
  success: Schema.String,
  failure: Schema.Struct({ reason: Schema.String })
})
const researcher = TypedAgent.make("researcher", {
  description: "Researches",
  input: Schema.Struct({ topic: Schema.String }),
  report: Schema.Struct({ facts: Schema.Array(Schema.String) })
})
const searcher = researcher.withTools(SearchTools, { search })
const editor = AgentBuilder.make("editor").withSubagents([searcher])

declare const agent: Agent.Agent<string>
declare const bound: BoundAgent.BoundAgent<{ readonly topic: string }, { readonly facts: ReadonlyArray<string> }>

describe("what does not compile: services", () => {
  it("running without a service that a handler needs", () => {
    // @ts-expect-error Argument of type 'Effect<Agent<string>, AgentDefinitionError, Index>'
    Effect.runPromise(editor.build().pipe(Effect.provide(runtime)))
  })

  it("running without a runtime, or without models", () => {
    // @ts-expect-error Argument of type 'Effect<BoundAgent<
    Effect.runPromise(researcher.bind())
    // @ts-expect-error Argument of type 'Effect<BoundAgent<
    Effect.runPromise(researcher.bind().pipe(Effect.provide(Mandate.layerMemory)))
    // @ts-expect-error Argument of type 'Effect<BoundAgent<
    Effect.runPromise(researcher.bind().pipe(Effect.provide(ModelRegistry.layer({}))))
  })

  it("a tool context outside a handler", () => {
    // @ts-expect-error Argument of type 'Effect<string, never, ToolContext>'
    Effect.runPromise(ToolContext.idempotencyKey)
  })

  it("a definition that needs a service where none may be needed", () => {
    // @ts-expect-error Type 'TypedAgent<
    const closed: TypedAgent.TypedAgent<{ readonly topic: string }, { readonly facts: ReadonlyArray<string> }> =
      searcher
    return closed
  })
})

describe("what does not compile: handlers", () => {
  it("a result of another type, plain or as an effect", () => {
    // @ts-expect-error Type 'Effect<number, never, never>' is not assignable to type 'Effect<readonly string[]
    researcher.withTools(SearchTools, { search: () => Effect.succeed(3) })
    // @ts-expect-error Argument of type 'Effect<{ search: () => Effect<number, never, never>; }
    researcher.withTools(SearchTools, Effect.map(Audit, () => ({ search: () => Effect.succeed(3) })))
  })

  it("a missing handler, and one without a tool", () => {
    // @ts-expect-error Argument of type '{ refund: () => Effect.Effect<string, never, never>; }'
    researcher.withTools(Toolkit.merge(SearchTools, Toolkit.make(Refund)), { refund: () => Effect.succeed("") })
    // @ts-expect-error Type '() => Effect.Effect<never[], never, never>' is not assignable to type 'never'
    researcher.withTools(SearchTools, { search: () => Effect.succeed([]), serach: () => Effect.succeed([]) })
  })

  it("a failure that its tool does not declare", () => {
    // @ts-expect-error Type 'Effect<never, string, never>' is not assignable to type 'Effect<readonly string[]
    researcher.withTools(SearchTools, { search: () => Effect.fail("no") })
    // @ts-expect-error Type 'Effect<never, { code: number; }, never>' is not assignable to type 'Effect<string, {
    researcher.withTools(Toolkit.make(Refund), { refund: () => Effect.fail({ code: 1 }) })
  })

  it("parameters that its tool does not have", () => {
    // @ts-expect-error Property 'term' does not exist on type '{ readonly query: string; }'
    researcher.withTools(SearchTools, { search: ({ term }) => Effect.succeed([term]) })
  })

  it("a handler that is no effect", () => {
    // @ts-expect-error Type 'string[]' is missing the following properties from type 'Effect<readonly string[]
    researcher.withTools(SearchTools, { search: () => ["found"] })
  })
})

describe("what does not compile: definitions", () => {
  it("an input or a report that is not a schema", () => {
    // @ts-expect-error Object literal may only specify known properties, and 'topic' does not exist in type 'Codec
    TypedAgent.make("x", { description: "", input: { topic: String }, report: Schema.String })
    // @ts-expect-error Type 'StringConstructor' is missing the following properties from type 'Codec
    TypedAgent.make("x", { description: "", input: Schema.String, report: String })
    // @ts-expect-error Type 'StringConstructor' is missing the following properties from type 'Codec
    AgentBuilder.make("x").withOutput(String)
  })

  it("a subagent without a description", () => {
    // @ts-expect-error Property 'description' is missing in type
    TypedAgent.make("x", { input: Schema.String, report: Schema.String })
    // @ts-expect-error Property 'description' is missing in type '{}'
    TypedAgent.text("x", {})
  })

  it("a builder or a bound agent where a subagent is expected", () => {
    // @ts-expect-error Type 'AgentBuilder<string, Index>' is not assignable to type 'Any'
    AgentBuilder.make("x").withSubagents([editor])
    // @ts-expect-error Type 'BoundAgent<
    AgentBuilder.make("x").withSubagents([bound])
  })

  it("misspelt bounds, limits, settings and policies", () => {
    // @ts-expect-error Object literal may only specify known properties, but 'maxDepht' does not exist
    editor.withSubagents([researcher], { maxDepht: 2 })
    // @ts-expect-error Object literal may only specify known properties, but 'maxToken' does not exist
    editor.withBudget({ maxToken: 2 })
    // @ts-expect-error Object literal may only specify known properties, but 'temprature' does not exist
    editor.withModel("fast", { temprature: 0 })
    // @ts-expect-error Object literal may only specify known properties, and 'toolFailed' does not exist
    editor.withChildFailure({ toolFailed: "fail-run" })
    // @ts-expect-error Type '"ignore"' is not assignable to type 'FailureAction'
    editor.withChildFailure({ refused: "ignore" })
  })

  it("bounds and limits of another type", () => {
    // @ts-expect-error Type 'string' is not assignable to type 'number'
    editor.withSubagents([], { maxConcurrentChildren: "4" })
    // @ts-expect-error Type '"soon"' is not assignable to type 'Input
    editor.withBudget({ timeout: "soon" })
  })

  it("an input text that reads another input", () => {
    // @ts-expect-error Property 'subject' does not exist on type '{ readonly topic: string; }'
    researcher.withInputText((input) => input.subject)
  })

  it("changing a definition in place", () => {
    // @ts-expect-error Cannot assign to 'id' because it is a read-only property
    researcher.id = "other"
    // @ts-expect-error Property 'push' does not exist on type 'readonly AgentSpec[]'
    researcher.spec.subagents.push(researcher.spec)
  })
})

describe("what does not compile: runs", () => {
  it("an input of another type, too much or too little of it", () => {
    // @ts-expect-error Type 'number' is not assignable to type 'string'
    bound.run({ topic: 1 })
    // @ts-expect-error Object literal may only specify known properties, and 'depth' does not exist in type
    bound.run({ topic: "", depth: 1 })
    // @ts-expect-error Property 'topic' is missing in type '{}'
    bound.run({})
    // @ts-expect-error Argument of type '{ topic: string; }' is not assignable to parameter of type 'string'
    agent.run({ topic: "" })
  })

  it("misspelt options", () => {
    // @ts-expect-error Object literal may only specify known properties, but 'thread' does not exist
    agent.run("Go", { thread: "t" })
  })

  it("a definition that is not built, and a build that is not run", () => {
    // @ts-expect-error Property 'run' does not exist on type 'AgentBuilder<string, Index>'
    editor.run("Go")
    // @ts-expect-error Property 'run' does not exist on type 'Effect<Agent<string>
    editor.build().run("Go")
    // @ts-expect-error Property 'run' does not exist on type 'TypedAgent<
    researcher.run({ topic: "" })
    // @ts-expect-error Property 'build' does not exist on type 'TypedAgent<
    researcher.build()
    // @ts-expect-error Property 'bind' does not exist on type 'AgentBuilder<string, Index>'
    editor.bind()
  })

  it("an answer that is read before the status is looked at", () => {
    // @ts-expect-error Property 'answer' does not exist on type 'RunStatus<string>'
    Effect.map(agent.run("Go"), (result) => result.status.answer)
    // @ts-expect-error Property 'report' does not exist on type 'TaskOutcome<
    Effect.map(bound.run({ topic: "" }), (outcome) => outcome.report)
  })

  it("a status that is not handled", () => {
    // @ts-expect-error Function lacks ending return statement and return type does not include 'undefined'
    const words = (outcome: RunResult.TaskOutcome<string>): string => {
      switch (outcome._tag) {
        case "Reported":
          return outcome.report
        case "NotReported":
          return outcome.failure._tag
      }
    }
    return words
  })

  it("a report that is used as another type", () => {
    Effect.map(bound.run({ topic: "" }), (outcome) => {
      if (outcome._tag !== "Reported") return 0
      // @ts-expect-error Property 'toFixed' does not exist on type 'readonly string[]'
      return outcome.report.facts.toFixed()
    })
  })

  it("a reason that no run fails with", () => {
    // @ts-expect-error Argument of type '"ThreadBussy"' is not assignable to parameter
    agent.run("Go").pipe(Effect.catchReason("RunError", "ThreadBussy", () => Effect.void))
  })
})
