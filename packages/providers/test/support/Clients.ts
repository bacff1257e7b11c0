/** The real clients of providers, on a server of this machine. */
import { createAnthropic } from "@ai-sdk/anthropic"
import { createGoogle } from "@ai-sdk/google"
import { createOpenAI } from "@ai-sdk/openai"
import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
import type { LanguageModelV4 } from "@ai-sdk/provider"

export const apiKey = "sk-secret-4711"

export interface Client {
  readonly name: string
  readonly model: (baseURL: string) => LanguageModelV4
}

export const clients: ReadonlyArray<Client> = [
  { name: "OpenAI responses", model: (baseURL) => createOpenAI({ baseURL, apiKey }).responses("gpt-5") },
  { name: "OpenAI chat", model: (baseURL) => createOpenAI({ baseURL, apiKey }).chat("gpt-4.1") },
  { name: "Anthropic", model: (baseURL) => createAnthropic({ baseURL, apiKey })("claude-sonnet-4-5") },
  { name: "Google", model: (baseURL) => createGoogle({ baseURL, apiKey })("gemini-2.5-pro") },
  {
    name: "OpenAI compatible",
    model: (baseURL) =>
      createOpenAICompatible({ name: "fake", baseURL, apiKey, supportsStructuredOutputs: true })("m-1")
  }
]
