/**
 * Chooses the model of an audit from the environment.
 */
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import type { ModelRegistry } from "@mandate/core"
import { AiSdk } from "@mandate/providers"
import { Effect, type Layer } from "effect"
import { UsageError } from "./Options.ts"
import * as ScriptedModel from "./ScriptedModel.ts"

/** The model of an audit, with a name for people. */
export interface Models {
  readonly name: string
  readonly layer: Layer.Layer<ModelRegistry.ModelRegistry>
}

/** Environment variables, as Node gives them. */
export type Environment = { readonly [name: string]: string | undefined }

const provider = "openai-compatible"

/** Reads the variables: the scripted model without `MANDATE_MODEL`, otherwise the model that it names. */
export const fromEnvironment = Effect.fnUntraced(function*(
  environment: Environment
): Effect.fn.Return<Models, UsageError> {
  const name = environment["MANDATE_MODEL"] ?? ""
  if (name === "") return { name: "the scripted model", layer: ScriptedModel.layer }
  if (!name.startsWith(`${provider}/`) || name === `${provider}/`) {
    return yield* new UsageError({
      problem: `MANDATE_MODEL must be ${provider}/<model>, got ${JSON.stringify(name)}`
    })
  }
  const baseURL = yield* required(environment, "OPENAI_BASE_URL")
  const apiKey = yield* required(environment, "OPENAI_API_KEY")
  if (!/^https?:$/.test(URL.parse(baseURL)?.protocol ?? "")) {
    return yield* new UsageError({ problem: "OPENAI_BASE_URL must be a URL that starts with http:// or https://" })
  }
  if (!/^[\x21-\x7e]+$/.test(apiKey)) {
    return yield* new UsageError({ problem: "OPENAI_API_KEY holds a character that cannot be sent" })
  }
  const model = createOpenAICompatible({ name: provider, baseURL, apiKey })(name.slice(provider.length + 1))
  return { name, layer: AiSdk.layer(model) }
})

const required = (environment: Environment, variable: string): Effect.Effect<string, UsageError> => {
  const value = environment[variable] ?? ""
  return value === ""
    ? Effect.fail(new UsageError({ problem: `MANDATE_MODEL needs ${variable}, which is not set` }))
    : Effect.succeed(value)
}
