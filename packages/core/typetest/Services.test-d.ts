import { describe, expectTypeOf, it } from "@effect/vitest"
import { AgentBuilder, ToolContext, TypedAgent } from "@mandate/core"
import { Effect, Schema, type Scope } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { Audit, Index, Locale, search, SearchTools } from "./support.ts"

const scribe = TypedAgent.text("scribe", { description: "Writes" })
const acquire = Effect.acquireRelease(Effect.void, () => Effect.void)

declare const Localised: Schema.Codec<Date, string, Locale, Audit>

describe("services of handlers", () => {
  it("adds what building the handlers needs and what each of them needs", () => {
    const handlers = Effect.map(Audit, () => ({ search }))
    const agent = scribe.withTools(SearchTools, handlers)

    expectTypeOf<TypedAgent.Services<typeof agent>>().toEqualTypeOf<Audit | Index>()
  })

  it("adds the services of each toolkit to those that are there", () => {
    const agent = scribe.withTools(SearchTools, { search }).withTools(
      Toolkit.make(Tool.make("note")),
      { note: () => Effect.asVoid(Audit) }
    )

    expectTypeOf<TypedAgent.Services<typeof agent>>().toEqualTypeOf<Audit | Index>()
  })

  it("never asks for the tool context or the scope of a call", () => {
    const Note = Tool.make("note", { success: Schema.String })
    const agent = scribe.withTools(Toolkit.make(Note), {
      note: () =>
        Effect.gen(function*() {
          yield* acquire
          yield* ToolContext.emit("note")
          const key = yield* ToolContext.idempotencyKey
          if (key === "") return yield* ToolContext.fatal("no key")
          return yield* ToolContext.once("note", Schema.String, Effect.as(acquire, key))
        })
    })

    expectTypeOf<TypedAgent.Services<typeof agent>>().toEqualTypeOf<never>()
    expectTypeOf(AgentBuilder.make("editor").withSubagents([agent])).toEqualTypeOf<AgentBuilder.AgentBuilder<string>>()
  })

  it("asks for the scope that handlers take while they are built", () => {
    const agent = scribe.withTools(SearchTools, Effect.as(acquire, { search: () => Effect.succeed([]) }))

    expectTypeOf<TypedAgent.Services<typeof agent>>().toEqualTypeOf<Scope.Scope>()
  })

  it("asks for what the tool declares as its dependency, and not for the tool context", () => {
    const Note = Tool.make("note", { success: Schema.String, dependencies: [Index, ToolContext.ToolContext] })
    const agent = scribe.withTools(Toolkit.make(Note), { note: () => Effect.as(Index, "") })

    expectTypeOf<TypedAgent.Services<typeof agent>>().toEqualTypeOf<Index>()
  })
})

describe("services of subagents", () => {
  it("are known where a subagent is written in place", () => {
    const editor = AgentBuilder.make("editor").withSubagents([
      scribe.withTools(SearchTools, { search }),
      TypedAgent.make("reader", { description: "Reads", input: Localised, report: Schema.String })
    ])
    const plain = AgentBuilder.make("editor").withSubagents([
      scribe.withTools(SearchTools, { search: () => Effect.succeed([]) })
    ])
    const nested = scribe.withSubagents([
      TypedAgent.text("clerk", { description: "Counts" }).withSubagents([
        TypedAgent.text("search", { description: "Searches" }).withTools(
          SearchTools,
          Effect.map(Audit, () => ({ search }))
        )
      ])
    ])

    expectTypeOf(editor).toEqualTypeOf<AgentBuilder.AgentBuilder<string, Index | Locale | Audit>>()
    expectTypeOf(plain).toEqualTypeOf<AgentBuilder.AgentBuilder<string>>()
    expectTypeOf<TypedAgent.Services<typeof nested>>().toEqualTypeOf<Audit | Index>()
  })
})

describe("services of schemas", () => {
  it("adds those of an input, a report and an answer, for both ways", () => {
    const input = TypedAgent.make("input", { description: "Reads", input: Localised, report: Schema.String })
    const report = TypedAgent.make("report", { description: "Reads", input: Schema.String, report: Localised })

    expectTypeOf<typeof input>().toEqualTypeOf<TypedAgent.TypedAgent<Date, string, Locale | Audit>>()
    expectTypeOf<typeof report>().toEqualTypeOf<TypedAgent.TypedAgent<string, Date, Locale | Audit>>()
    expectTypeOf(AgentBuilder.make("editor").withOutput(Localised))
      .toEqualTypeOf<AgentBuilder.AgentBuilder<Date, Locale | Audit>>()
  })

  it("adds those of a tool's schemas", () => {
    const Shift = Tool.make("shift", { parameters: Schema.Struct({ at: Localised }), success: Localised })
    const agent = scribe.withTools(Toolkit.make(Shift), { shift: ({ at }) => Effect.succeed(at) })

    expectTypeOf<TypedAgent.Services<typeof agent>>().toEqualTypeOf<Locale | Audit>()
  })

  it("adds those of what a handler records once", () => {
    const Note = Tool.make("note", { success: Schema.String })
    const agent = scribe.withTools(Toolkit.make(Note), {
      note: () => Effect.as(ToolContext.once("at", Localised, Effect.succeed(new Date(0))), "")
    })

    expectTypeOf<TypedAgent.Services<typeof agent>>().toEqualTypeOf<Locale | Audit>()
  })
})
