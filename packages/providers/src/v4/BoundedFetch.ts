/**
 * A `fetch` whose response bodies are bounded.
 *
 * @since 0.1.0
 */

/**
 * The largest response body that is read by default: 67 108 864 bytes (64 MiB).
 *
 * @category constants
 * @since 0.1.0
 */
export const maxResponseBytes = 64 * 1024 * 1024

/**
 * Makes a `fetch` for the clients of AI SDK providers that reads at most
 * `maxBytes` bytes of a response, whole or streamed, before the client parses
 * it. Default: {@link maxResponseBytes}.
 *
 * **Details**
 *
 * The clients themselves read a body to its end, whatever its size. A call
 * whose response is larger fails as `invalid-response`, and its connection is
 * closed. The models of `AiSdk.fromEnv` are made with it.
 *
 * **Example** (A provider with a bound)
 *
 * ```ts
 * import { createOpenAICompatible } from "@ai-sdk/openai-compatible"
 * import { AiSdk } from "@mandate/providers"
 *
 * const provider = createOpenAICompatible({
 *   name: "local",
 *   baseURL: "http://localhost:11434/v1",
 *   fetch: AiSdk.boundedFetch(8 * 1024 * 1024)
 * })
 *
 * export const model = AiSdk.layer(provider("large"))
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const boundedFetch = (maxBytes: number = maxResponseBytes): typeof globalThis.fetch => (input, init) =>
  globalThis.fetch(input, init).then((response) => {
    if (response.body === null) return response
    const { headers, status, statusText } = response
    return new Response(response.body.pipeThrough(bound(maxBytes)), { headers, status, statusText })
  })

/**
 * How the message of the error begins that a response over the bound fails with.
 *
 * @category constants
 * @since 0.1.0
 */
export const tooLarge = "The response is larger than"

const bound = (maxBytes: number): TransformStream<Uint8Array<ArrayBuffer>, Uint8Array<ArrayBuffer>> => {
  let bytes = 0
  return new TransformStream({
    transform: (chunk, controller) => {
      bytes += chunk.byteLength
      // Also a bound that is no number is one that is exceeded.
      if (bytes <= maxBytes) controller.enqueue(chunk)
      else controller.error(new Error(`${tooLarge} ${maxBytes} bytes`))
    }
  })
}
