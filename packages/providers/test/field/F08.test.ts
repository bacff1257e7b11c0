import { assert, describe, it } from "@effect/vitest"
import { Mandate, MaxResultBytes, ToolCatalog } from "@mandate/core"
import { ScriptedModel, Step } from "@mandate/testing"
import { tool } from "ai"
import { Effect, Layer, Schema } from "effect"
import * as Tool from "effect/ai/Tool"
import * as Toolkit from "effect/ai/Toolkit"
import { z } from "zod"
import { AiSdkTools, StandardTools } from "../../src/index.ts"
import * as Tools from "../support/Tools.ts"

const pages = "x".repeat(300 * 1024)
const input = z.object({})

const Page = Tool.dynamic("get", { parameters: { type: "object", properties: {} }, success: Schema.Unknown })

/** Tools from elsewhere whose result, or error, has 300 KiB. */
const sources: ReadonlyArray<readonly [what: string, toolkit: Tools.AnyToolkit, verb: string]> = [
  ["a tool of the AI SDK", AiSdkTools.from({ get: tool({ inputSchema: input, execute: async () => pages }) }), "ran"],
  [
    "a tool of the AI SDK that gives an object",
    AiSdkTools.from({ get: tool({ inputSchema: input, execute: () => ({ pages }) }) }),
    "ran"
  ],
  ["a function with a Zod schema", StandardTools.from({ get: { input, execute: () => pages } }), "ran"],
  [
    "a toolkit that carries its handlers, with a JSON Schema",
    Effect.provide(Toolkit.make(Page), Toolkit.make(Page).toLayer({ get: () => Effect.succeed([pages]) })),
    "ran"
  ]
]

describe("F08 A result of a tool from elsewhere", () => {
  it.effect.each(sources.map(([what, toolkit, verb]) => ({ what, toolkit, verb })))(
    "F08 is held to the bound of the agent: $what",
    ({ toolkit, verb }) =>
      Effect.gen(function*() {
        const { results } = yield* Tools.run(toolkit, Step.call("get", {}))
        const [isError, value] = results[0]!

        assert.isTrue(isError)
        assert.include(JSON.stringify(value), "ResultTooLarge")
        assert.include(JSON.stringify(value), `The tool ${verb} and did not fail`)
      })
  )

  it.effect.each(sources.map(([what, toolkit]) => ({ what, toolkit })))(
    "F08 may be larger where the agent says so for this tool: $what",
    ({ toolkit }) =>
      Effect.gen(function*() {
        const clerk = Tools.withToolkit(toolkit).withToolLimits({ toolResultBytes: { get: 400 * 1024 } })
        const agent = yield* clerk.build()
        yield* agent.run("Go")
        const requests = yield* (yield* ScriptedModel.ScriptedModel).requests

        assert.notInclude(JSON.stringify(requests.at(-1)?.request.messages), "ResultTooLarge")
      }).pipe(Effect.provide([
        Mandate.layerMemory,
        ScriptedModel.layer({ clerk: [Step.call("get", {}), Step.text("done")] })
      ]))
  )

  it.effect("F08 of the catalog has the bound that its tool is annotated with", () => {
    const Get = Tool.make("get", { success: Schema.String })
    const catalog = (annotated: typeof Get) =>
      ToolCatalog.layerTools(Toolkit.make(annotated), { get: () => Effect.succeed(pages) }).pipe(
        Layer.provideMerge(ToolCatalog.layer)
      )
    const read = (annotated: typeof Get) =>
      Effect.gen(function*() {
        const agent = yield* Tools.agent.withCatalogTools(["get"]).build()
        yield* agent.run("Go")
        const requests = yield* (yield* ScriptedModel.ScriptedModel).requests
        return JSON.stringify(requests.at(-1)?.request.messages).includes("ResultTooLarge")
      }).pipe(Effect.provide([
        Mandate.layerMemory,
        catalog(annotated),
        ScriptedModel.layer({ clerk: [Step.call("get", {}), Step.text("done")] })
      ]))
    return Effect.gen(function*() {
      assert.isTrue(yield* read(Get))
      assert.isFalse(yield* read(Get.annotate(MaxResultBytes, 400 * 1024)))
    })
  })
})
