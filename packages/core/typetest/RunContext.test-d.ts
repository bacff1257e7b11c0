import { type Agent, AgentBuilder, type BoundAgent, type PromiseRuntime, ToolContext, TypedAgent } from "@mandate/core"
import { type Effect, Schema } from "effect"
import { describe, expectTypeOf, it } from "vitest"

const User = Schema.Struct({ userId: Schema.String, since: Schema.Date })
type User = typeof User.Type

type Built<A> = A extends { build: () => Effect.Effect<infer B, infer _E, infer _R> } ? B : never
type Bound<A> = A extends { bind: () => Effect.Effect<infer B, infer _E, infer _R> } ? B : never

const plain = AgentBuilder.make("clerk")
const withUser = plain.withContext(User)
const scribe = TypedAgent.text("scribe", { description: "Writes" })

declare const agent: Agent.Agent<string>
declare const forUser: Agent.Agent<string, User>
declare const bound: BoundAgent.BoundAgent<{ readonly description: string }, string, User>
declare const promised: PromiseRuntime.PromiseAgent<string, User>
const context: User = { userId: "u", since: new Date(0) }

describe("the context of a run", () => {
  it("is required where the agent declares one", () => {
    forUser.run("Go", { context })
    forUser.start("Go", { context, threadId: "t" })
    bound.stream({ description: "Go" }, { context })
    promised.run("Go", { context, signal: AbortSignal.timeout(1) })
    // @ts-expect-error Expected 2 arguments
    forUser.run("Go")
    // @ts-expect-error Property 'context' is missing
    forUser.run("Go", {})
    // @ts-expect-error Type 'number' is not assignable
    forUser.run("Go", { context: { userId: 7, since: new Date(0) } })
    // @ts-expect-error Expected 2 arguments
    promised.run("Go")
  })

  it("is refused where the agent declares none", () => {
    agent.run("Go")
    agent.run("Go", { threadId: "t" })
    // @ts-expect-error 'context' does not exist
    agent.run("Go", { context })
  })

  it("is optional for callers that have JSON alone", () => {
    bound.json.run({ description: "Go" }, { context })
    bound.json.run({ description: "Go" })
  })

  it("is inferred from the schema, and kept by every method after it", () => {
    expectTypeOf<Built<typeof plain>>().toEqualTypeOf<Agent.Agent<string>>()
    expectTypeOf<Built<typeof withUser>>().toEqualTypeOf<Agent.Agent<string, User>>()
    const more = withUser.withInstructions(({ userId }) => userId).withMaxSteps(2).withSubagents([scribe])
    expectTypeOf<Built<typeof more>>().toEqualTypeOf<Agent.Agent<string, User>>()
    const child = scribe.withContext(User).withReasks(2)
    expectTypeOf<Bound<typeof child>["run"]>().parameter(1).toExtend<{ readonly context: User }>()
  })

  it("is what a function of instructions takes", () => {
    withUser.withInstructions((context) => {
      expectTypeOf(context).toEqualTypeOf<User>()
      return context.userId
    })
    // @ts-expect-error Property 'name' does not exist
    withUser.withInstructions((context) => context.name)
  })

  it("is read by a schema in a handler", () => {
    expectTypeOf(ToolContext.context(User)).toEqualTypeOf<
      Effect.Effect<User, never, ToolContext.ToolContext>
    >()
  })

  it("is no matter for what takes any subagent", () => {
    expectTypeOf(scribe.withContext(User)).toExtend<TypedAgent.Any>()
    expectTypeOf<TypedAgent.Input<ReturnType<typeof scribe.withContext<User, unknown, never, never>>>>().toEqualTypeOf<
      { readonly description: string }
    >()
  })
})
