import { assert, describe, it } from "@effect/vitest"
import {
  AgentBuilder,
  DelegateRuntime,
  Mandate,
  ModelRegistry,
  Options,
  PostureRegistry,
  ResultCache,
  Sweep,
  ToolCatalog
} from "@mandate/core"
import { ResultCachePersistence } from "@mandate/core/persistence"
import { ScriptedModel, TestRuntime } from "@mandate/testing"
import { Cause, Effect, Exit, Layer } from "effect"
import { Persistence } from "effect/persistence"
import { leaks, notOptions } from "../support/NotOptions.ts"

const built = (layer: () => Layer.Any) => Effect.exit(Effect.scoped(Layer.build(layer() as Layer.Layer<unknown>)))

const runtime = Layer.mergeAll(TestRuntime.layer, ScriptedModel.layer({}), ToolCatalog.layer)

/** Every layer of the core that takes options, and the error that it gives for other things. */
const layers: ReadonlyArray<readonly [name: string, tag: string, layer: (options: any) => Layer.Any]> = [
  ["Mandate.layerConfig", "InvalidOptions", Mandate.layerConfig],
  ["ResultCache.layerMemory", "InvalidOptions", ResultCache.layerMemory],
  [
    "ResultCachePersistence.layer",
    "InvalidOptions",
    (options) => ResultCachePersistence.layer(options).pipe(Layer.provide(Persistence.layerBackingMemory))
  ],
  ["Sweep.layer", "InvalidOptions", (options) => Sweep.layer(options).pipe(Layer.provide(runtime))],
  ["PostureRegistry.layer", "PostureError", (options) => PostureRegistry.layer([], options)],
  [
    "DelegateRuntime.layer",
    "DelegateError",
    (options) => DelegateRuntime.layer(options).pipe(Layer.provide(Layer.merge(runtime, PostureRegistry.layer())))
  ]
]

describe("X09 A layer", () => {
  it.effect.each(layers)(
    "X09 %s names what is wrong with its options, and what it takes",
    ([, tag, layer]) =>
      Effect.gen(function*() {
        for (const [says, value] of notOptions) {
          const exit = yield* built(() => layer(value))
          if (Exit.isSuccess(exit)) return assert.fail(`it took ${String(says)}`)
          const error = Cause.squash(exit.cause) as { readonly _tag: string; readonly message: string }
          assert.strictEqual(error._tag, tag)
          assert.match(error.message, says)
          assert.isFalse(leaks(error.message), error.message)
        }
      })
  )

  it.effect("X09 ModelRegistry.layer makes what it does not take a problem of every definition", () =>
    Effect.gen(function*() {
      const aiSdkModel = { specificationVersion: "v4", provider: "openai", modelId: "gpt", doGenerate: () => ({}) }
      const wrong: ReadonlyArray<readonly [models: unknown, says: RegExp]> = [
        ...notOptions.map(([says, value]) => [value, says] as const),
        [{ default: aiSdkModel }, /default must be a ModelClient, such as AiSdk\.make\(model\) gives, not an object/],
        [{ models: { fast: aiSdkModel } }, /models\.fast must be a ModelClient, such as AiSdk\.make/],
        [{ default: "gpt-5" }, /default must be a ModelClient, .* not a string/],
        [{ default: null }, /default must be a ModelClient, .* not null/],
        [{ models: [aiSdkModel] }, /models/],
        [{ models: new Map() }, /models must be a plain object, not a Map/]
      ]
      for (const [models, says] of wrong) {
        const error = yield* Effect.flip(AgentBuilder.make("clerk").build()).pipe(
          Effect.provide(Layer.merge(TestRuntime.layer, ModelRegistry.layer(models as ModelRegistry.Models)))
        )
        assert.strictEqual(error.problems[0].kind, "UnknownModel")
        assert.match(error.message, says)
        assert.isFalse(leaks(error.message), error.message)
      }
    }))
})

describe("X09 A registry", () => {
  it.effect("X09 asked for a name of another kind fails with its own error, and names the kind", () =>
    Effect.gen(function*() {
      const postures = yield* PostureRegistry.PostureRegistry
      const models = yield* ModelRegistry.ModelRegistry
      for (const [given, name] of [["undefined", undefined], ["null", null], ["5", 5], ["a Map", new Map()]] as const) {
        const error = yield* Effect.flip(postures.get(name as never))
        assert.deepInclude(error, { _tag: "UnknownPosture", posture: given })
        if (name === undefined) continue
        const unknown = yield* Effect.flip(models.get(name as never))
        assert.deepInclude(unknown, { _tag: "UnknownModel", modelId: given })
      }
      for (const list of [null, 5, {}, "postures"]) {
        const exit = yield* built(() => PostureRegistry.layer(list as never))
        assert.isTrue(Exit.isFailure(exit))
        if (Exit.isFailure(exit)) {
          assert.match((Cause.squash(exit.cause) as Error).message, /postures: must be a list of postures, not /)
        }
      }
    }).pipe(Effect.provide(Layer.merge(PostureRegistry.layer(), ModelRegistry.layer({})))))
})

describe("X09 A plain function", () => {
  it("X09 ResultCache.memory and ResultCache.make throw InvalidOptions", () => {
    for (const [says, value] of notOptions) {
      for (
        const make of [() => ResultCache.memory(value as never), () => ResultCache.make({} as never, value as never)]
      ) {
        try {
          make()
          assert.fail(`it took ${String(says)}`)
        } catch (error) {
          assert.instanceOf(error, Options.InvalidOptions)
          assert.match((error as Error).message, says)
        }
      }
    }
  })
})
