/** AI SDK mock models for tests. */
import type { LanguageModelV4Content, LanguageModelV4GenerateResult } from "@ai-sdk/provider"
import { MockLanguageModelV4 } from "ai/test"

/** A result with the given content, and whatever differs. */
export const result = (
  content: ReadonlyArray<LanguageModelV4Content>,
  more: Partial<LanguageModelV4GenerateResult> = {}
): LanguageModelV4GenerateResult => ({
  content: [...content],
  finishReason: { unified: "stop", raw: "stop" },
  usage: {
    inputTokens: { total: 1, noCache: 1, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: 2, text: 2, reasoning: undefined }
  },
  warnings: [],
  ...more
})

/** A model that answers every call alike. */
export const answering = (
  doGenerate: LanguageModelV4GenerateResult = result([{ type: "text", text: "ok" }]),
  supportedUrls: { readonly [mediaType: string]: Array<RegExp> } = {}
): MockLanguageModelV4 => new MockLanguageModelV4({ provider: "mock", modelId: "m-1", doGenerate, supportedUrls })

/** A model whose every call fails with a value. */
export const failing = (thrown: unknown): MockLanguageModelV4 =>
  new MockLanguageModelV4({ provider: "mock", modelId: "m-1", doGenerate: () => Promise.reject(thrown) })
