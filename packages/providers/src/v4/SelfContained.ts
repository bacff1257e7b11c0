/**
 * Requests that hold their whole history, for models whose provider would keep
 * it otherwise.
 *
 * @since 0.1.0
 */
import type { Message } from "@mandate/core"
import type * as Failure from "./Failure.ts"

/**
 * The provider options that make a model's requests self-contained, below those
 * of the application. `undefined` for a model whose requests always are.
 *
 * **Details**
 *
 * OpenAI's responses format, also through Azure and the AI Gateway, stores each
 * response at the provider by default, and its client then sends ids in place
 * of what the model said. The provider forgets them after 30 days, and at once
 * where nothing is retained: a run that waits, or a thread, would be lost. With
 * `store: false` the client sends everything, reasoning as encrypted content.
 *
 * @category getters
 * @since 0.1.0
 */
export const options = ({ modelId, provider }: Failure.Identity): Message.ProviderMetadata | undefined => {
  const isResponses = provider.endsWith(".responses") || (provider === "gateway" && modelId.startsWith("openai/"))
  if (!isResponses) return undefined
  return provider.includes("azure") ? { openai: notStored, azure: notStored } : { openai: notStored }
}

/**
 * Whether the application's own options continue a conversation that is kept at
 * the provider. Then what is stored is its to decide.
 *
 * @category getters
 * @since 0.1.0
 */
export const continuesElsewhere = (given: Message.ProviderMetadata | undefined): boolean =>
  [given?.["openai"], given?.["azure"]].some((options) => {
    if (typeof options !== "object" || options === null || Array.isArray(options)) return false
    const { conversation, previousResponseId } = options as { readonly [name: string]: unknown }
    return (conversation ?? previousResponseId ?? null) !== null
  })

const notStored = { store: false }
