import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { AiSdkEnv } from "@mandate/providers"
import { Effect } from "effect"
import { vi } from "vitest"
import * as Options from "../src/Options.ts"
import * as Files from "./support/Files.ts"
import * as InProcess from "./support/InProcess.ts"

const key = "sk-KEY-71c2"

const refused = Effect.fnUntraced(function*(environment: { readonly [name: string]: string }, problem: string) {
  const ran = yield* InProcess.run(["/none/such"], environment)

  assert.deepStrictEqual(ran, {
    exitCode: 2,
    stdout: "",
    stderr: [`link-audit: ${problem}\nRun link-audit --help for the options.`]
  })
})

it.layer(NodeServices.layer)("the model of an environment", (it) => {
  it.effect("is the scripted one where none is named, whatever else is there", () =>
    Effect.gen(function*() {
      const folder = yield* Files.write({ "a.md": "[x](gone)" })

      for (const environment of [{}, { MANDATE_MODEL: "" }, { MANDATE_MODEL: undefined, OPENAI_API_KEY: key }]) {
        const ran = yield* InProcess.run([folder], environment)

        assert.match(ran.stderr[0] ?? "", /, with the scripted model$/)
        assert.strictEqual(ran.exitCode, 1)
      }
    }))

  it.effect("comes from the given environment, not from that of the process", () =>
    Effect.gen(function*() {
      const folder = yield* Files.write({ "a.md": "" })
      vi.stubEnv("MANDATE_MODEL", "openai/m")

      const ran = yield* Effect.ensuring(InProcess.run([folder], {}), Effect.sync(() => vi.unstubAllEnvs()))

      assert.match(ran.stderr[0] ?? "", /, with the scripted model$/)
    }))

  describe("that cannot be used is wrong usage", () => {
    const missing = {
      "openai/m": "OPENAI_API_KEY",
      "openai-chat/m": "OPENAI_API_KEY",
      "anthropic/m": "ANTHROPIC_API_KEY",
      "google/m": "GOOGLE_GENERATIVE_AI_API_KEY",
      "openai-compatible/m": "OPENAI_BASE_URL"
    }
    for (const [name, variable] of Object.entries(missing)) {
      it.effect(`${name} without ${variable}`, () =>
        refused({ MANDATE_MODEL: name }, `The provider ${name.slice(0, -2)} needs ${variable}, which is not set`))
    }

    it.effect("a provider that is not known", () =>
      refused(
        { MANDATE_MODEL: "opnai/m" },
        `MANDATE_MODEL names an unknown provider "opnai"; known providers: ${AiSdkEnv.providers.join(", ")}`
      ))

    it.effect("a key in the place of a model", () =>
      refused({ MANDATE_MODEL: key }, "MANDATE_MODEL must name a model as <provider>/<model>"))

    it.effect("a key that cannot be sent", () =>
      refused(
        { MANDATE_MODEL: "google/m", GOOGLE_GENERATIVE_AI_API_KEY: `${key}\n` },
        "GOOGLE_GENERATIVE_AI_API_KEY holds a character that cannot be sent"
      ))

    it.effect("an address that is none", () =>
      refused(
        { MANDATE_MODEL: "openai-compatible/m", OPENAI_BASE_URL: `localhost:${key}` },
        "OPENAI_BASE_URL must be a URL that starts with http:// or https://"
      ))

    it.effect("a client that is not installed", () => {
      vi.doMock("@ai-sdk/google", () => {
        throw new Error(key)
      })
      return Effect.ensuring(
        refused(
          { MANDATE_MODEL: "google/m", GOOGLE_GENERATIVE_AI_API_KEY: key },
          "The package \"@ai-sdk/google\", which google needs, cannot be loaded; "
            + "is it installed? npm install @ai-sdk/google"
        ),
        Effect.sync(() => vi.doUnmock("@ai-sdk/google"))
      )
    })
  })

  it("is named in the usage, whichever client it has", () => {
    for (const provider of AiSdkEnv.providers) assert.include(Options.usage, `\n  ${provider}/<model>`)
  })
})
