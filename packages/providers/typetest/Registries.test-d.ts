import type { LanguageModelV3, LanguageModelV4, ProviderV4 } from "@ai-sdk/provider"
import { describe, expectTypeOf, it } from "@effect/vitest"
import type { ModelRegistry } from "@mandate/core"
import { AiSdk, type AiSdkEnv, AiSdkRegistry, EffectAi, ModelFallback } from "@mandate/providers"
import { createProviderRegistry, customProvider } from "ai"
import { Layer } from "effect"
import type { LanguageModel } from "effect/ai"

declare const model: LanguageModelV4
declare const old: LanguageModelV3
declare const provider: ProviderV4

type Models<E = never> = Layer.Layer<ModelRegistry.ModelRegistry, E>

describe("AiSdkRegistry", () => {
  it("fails only where a package is loaded", () => {
    expectTypeOf(AiSdkRegistry.layer({ provider, default: "m" })).toEqualTypeOf<Models>()
    expectTypeOf(AiSdkRegistry.layer({ gateway: false })).toEqualTypeOf<Models>()
    expectTypeOf(AiSdkRegistry.layer({ gateway: true })).toEqualTypeOf<Models<AiSdkRegistry.PackageNotLoaded>>()
  })

  it("takes what the AI SDK makes of providers and models", () => {
    AiSdkRegistry.layer({ provider: createProviderRegistry({ acme: provider }, { separator: " > " }) })
    AiSdkRegistry.layer({ provider: customProvider({ languageModels: { fast: model } }) })
  })

  it("refuses older models and empty lists", () => {
    // @ts-expect-error Type '"v3"' is not assignable to type '"v4"'
    AiSdkRegistry.layer({ models: { old } })
    // @ts-expect-error Source has 0 element(s) but target requires 1
    AiSdkRegistry.layer({ roles: { fast: [] } })
    // @ts-expect-error Source has 0 element(s) but target requires 1
    ModelFallback.make([])
  })
})

describe("AiSdkEnv", () => {
  it("loses the error that a caller answers", () => {
    const layer = AiSdk.fromEnv().pipe(Layer.catchTag("ModelNotSet", () => AiSdkRegistry.layer({ models: { model } })))

    expectTypeOf(layer).toEqualTypeOf<Models<Exclude<AiSdkEnv.EnvError, AiSdkEnv.ModelNotSet>>>()
  })
})

describe("EffectAi", () => {
  it("keeps what the model's layer needs and fails with", () => {
    const needy = null as unknown as Layer.Layer<LanguageModel.LanguageModel, Error, { readonly key: string }>

    expectTypeOf(EffectAi.layer(needy))
      .toEqualTypeOf<Layer.Layer<ModelRegistry.ModelRegistry, Error, { readonly key: string }>>()
  })
})
