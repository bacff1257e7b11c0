import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import type { LanguageModelV3, LanguageModelV4 } from "@ai-sdk/provider"
import { LoadAPIKeyError } from "@ai-sdk/provider"
import { assert, describe, it } from "@effect/vitest"
import { AgentBuilder, Mandate, Message, ModelRegistry } from "@mandate/core"
import { createProviderRegistry, customProvider } from "ai"
import { MockLanguageModelV3, MockLanguageModelV4 } from "ai/test"
import { Effect, type Layer } from "effect"
import { vi } from "vitest"
import { AiSdk, AiSdkRegistry } from "../src/index.ts"
import * as Mock from "./support/Mock.ts"
import * as Requests from "./support/Requests.ts"

const model = (modelId: string, provider = "mock"): MockLanguageModelV4 =>
  new MockLanguageModelV4({ provider, modelId, doGenerate: Mock.result([{ type: "text", text: modelId }]) })

const provider = (name: string, ...ids: ReadonlyArray<string>) =>
  customProvider({ languageModels: Object.fromEntries(ids.map((id) => [id, model(id, name)])) })

/** The model that an id leads to, as `<provider>/<model>`, by way of an answer. */
const answerOf = (layer: Layer.Layer<ModelRegistry.ModelRegistry>, id?: string) =>
  Effect.gen(function*() {
    const client = yield* (yield* ModelRegistry.ModelRegistry).get(id)
    const response = yield* client.generate(Requests.make(), Requests.call)
    return `${client.provider}/${Message.text(response.parts)}`
  }).pipe(Effect.provide(layer))

const unknownOf = (layer: Layer.Layer<ModelRegistry.ModelRegistry>, id?: string) =>
  answerOf(layer, id).pipe(
    Effect.flip,
    Effect.flatMap((error) => error._tag === "UnknownModel" ? Effect.succeed(error) : Effect.die(error))
  )

describe("AiSdkRegistry with createProviderRegistry", () => {
  const registry = AiSdkRegistry.layer({
    provider: createProviderRegistry({ acme: provider("acme", "small", "org/large:7b"), zeta: provider("zeta", "m") }),
    default: "zeta/m"
  })

  it.effect("finds ids with the registry's separator and with a slash", () =>
    Effect.gen(function*() {
      assert.strictEqual(yield* answerOf(registry, "acme:small"), "acme/small")
      assert.strictEqual(yield* answerOf(registry, "acme/small"), "acme/small")
      assert.strictEqual(yield* answerOf(registry, "acme/org/large:7b"), "acme/org/large:7b")
      assert.strictEqual(yield* answerOf(registry), "zeta/m")
    }))

  it.effect("finds ids with the registry's own separator", () =>
    Effect.gen(function*() {
      const separated = AiSdkRegistry.layer({
        provider: createProviderRegistry({ acme: provider("acme", "small") }, { separator: " > " }),
        separator: " > "
      })

      assert.strictEqual(yield* answerOf(separated, "acme > small"), "acme/small")
      assert.strictEqual(yield* answerOf(separated, "acme/small"), "acme/small")
      assert.deepStrictEqual((yield* unknownOf(separated, "small")).known, ["acme/*"])
    }))

  it.effect("keeps the registry's middleware", () =>
    Effect.gen(function*() {
      const acme = provider("acme", "small")
      const layer = AiSdkRegistry.layer({
        provider: createProviderRegistry({ acme }, {
          languageModelMiddleware: {
            specificationVersion: "v4",
            transformParams: ({ params }) => Promise.resolve({ ...params, temperature: 0.5 })
          }
        })
      })

      yield* answerOf(layer, "acme/small")

      assert.strictEqual((acme.languageModel("small") as MockLanguageModelV4).doGenerateCalls[0]?.temperature, 0.5)
    }))

  it.effect("refuses ids that the registry does not know, and lists its providers", () =>
    Effect.gen(function*() {
      for (const id of ["small", "acme/large", "acme:large", "other/small", "", "constructor", "__proto__/x"]) {
        const error = yield* unknownOf(registry, id)
        assert.deepInclude(error, { modelId: id, known: ["acme/*", "zeta/*"] })
      }
      assert.strictEqual(
        (yield* unknownOf(registry, "other/small")).message,
        "There is no model \"other/small\"; known models: acme/*, zeta/*"
      )
    }))

  it.effect("takes a provider package, whose ids are its server's to know", () =>
    Effect.gen(function*() {
      const layer = AiSdkRegistry.layer({
        provider: createOpenAICompatible({ name: "local", baseURL: "http://127.0.0.1:1/v1" })
      })

      const client = yield* Effect.flatMap(ModelRegistry.ModelRegistry, ({ get }) => get("meta/llama")).pipe(
        Effect.provide(layer)
      )

      assert.deepInclude(client, { provider: "local.chat", modelId: "meta/llama" })
    }))
})

describe("AiSdkRegistry with customProvider", () => {
  const custom = customProvider({ languageModels: { fast: model("small"), "deep/one": model("large") } })

  it.effect("finds its aliases, and says what is known beside it where it cannot list", () =>
    Effect.gen(function*() {
      const layer = AiSdkRegistry.layer({ provider: custom, roles: { quick: "fast" }, models: { own: model("own") } })

      assert.strictEqual(yield* answerOf(layer, "fast"), "mock/small")
      assert.strictEqual(yield* answerOf(layer, "quick"), "mock/small")
      assert.strictEqual(yield* answerOf(layer, "deep/one"), "mock/large")
      assert.deepStrictEqual((yield* unknownOf(layer, "slow")).known, ["own", "quick"])
    }))

  it.effect("converts older models, as the AI SDK does", () =>
    Effect.gen(function*() {
      const old = new MockLanguageModelV3({
        provider: "old",
        doGenerate: Mock.result([{ type: "text", text: "three" }]) as never
      })
      const layer = AiSdkRegistry.layer({ provider: customProvider({ languageModels: { old } }) })

      assert.strictEqual(yield* answerOf(layer, "old"), "old/three")
    }))
})

describe("AiSdkRegistry", () => {
  it.effect("finds models, clients, roles and the default", () =>
    Effect.gen(function*() {
      const layer = AiSdkRegistry.layer({
        models: { one: model("one"), two: AiSdk.make(model("two")) },
        roles: { fast: "one", one: "two" },
        default: "fast"
      })

      assert.strictEqual(yield* answerOf(layer, "two"), "mock/two")
      assert.strictEqual(yield* answerOf(layer, "fast"), "mock/one")
      assert.strictEqual(yield* answerOf(layer), "mock/one")
      assert.strictEqual(yield* answerOf(layer, "one"), "mock/two", "a role wins over a model")
    }))

  it.effect("has no default unless it is given one", () =>
    Effect.gen(function*() {
      const error = yield* unknownOf(AiSdkRegistry.layer({ models: { one: model("one") } }))

      assert.strictEqual(error.message, "There is no default model; known models: one")
    }))

  it.effect("gives its settings and structured answers to AI SDK models", () =>
    Effect.gen(function*() {
      const one = model("one")
      const two = model("two")
      const layer = AiSdkRegistry.layer({
        models: { one, two: AiSdk.make(two) },
        settings: { temperature: 0.25 },
        structuredAnswers: true
      })

      yield* answerOf(layer, "one")
      yield* answerOf(layer, "two")

      assert.strictEqual(one.doGenerateCalls[0]?.temperature, 0.25)
      assert.notProperty(two.doGenerateCalls[0], "temperature")
      const client = yield* Effect.flatMap(ModelRegistry.ModelRegistry, ({ get }) => get("one")).pipe(
        Effect.provide(layer)
      )
      assert.isTrue(client.structuredAnswers)
    }))

  it.effect("asks the next model of a role's list, and of the default's", () =>
    Effect.gen(function*() {
      const bad = Mock.failing(new LoadAPIKeyError({ message: "no key" }))
      const layer = AiSdkRegistry.layer({
        models: { bad, good: model("good") },
        roles: { safe: ["bad", "good"] },
        default: ["bad", "good"]
      })

      assert.strictEqual(yield* answerOf(layer, "safe"), "mock/good")
      assert.strictEqual(yield* answerOf(layer), "mock/good")
      assert.strictEqual(bad.doGenerateCalls.length, 2)
    }))

  it.effect("passes over a model that its provider cannot make", () =>
    Effect.gen(function*() {
      const keyless = {
        languageModel: (): LanguageModelV4 => {
          throw new LoadAPIKeyError({ message: "SECRET" })
        }
      }
      const layer = AiSdkRegistry.layer({
        provider: keyless,
        models: { good: model("good") },
        roles: { safe: ["keyless/m", "good"] }
      })

      const error = yield* Effect.flip(answerOf(layer, "keyless/m"))
      assert.strictEqual(
        error.message,
        "The model unknown/keyless/m failed, authentication: the client has no API key"
      )
      assert.strictEqual(yield* answerOf(layer, "safe"), "unknown/good")
    }))

  it.effect("refuses a list with an unknown id", () =>
    Effect.gen(function*() {
      const layer = AiSdkRegistry.layer({ models: { good: model("good") }, roles: { safe: ["good", "goood"] } })

      assert.deepInclude(yield* unknownOf(layer, "safe"), { modelId: "goood", known: ["good", "safe"] })
    }))

  it.effect("refuses models of older specifications with the bridge's message", () =>
    Effect.gen(function*() {
      const old: LanguageModelV3 = new MockLanguageModelV3({ provider: "old", modelId: "m-3" })
      // @ts-expect-error Type '"v3"' is not assignable to type '"v4"'
      const layer = AiSdkRegistry.layer({ models: { old } })

      const error = yield* Effect.flip(answerOf(layer, "old"))

      assert.include(error.message, "is of v3")
      assert.include(error.message, "wrapLanguageModel")
    }))

  it.effect("serves agents", () =>
    Effect.gen(function*() {
      const agent = yield* AgentBuilder.make("clerk").withModel("fast").build()
      const { status } = yield* agent.run("go")

      assert.deepInclude(status, { _tag: "Completed", answer: "one" })
    }).pipe(
      Effect.provide([
        Mandate.layerMemory,
        AiSdkRegistry.layer({ models: { one: model("one") }, roles: { fast: "one" } })
      ])
    ))

  it.effect("counts in a run what models of a list used before they failed", () =>
    Effect.gen(function*() {
      const cut = new MockLanguageModelV4({
        doGenerate: Mock.result([], { finishReason: { unified: "error", raw: "error" } })
      })
      const layer = AiSdkRegistry.layer({ models: { cut, one: model("one") }, default: ["cut", "one"] })

      const { status, usage } = yield* Effect.flatMap(AgentBuilder.make("clerk").build(), (agent) => agent.run("go"))
        .pipe(Effect.provide([Mandate.layerMemory, layer]))

      assert.deepInclude(status, { _tag: "Completed", answer: "one" })
      assert.deepInclude(usage.own, { inputTokens: 2, outputTokens: 4, modelCalls: 1, estimated: false })
    }))

  it.effect("reports an unknown model when an agent is built", () =>
    Effect.gen(function*() {
      const error = yield* Effect.flip(AgentBuilder.make("clerk").withModel("fst").build())

      assert.include(error.message, "There is no model \"fst\"; known models: fast, one")
    }).pipe(
      Effect.provide([
        Mandate.layerMemory,
        AiSdkRegistry.layer({ models: { one: model("one") }, roles: { fast: "one" } })
      ])
    ))
})

describe("AiSdkRegistry with the gateway", () => {
  const options = { models: { own: model("own") } }

  const withGlobalProvider = <A, E>(effect: Effect.Effect<A, E>) =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        globalThis.AI_SDK_DEFAULT_PROVIDER = provider("global", "acme/large")
      }),
      () => effect,
      () =>
        Effect.sync(() => {
          globalThis.AI_SDK_DEFAULT_PROVIDER = undefined
        })
    )

  it.effect("takes plain string ids only when asked to", () =>
    withGlobalProvider(
      Effect.gen(function*() {
        assert.strictEqual((yield* unknownOf(AiSdkRegistry.layer(options), "acme/large"))._tag, "UnknownModel")

        const registry = yield* ModelRegistry.ModelRegistry
        assert.strictEqual((yield* registry.get("acme/large")).provider, "global")
        assert.strictEqual((yield* registry.get("own")).provider, "mock")
        assert.deepStrictEqual((yield* Effect.flip(registry.get("acme/small"))).known, ["own"])
      }).pipe(Effect.provide(AiSdkRegistry.layer({ ...options, gateway: true })), Effect.orDie)
    ))

  it.effect("is the AI Gateway when there is no other global provider", () =>
    Effect.gen(function*() {
      const client = yield* Effect.flatMap(ModelRegistry.ModelRegistry, ({ get }) => get("acme/large"))

      assert.deepInclude(client, { provider: "gateway", modelId: "acme/large" })
    }).pipe(Effect.provide(AiSdkRegistry.layer({ gateway: true }))))

  it.effect("fails when ai is not installed, and names it", () =>
    Effect.gen(function*() {
      vi.doMock("ai", () => {
        throw new Error("SECRET")
      })
      const error = yield* ModelRegistry.ModelRegistry.pipe(
        Effect.provide(AiSdkRegistry.layer({ gateway: true })),
        Effect.flip,
        Effect.ensuring(Effect.sync(() => vi.doUnmock("ai")))
      )

      assert.strictEqual(
        error.message,
        "The package \"ai\", which gateway: true needs, cannot be loaded; is it installed? npm install ai"
      )
    }))
})
