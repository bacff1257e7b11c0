import { assert, describe, it } from "@effect/vitest"
import { Message, ModelRegistry } from "@mandate/core"
import { ScriptedModel } from "@mandate/testing"
import { ConfigProvider, Effect, Layer } from "effect"
import { inspect } from "node:util"
import { vi } from "vitest"
import { AiSdk, AiSdkEnv } from "../src/index.ts"
import * as FakeServer from "./support/FakeServer.ts"
import * as RefusingServer from "./support/RefusingServer.ts"
import * as Requests from "./support/Requests.ts"

const apiKey = "sk-secret-4711"

const inEnvironment = (variables: { readonly [name: string]: string }) =>
  Effect.provide(ConfigProvider.layer(ConfigProvider.fromEnvRecord(variables)))

const failureIn = (variables: { readonly [name: string]: string }, options?: AiSdkEnv.Options) =>
  AiSdkEnv.make(options).pipe(Effect.flip, inEnvironment(variables))

describe("AiSdkEnv over HTTP", () => {
  it.live("makes a chat model of a server that speaks OpenAI's format", () =>
    Effect.gen(function*() {
      const server = yield* FakeServer.start
      for (const provider of ["openai-compatible", "openai-chat"]) {
        const client = yield* AiSdkEnv.make().pipe(
          inEnvironment({ MANDATE_MODEL: `${provider}/text`, OPENAI_BASE_URL: server.url, OPENAI_API_KEY: apiKey })
        )

        const { parts } = yield* client.generate(Requests.make(), Requests.call)
        const { headers, path } = yield* server.nextRequest

        assert.strictEqual(Message.text(parts), "Hello there")
        assert.strictEqual(path, "/v1/chat/completions")
        assert.strictEqual(headers["authorization"], `Bearer ${apiKey}`)
      }
    }))

  it.live("sends no key to a compatible server when there is none, and the schema only when asked to", () =>
    Effect.gen(function*() {
      const server = yield* FakeServer.start
      const variables = { MANDATE_MODEL: "openai-compatible/text", OPENAI_BASE_URL: `${server.url}/` }
      const request = Requests.make({ answer: { name: "report", schema: { type: "object" } } })

      for (const structuredAnswers of [false, true]) {
        const client = yield* AiSdkEnv.make({ structuredAnswers }).pipe(inEnvironment(variables))
        yield* client.generate(request, Requests.call)
        const { body, headers } = yield* server.nextRequest

        assert.notProperty(headers, "authorization")
        assert.strictEqual(body["response_format"].type, structuredAnswers ? "json_schema" : "json_object")
        assert.strictEqual(client.structuredAnswers, structuredAnswers)
      }
    }))

  const cases: ReadonlyArray<readonly [string, string, string, string, string]> = [
    ["openai/gpt-5", "OPENAI", "/base/responses", "authorization", `Bearer ${apiKey}`],
    ["openai-chat/gpt-5", "OPENAI", "/base/chat/completions", "authorization", `Bearer ${apiKey}`],
    ["anthropic/claude", "ANTHROPIC", "/base/messages", "x-api-key", apiKey],
    ["google/gemini", "GOOGLE_GENERATIVE_AI", "/base/models/gemini:generateContent", "x-goog-api-key", apiKey]
  ]

  for (const [name, prefix, path, header, value] of cases) {
    it.live(`reaches the server of ${name} with its key`, () =>
      Effect.gen(function*() {
        const server = yield* RefusingServer.start
        const client = yield* AiSdkEnv.make({ settings: { temperature: 0.5 } }).pipe(
          inEnvironment({
            MANDATE_MODEL: name,
            [`${prefix}_API_KEY`]: apiKey,
            [`${prefix}_BASE_URL`]: `${server.url}/base`
          })
        )

        const error = yield* Effect.flip(client.generate(Requests.make(), Requests.call))
        const request = yield* server.nextRequest

        assert.deepInclude(error, { reason: "authentication", status: 401, modelId: name.slice(name.indexOf("/") + 1) })
        assert.strictEqual(request.path, path)
        assert.strictEqual(request.headers[header], value)
        assert.notInclude(inspect(error, { depth: null }), apiKey)
      }))
  }
})

describe("AiSdkEnv", () => {
  it.effect("is the default model of its layer, and is found by its name", () =>
    Effect.gen(function*() {
      const { get } = yield* ModelRegistry.ModelRegistry

      assert.strictEqual((yield* get(undefined)).modelId, "claude")
      assert.strictEqual((yield* get("anthropic/claude")).modelId, "claude")
      assert.deepInclude(yield* Effect.flip(get("fast")), { modelId: "fast", known: ["anthropic/claude"] })
    }).pipe(
      Effect.provide(AiSdk.fromEnv()),
      inEnvironment({ MANDATE_MODEL: "anthropic/claude", ANTHROPIC_API_KEY: apiKey })
    ))

  it.effect("lets a caller give a model where none is named", () =>
    Effect.gen(function*() {
      const client = yield* Effect.flatMap(ModelRegistry.ModelRegistry, ({ get }) => get(undefined))

      assert.strictEqual(client.provider, "scripted")
    }).pipe(
      Effect.provide(AiSdk.fromEnv().pipe(Layer.catchTag("ModelNotSet", () => ScriptedModel.layer({})))),
      inEnvironment({ MANDATE_MODEL: "" })
    ))

  it.effect("says which variable names no model, and what it could hold", () =>
    Effect.gen(function*() {
      const error = yield* failureIn({})

      assert.strictEqual(
        error.message,
        "MANDATE_MODEL is not set; it names a model as <provider>/<model>, where <provider> is one of openai, " +
          "openai-chat, anthropic, google, openai-compatible"
      )
      const other = yield* failureIn({ MANDATE_MODEL: "openai/m" }, { variable: "FAST_MODEL" })
      assert.deepInclude(other, { _tag: "ModelNotSet", variable: "FAST_MODEL" })
    }))

  it.effect("reads a variable whose name begins another's", () =>
    Effect.gen(function*() {
      const error = yield* failureIn({ MANDATE_MODEL: "openai/m", MANDATE_MODEL_FAST: "google/m" })

      assert.deepInclude(error, { _tag: "MissingVariable", variable: "OPENAI_API_KEY" })
    }))

  it.effect("names the variable that a provider needs", () =>
    Effect.gen(function*() {
      const needed = {
        "openai/m": "OPENAI_API_KEY",
        "openai-chat/m": "OPENAI_API_KEY",
        "anthropic/m": "ANTHROPIC_API_KEY",
        "google/m": "GOOGLE_GENERATIVE_AI_API_KEY",
        "openai-compatible/m": "OPENAI_BASE_URL"
      }
      for (const [name, variable] of Object.entries(needed)) {
        const error = yield* failureIn({ MANDATE_MODEL: name, [variable]: "" })

        assert.deepInclude(error, { _tag: "MissingVariable", variable })
        const provider = name.slice(0, -2)
        assert.strictEqual(error.message, `The provider ${provider} needs ${variable}, which is not set`)
      }
    }))

  it.effect("lists the known providers beside an unknown one", () =>
    Effect.gen(function*() {
      const error = yield* failureIn({ MANDATE_MODEL: "opnai/gpt-5" })

      assert.strictEqual(
        error.message,
        "MANDATE_MODEL names an unknown provider \"opnai\"; known providers: " + AiSdkEnv.providers.join(", ")
      )
    }))

  it.effect("refuses what cannot be used, and never says what it holds", () =>
    Effect.gen(function*() {
      const secret = "SECRET-1\u00e9"
      const openai = { MANDATE_MODEL: "openai/m", OPENAI_API_KEY: apiKey }
      const cases: ReadonlyArray<readonly [{ readonly [name: string]: string }, string]> = [
        [{ MANDATE_MODEL: secret }, "MANDATE_MODEL"],
        [{ MANDATE_MODEL: "openai/" }, "MANDATE_MODEL"],
        [{ MANDATE_MODEL: `openai/${secret}` }, "MANDATE_MODEL"],
        [{ MANDATE_MODEL: `${secret}/m` }, "MANDATE_MODEL"],
        [{ MANDATE_MODEL: "__proto__/m" }, "MANDATE_MODEL"],
        [{ ...openai, OPENAI_API_KEY: secret }, "OPENAI_API_KEY"],
        [{ ...openai, OPENAI_BASE_URL: secret }, "OPENAI_BASE_URL"],
        [{ ...openai, OPENAI_BASE_URL: `file:///${secret}` }, "OPENAI_BASE_URL"]
      ]
      for (const [variables, variable] of cases) {
        const error = yield* failureIn(variables)

        assert.strictEqual((error as AiSdkEnv.InvalidVariable).variable, variable)
        assert.include(["InvalidVariable", "UnknownProvider"], error._tag)
        assert.notInclude(inspect(error, { depth: null }), "SECRET")
        assert.notInclude(inspect(error, { depth: null }), apiKey)
      }
    }))

  it.effect("takes an empty value for an absent one, whatever gives the configuration", () =>
    Effect.gen(function*() {
      const failureOf = (configuration: object) =>
        AiSdkEnv.make().pipe(
          Effect.flip,
          Effect.provide(
            ConfigProvider.layer(ConfigProvider.fromUnknown(configuration, { preserveEmptyStrings: true }))
          )
        )

      assert.strictEqual((yield* failureOf({ MANDATE_MODEL: "" }))._tag, "ModelNotSet")
      const keyless = { MANDATE_MODEL: "openai/m", OPENAI_API_KEY: "" }
      assert.deepInclude(yield* failureOf(keyless), { _tag: "MissingVariable", variable: "OPENAI_API_KEY" })
    }))

  it.effect("takes nothing from the process's environment that Config does not give", () =>
    Effect.gen(function*() {
      vi.stubEnv("MANDATE_MODEL", "openai/m")
      vi.stubEnv("OPENAI_API_KEY", apiKey)
      const error = yield* Effect.ensuring(failureIn({}), Effect.sync(() => vi.unstubAllEnvs()))

      assert.strictEqual(error._tag, "ModelNotSet")
    }))

  it.effect("names the package that is not installed", () =>
    Effect.gen(function*() {
      vi.doMock("@ai-sdk/google", () => {
        throw new Error("Cannot find package SECRET")
      })
      const error = yield* Effect.ensuring(
        failureIn({ MANDATE_MODEL: "google/m", GOOGLE_GENERATIVE_AI_API_KEY: apiKey }),
        Effect.sync(() => vi.doUnmock("@ai-sdk/google"))
      )

      assert.deepInclude(error, { _tag: "PackageNotLoaded", package: "@ai-sdk/google", neededFor: "google" })
      assert.include(error.message, "npm install @ai-sdk/google")
      assert.notInclude(inspect(error, { depth: null }), "SECRET")
    }))
})
