import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, ToolCatalog } from "@mandate/core"
import { type Script, ScriptedModel, Step } from "@mandate/testing"
import { Context, Effect, Exit, Layer, Schema, Scope } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import * as Trees from "../support/Trees.ts"

class Desk extends Context.Service<Desk, { readonly name: string }>()("test/Desk") {}

const toolkit = Toolkit.make(Tool.make("ask", { success: Schema.String }), Tool.make("brief"))
const handlers = { ask: () => Effect.map(Desk, ({ name }) => `asked at ${name}`), brief: () => Effect.void }

const at = (name: string) => Layer.succeed(Desk, { name })
const tools = (desk: string) => ToolCatalog.layerTools(toolkit, handlers).pipe(Layer.provide(at(desk)))

const runtime = (scripts: Script.Scripts) => Layer.merge(Trees.runtime(scripts), ToolCatalog.layer)

/** What the calls of the last request were answered with. */
const answers = Effect.map(
  Effect.flatMap(ScriptedModel.ScriptedModel, (model) => model.requests),
  (requests) => Trees.outputs(requests.at(-1)!.request)
)

describe("a tool of the catalog", () => {
  it.effect("runs with the services it was added with, whichever the agent and its caller have", () =>
    Effect.gen(function*() {
      const agent = yield* AgentBuilder.make("clerk").withCatalogTools(["ask"]).build().pipe(
        Effect.provide(at("the agent's"))
      )
      yield* Effect.provide(agent.run("Go"), at("the caller's"))

      assert.deepStrictEqual(yield* answers, ["asked at the catalog's"])
    }).pipe(
      Effect.provide(tools("the catalog's")),
      Effect.provide(runtime({ clerk: [Step.calls(Step.call("ask")), Step.text("done")] }))
    ))

  it.effect("that took the place of another stays when the layer of the other ends", () =>
    Effect.gen(function*() {
      const scope = yield* Scope.make()
      yield* Layer.buildWithScope(tools("the first"), scope)
      yield* Effect.provide(ToolCatalog.add(Toolkit.make(toolkit.tools.ask), { ask: handlers.ask }), at("the second"))
      const before = yield* ToolCatalog.names
      yield* Scope.close(scope, Exit.void)
      const after = yield* ToolCatalog.names
      const agent = yield* AgentBuilder.make("clerk").withCatalogTools([]).build()
      yield* agent.run("Go")

      assert.deepStrictEqual([before, after], [["ask", "brief"], ["ask"]])
      assert.deepStrictEqual(yield* answers, ["asked at the second"])
      yield* ToolCatalog.remove("ask")
      assert.deepStrictEqual(yield* ToolCatalog.names, [])
    }).pipe(Effect.provide(runtime({ clerk: [Step.calls(Step.call("ask")), Step.text("done")] }))))
})
