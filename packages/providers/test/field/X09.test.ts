import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Mandate, Options } from "@mandate/core"
import { AiSdk, AiSdkRegistry } from "@mandate/providers"
import { Cause, Effect, Exit, Layer } from "effect"
import { leaks, notOptions } from "../../../core/test/support/NotOptions.ts"

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

  it.effect("X09 AiSdkRegistry.layer reads every model, role and list in its options", () =>
    Effect.gen(function*() {
      const target = "the id of a model, or a list of at least one, not"
      const model = "a language model of the AI SDK, or a ModelClient, not"
      const getter = Object.defineProperty({}, "fast", {
        get: () => {
          throw new Error("secret")
        },
        enumerable: true
      })
      const wrong: ReadonlyArray<readonly [says: string, options: unknown]> = [
        ...notModels.slice(1).map(([given, value]) =>
          [`models: fast must be ${model} ${given}`, { models: { fast: value } }] as const
        ),
        ...[null, 5, true, [], {}, ["a", 5], [undefined], new Map(), new Set(["a"]), Promise.resolve("a")].flatMap((
          value
        ) =>
          [[`roles: fast must be ${target}`, { roles: { fast: value } }], [
            `default must be ${target}`,
            { default: value }
          ]] as const
        ),
        ["models: fast cannot be read", { models: getter }],
        ["roles: fast cannot be read", { roles: getter }],
        ["fallback: retries must be a whole number that is not negative, not -1", { fallback: { retries: -1 } }],
        ["fallback: there is no option \"retrys\"", { fallback: { retrys: 1 } }],
        ["fallback: reasons[0] must be one of ", { fallback: { reasons: ["network-down"] } }],
        ["fallback: it must be a plain object, not null", { fallback: null }],
        ["provider must be a provider of the AI SDK, which has languageModel(id), not null", { provider: null }],
        ["provider must be a provider of the AI SDK, which has languageModel(id), not an object", { provider: {} }],
        ["separator must be a string, not 5", { separator: 5 }]
      ]
      for (const [says, options] of wrong) {
        const error = yield* Effect.flip(AgentBuilder.make("clerk").build()).pipe(
          Effect.provide(Layer.merge(Mandate.layerMemory, AiSdkRegistry.layer(options as never)))
        )
        assert.strictEqual(error.problems[0].kind, "UnknownModel")
        assert.include(error.message, says)
        assert.notInclude(error.message, "secret")
      }
    }))

  it.effect("X09 AiSdk.fromEnv dies with InvalidOptions for options that it does not take", () =>
    Effect.gen(function*() {
      const wrong: ReadonlyArray<readonly [says: RegExp, options: unknown]> = [
        ...notOptions,
        [/variable must be a string, not 5/, { variable: 5 }],
        [/variable must be a string, not null/, { variable: null }],
        [/there is no option "varaible".*did you mean "variable"/, { varaible: "MODEL" }],
        [/mediaTypes must be a list, not a string/, { mediaTypes: "image/*" }]
      ]
      for (const [says, options] of wrong) {
        const exit = yield* Effect.exit(Effect.scoped(Layer.build(AiSdk.fromEnv(options as never))))
        if (Exit.isSuccess(exit)) return assert.fail(`it took ${String(says)}`)
        const error = Cause.squash(exit.cause) as Error
        assert.instanceOf(error, Options.InvalidOptions)
        assert.match(error.message, says)
        assert.isFalse(leaks(error.message), error.message)
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
