/**
 * The providers that the environment can name, and how their clients are made.
 *
 * @since 0.1.0
 */
import type { LanguageModelV4 } from "@ai-sdk/provider"
import * as Effect from "effect/Effect"
import * as Redacted from "effect/Redacted"
import { boundedFetch } from "../v4/BoundedFetch.ts"
import * as ClientPackage from "./ClientPackage.ts"
import { type EnvError, type InvalidVariable, MissingVariable } from "./EnvError.ts"
import * as Variables from "./Variables.ts"

/**
 * Makes a model of a provider from the environment.
 *
 * @category models
 * @since 0.1.0
 */
export type EnvProvider = (
  modelId: string,
  options: { readonly structuredAnswers: boolean }
) => Effect.Effect<LanguageModelV4, EnvError>

/**
 * The providers, by the name they have in `<provider>/<model>`.
 *
 * **Details**
 *
 * Everything that a client would read from the environment by itself is given
 * to it, so that `Config` alone decides.
 *
 * @category constants
 * @since 0.1.0
 */
export const providers: ReadonlyMap<string, EnvProvider> = new Map<string, EnvProvider>([
  ["openai", (modelId) => Effect.map(openai("openai"), (client) => client.responses(modelId))],
  ["openai-chat", (modelId) => Effect.map(openai("openai-chat"), (client) => client.chat(modelId))],
  ["anthropic", (modelId) => Effect.map(anthropic, (client) => client.languageModel(modelId))],
  ["google", (modelId) => Effect.map(google, (client) => client.languageModel(modelId))],
  [
    "openai-compatible",
    (modelId, { structuredAnswers }) =>
      Effect.map(openaiCompatible(structuredAnswers), (client) => client.languageModel(modelId))
  ]
])

const fetch = boundedFetch()

const openai = Effect.fnUntraced(function*(provider: string) {
  const apiKey = yield* required(provider, "OPENAI_API_KEY", Variables.key)
  const baseURL = (yield* Variables.baseUrl("OPENAI_BASE_URL")) ?? "https://api.openai.com/v1"
  const { createOpenAI } = yield* ClientPackage.load(
    "@ai-sdk/openai",
    provider,
    () => import("@ai-sdk/openai").catch(ClientPackage.missing)
  )
  return createOpenAI({ apiKey: Redacted.value(apiKey), baseURL, fetch })
})

const anthropic = Effect.gen(function*() {
  const apiKey = yield* required("anthropic", "ANTHROPIC_API_KEY", Variables.key)
  const baseURL = (yield* Variables.baseUrl("ANTHROPIC_BASE_URL")) ?? "https://api.anthropic.com/v1"
  const { createAnthropic } = yield* ClientPackage.load(
    "@ai-sdk/anthropic",
    "anthropic",
    () => import("@ai-sdk/anthropic").catch(ClientPackage.missing)
  )
  return createAnthropic({ apiKey: Redacted.value(apiKey), baseURL, fetch })
})

const google = Effect.gen(function*() {
  const apiKey = yield* required("google", "GOOGLE_GENERATIVE_AI_API_KEY", Variables.key)
  const baseURL = yield* Variables.baseUrl("GOOGLE_GENERATIVE_AI_BASE_URL")
  const { createGoogleGenerativeAI } = yield* ClientPackage.load(
    "@ai-sdk/google",
    "google",
    () => import("@ai-sdk/google").catch(ClientPackage.missing)
  )
  return createGoogleGenerativeAI({
    apiKey: Redacted.value(apiKey),
    fetch,
    ...(baseURL === undefined ? {} : { baseURL })
  })
})

const openaiCompatible = Effect.fnUntraced(function*(supportsStructuredOutputs: boolean) {
  const baseURL = yield* required("openai-compatible", "OPENAI_BASE_URL", Variables.baseUrl)
  const apiKey = yield* Variables.key("OPENAI_API_KEY")
  const { createOpenAICompatible } = yield* ClientPackage.load(
    "@ai-sdk/openai-compatible",
    "openai-compatible",
    () => import("@ai-sdk/openai-compatible").catch(ClientPackage.missing)
  )
  return createOpenAICompatible({
    name: "openai-compatible",
    baseURL,
    supportsStructuredOutputs,
    fetch,
    ...(apiKey === undefined ? {} : { apiKey: Redacted.value(apiKey) })
  })
})

const required = <A>(
  provider: string,
  variable: string,
  read: (variable: string) => Effect.Effect<A | undefined, InvalidVariable>
): Effect.Effect<A, MissingVariable | InvalidVariable> =>
  Effect.flatMap(
    read(variable),
    (value) => value === undefined ? Effect.fail(new MissingVariable({ variable, provider })) : Effect.succeed(value)
  )
