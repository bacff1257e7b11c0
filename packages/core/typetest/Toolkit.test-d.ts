import { describe, expectTypeOf, it } from "@effect/vitest"
import {
  AgentBuilder,
  type Mandate,
  type ModelRegistry,
  type TaskRequest,
  ToolContext,
  TypedAgent
} from "@mandate/core"
import { Effect, Schema, type Scope } from "effect"
import * as McpClient from "effect/ai/McpClient"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { Audit, Index, type Locale, search, SearchTools } from "./support.ts"

const scribe = TypedAgent.text("scribe", { description: "Writes" })
const editor = AgentBuilder.make("editor")

declare const mcp: McpClient.McpClient
declare const Localised: Schema.Codec<Date, string, Locale, Audit>

const Note = Tool.make("note", { success: Schema.String })
const Noting = Toolkit.make(Note)
const noting = Noting.pipe(Effect.provide(Noting.toLayer({ note: () => Effect.succeed("") })))

describe("withToolkit", () => {
  it("adds nothing for a toolkit that has all it needs, plain or as an effect", () => {
    Effect.map(noting, (toolkit) => {
      expectTypeOf(editor.withToolkit(toolkit)).toEqualTypeOf<AgentBuilder.AgentBuilder<string>>()
    })
    expectTypeOf(editor.withToolkit(noting)).toEqualTypeOf<AgentBuilder.AgentBuilder<string>>()
    expectTypeOf(scribe.withToolkit(noting))
      .toEqualTypeOf<TypedAgent.TypedAgent<TaskRequest.TaskRequest, string>>()
  })

  it("takes the tools of an MCP server, whose failure is a problem of the definition", () => {
    expectTypeOf(editor.withToolkit(McpClient.toolkit(mcp))).toEqualTypeOf<AgentBuilder.AgentBuilder<string>>()
    expectTypeOf(editor.withToolkit(Effect.flatMap(McpClient.McpClient, (client) => McpClient.toolkit(client))))
      .toEqualTypeOf<AgentBuilder.AgentBuilder<string, McpClient.McpClient>>()
    expectTypeOf(editor.withToolkit(Effect.flatMap(McpClient.make({ name: "", version: "" }), McpClient.toolkit)))
      .toEqualTypeOf<AgentBuilder.AgentBuilder<string, McpClient.Transport | Scope.Scope>>()
  })

  it("adds the services of the effect, and of handlers that are left to the context", () => {
    expectTypeOf(editor.withToolkit(Effect.andThen(Audit, noting)))
      .toEqualTypeOf<AgentBuilder.AgentBuilder<string, Audit>>()
    expectTypeOf(editor.withToolkit(SearchTools))
      .toEqualTypeOf<AgentBuilder.AgentBuilder<string, Tool.Handler<"search">>>()
  })

  it("adds what tools declare to need and what their schemas need, but not what a call is given", () => {
    const Find = Tool.make("find", {
      parameters: Schema.Struct({ at: Localised }),
      success: Schema.String,
      dependencies: [Index, ToolContext.ToolContext]
    })
    const Finding = Toolkit.make(Find)
    const finding = Finding.pipe(Effect.provide(Finding.toLayer({
      find: () => Effect.as(Effect.andThen(search({ query: "" }), ToolContext.idempotencyKey), "")
    })))

    expectTypeOf(editor.withToolkit(finding)).toEqualTypeOf<AgentBuilder.AgentBuilder<string, Index | Locale>>()
  })

  it("does not take the needs of unknown tools for met", () => {
    const unknown = {} as Toolkit.WithHandler<Record<string, Tool.Any>>
    expectTypeOf(editor.withToolkit(unknown)).toEqualTypeOf<AgentBuilder.AgentBuilder<string, unknown>>()
  })

  it("binds on what is left", () => {
    expectTypeOf<Effect.Services<ReturnType<typeof bound.bind>>>()
      .toEqualTypeOf<Audit | Mandate.Mandate | ModelRegistry.ModelRegistry>()
  })

  it("does not take a toolkit without handlers as a value, handlers alone, or an effect of something else", () => {
    // @ts-expect-error Argument of type '{ tools: { readonly search: Tool.Tool<"search"
    editor.withToolkit({ tools: SearchTools.tools })
    // @ts-expect-error Argument of type '{ search: ({ query }: { readonly query: string; }) => Effect
    editor.withToolkit({ search })
    // @ts-expect-error Argument of type 'Effect<string, never, never>'
    editor.withToolkit(Effect.succeed("tools"))
  })
})

const bound = scribe.withToolkit(Effect.andThen(Audit, noting))
