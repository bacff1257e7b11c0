/**
 * Providers that hold their models to a schema in the same way.
 *
 * @since 0.1.0
 */

/**
 * A family of providers.
 *
 * **Details**
 *
 * - `openai`: OpenAI, Azure, and whatever speaks their format
 * - `anthropic`: Anthropic, also through Bedrock and Vertex. No schema may
 *   refer to itself
 * - `google`: Gemini. No schema may refer to itself, and the result of a tool
 *   is an object
 *
 * @category models
 * @since 0.1.0
 */
export type Family = "openai" | "anthropic" | "google"

/**
 * The family of a model by its provider; behind a gateway, by its id. What is
 * not known is `openai`.
 *
 * @category getters
 * @since 0.1.0
 */
export const of = ({ modelId, provider }: { readonly provider: string; readonly modelId: string }): Family => {
  const name = /gateway/.test(provider) ? modelId : provider
  if (/anthropic|bedrock/.test(name)) return "anthropic"
  return /google|vertex|gemini/.test(name) ? "google" : "openai"
}
