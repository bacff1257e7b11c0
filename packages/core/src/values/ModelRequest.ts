/**
 * What a model is asked.
 *
 * @since 0.1.0
 */
import type { Json } from "./Json.ts"
import type { Message, ProviderMetadata } from "./Message.ts"

/**
 * A tool as a model sees it.
 *
 * **Details**
 *
 * `inputSchema` is a JSON Schema (draft 2020-12) whose root is an object.
 * `strict` asks the provider to hold the model to the schema.
 *
 * @category models
 * @since 0.1.0
 */
export interface ModelTool {
  readonly name: string
  readonly description?: string
  readonly inputSchema: { readonly [key: string]: Json }
  readonly strict?: boolean
}

/**
 * Which tools the model may call: any or none (`auto`), none, at least one
 * (`required`), or exactly the named one.
 *
 * @category models
 * @since 0.1.0
 */
export type ToolChoice = "auto" | "none" | "required" | { readonly tool: string }

/**
 * Settings of a model call. What is absent is the provider's default.
 *
 * **Details**
 *
 * `maxOutputTokens` counts tokens. `headers` are sent with the request.
 * `providerOptions` go to the provider unchanged, by provider name.
 *
 * @category models
 * @since 0.1.0
 */
export interface ModelSettings {
  readonly temperature?: number
  readonly topP?: number
  readonly topK?: number
  readonly presencePenalty?: number
  readonly frequencyPenalty?: number
  readonly maxOutputTokens?: number
  readonly stopSequences?: ReadonlyArray<string>
  readonly seed?: number
  readonly reasoning?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max"
  readonly headers?: { readonly [name: string]: string }
  readonly providerOptions?: ProviderMetadata
}

/**
 * What a model is asked: the conversation, the tools it may call, and how.
 *
 * **Details**
 *
 * `messages` hold every call with its result, in order. `answer` asks for a
 * native structured answer, from models that declare it.
 *
 * @category models
 * @since 0.1.0
 */
export interface ModelRequest {
  readonly messages: ReadonlyArray<Message>
  readonly tools: ReadonlyArray<ModelTool>
  readonly toolChoice: ToolChoice
  readonly answer?: { readonly name: string; readonly schema: { readonly [key: string]: Json } }
  readonly settings: ModelSettings
}

/**
 * Where a model call stands. It is never sent; scripts and spans use it.
 *
 * **Details**
 *
 * `agentPath` holds the agent ids from the root to this agent. `step` and
 * `attempt` count from 0. `call` is the task call that started the run; a run
 * with no parent has none. `maxRetryAfter` is the longest wait in milliseconds
 * that the agent accepts from a provider before it tries again.
 *
 * @category models
 * @since 0.1.0
 */
export interface ModelCall {
  readonly agentId: string
  readonly agentPath: ReadonlyArray<string>
  readonly threadId: string
  readonly runId: string
  readonly depth: number
  readonly step: number
  readonly attempt: number
  readonly call: { readonly key: string; readonly toolCallId: string } | undefined
  readonly maxRetryAfter?: number
}
