import { describe, expectTypeOf, it } from "@effect/vitest"
import {
  AgentBuilder,
  Answer,
  Mandate,
  ModelRegistry,
  type PromiseRuns,
  PromiseRuntime,
  type RunEvent,
  type RunResult,
  TypedAgent
} from "@mandate/core"
import { Effect, Layer, Schema, type Scope } from "effect"
import { Audit, Index, search, SearchTools } from "./support.ts"

const runtime = Layer.merge(Mandate.layerMemory, ModelRegistry.layer({}))
const withIndex = Layer.merge(runtime, Layer.succeed(Index, { find: () => Effect.succeed([]) }))
const researcher = TypedAgent.make("researcher", {
  description: "Researches",
  input: Schema.Struct({ topic: Schema.String }),
  report: Schema.Struct({ at: Schema.Date })
})
const searcher = AgentBuilder.make("searcher").withTools(SearchTools, { search })

describe("PromiseRuntime", () => {
  it("has the services of its layer", () => {
    expectTypeOf(PromiseRuntime.make(runtime))
      .toEqualTypeOf<PromiseRuntime.PromiseRuntime<Mandate.Mandate | ModelRegistry.ModelRegistry | Scope.Scope>>()
    expectTypeOf(PromiseRuntime.make(withIndex)).toEqualTypeOf<
      PromiseRuntime.PromiseRuntime<Index | Mandate.Mandate | ModelRegistry.ModelRegistry | Scope.Scope>
    >()
  })

  it("builds and binds to agents of promises", () => {
    const made = PromiseRuntime.make(withIndex)
    expectTypeOf(made.build(searcher)).resolves.toEqualTypeOf<PromiseRuntime.PromiseAgent<string>>()
    expectTypeOf(made.bind(researcher)).resolves
      .toEqualTypeOf<PromiseRuntime.PromiseBoundAgent<{ readonly topic: string }, { readonly at: Date }>>()
  })

  it("types the verbs by what goes in and comes out", () => {
    const read = async (
      agent: PromiseRuntime.PromiseAgent<Date>,
      bound: PromiseRuntime.PromiseBoundAgent<{ readonly topic: string }, number>
    ) => {
      expectTypeOf(agent.run("Go", { threadId: "t", signal: new AbortController().signal }))
        .resolves.toEqualTypeOf<RunResult.RunResult<Date>>()
      expectTypeOf(agent.stream("Go"))
        .toEqualTypeOf<AsyncIterable<RunEvent.RunEvent | RunResult.RunFinished<RunResult.RunResult<Date>>>>()
      expectTypeOf(bound.run({ topic: "" })).resolves.toEqualTypeOf<RunResult.TaskOutcome<number>>()
      expectTypeOf(bound.start({ topic: "" })).resolves
        .toEqualTypeOf<PromiseRuns.PromiseHandle<RunResult.TaskOutcome<number>>>()
      expectTypeOf(agent.resume("t", [Answer.approve("0.0:approval0")])).resolves
        .toEqualTypeOf<RunResult.RunResult<Date>>()
      // @ts-expect-error Type 'number' is not assignable to type 'string'
      await bound.run({ topic: 3 })
    }
    expectTypeOf(read).not.toBeAny()
  })

  it("does not build what its layer lacks a service for, or without a runtime", () => {
    // @ts-expect-error Type 'Index' is not assignable to type
    PromiseRuntime.make(runtime).build(searcher)
    // @ts-expect-error Type 'Audit' is not assignable to type
    PromiseRuntime.make(withIndex).bind(researcher.withTools(SearchTools, Effect.map(Audit, () => ({ search }))))
    // @ts-expect-error Argument of type 'Layer<Mandate, never, never>'
    PromiseRuntime.make(Mandate.layerMemory)
    // @ts-expect-error Argument of type 'Layer<Mandate, never, RunStore>'
    PromiseRuntime.make(Layer.merge(Mandate.layer, ModelRegistry.layer({})))
  })
})
