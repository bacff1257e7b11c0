import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Mandate, Options } from "@mandate/core"
import { AiSdk, AiSdkRegistry } from "@mandate/providers"
import { Effect, Layer } from "effect"

const notModels: ReadonlyArray<readonly [given: string, model: unknown]> = [
  ["undefined", undefined],
  ["null", null],
  ["a string", "openai/gpt-5"],
  ["an object", {}],
  ["a function", () => ({})],
  ["an array", []]
]

describe("X09 A model of the AI SDK", () => {
  it.effect.each(notModels)(
    "X09 that is %s is a problem of every definition with AiSdk.layer",
    ([given, model]) =>
      Effect.gen(function*() {
        const error = yield* Effect.flip(AgentBuilder.make("clerk").build()).pipe(
          Effect.provide(Layer.merge(Mandate.layerMemory, AiSdk.layer(model as never)))
        )

        assert.strictEqual(error.problems[0].kind, "UnknownModel")
        assert.match(
          error.message,
          /The options of AiSdk\.layer are not valid: model (must be a language model|is required)/
        )
        if (model !== undefined) assert.include(error.message, `not ${given}`)
      })
  )

  it.effect("X09 AiSdkRegistry.layer makes options that it does not take a problem of every definition", () =>
    Effect.gen(function*() {
      for (const options of [null, 5, [], new Map(), { role: {} }, { roles: new Map() }, { gateway: "yes" }]) {
        const error = yield* Effect.flip(AgentBuilder.make("clerk").build()).pipe(
          Effect.provide(Layer.merge(Mandate.layerMemory, AiSdkRegistry.layer(options as never)))
        )
        assert.match(error.message, /The options of AiSdkRegistry\.layer are not valid: /)
      }
    }))

  it.each(notModels)("X09 that is %s is refused by AiSdk.make with InvalidOptions", (_, model) => {
    assert.throws(() => AiSdk.make(model as never), Options.InvalidOptions)
  })

  it("X09 is refused with options that are misspelt or of another kind", () => {
    const model = { specificationVersion: "v4", provider: "p", modelId: "m", doGenerate: () => ({}) } as never
    for (
      const options of [null, 5, [], new Map(), { setings: {} }, { structuredAnswers: "yes" }, { strictSchemas: "all" }]
    ) {
      assert.throws(() => AiSdk.make(model, options as never), Options.InvalidOptions)
    }
  })
})
