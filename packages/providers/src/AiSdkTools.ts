/**
 * Tools of the Vercel AI SDK as tools of Mandate agents, and subagents as tools
 * of the AI SDK.
 *
 * @since 0.1.0
 */
import type { ToolkitError } from "@mandate/core"
import type * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as AiSdkOutput from "./tools/AiSdkOutput.ts"
import * as ForeignTools from "./tools/ForeignTools.ts"
import * as ToolInput from "./tools/ToolInput.ts"
import type * as ToolNames from "./tools/ToolNames.ts"

export type { NameOptions } from "./tools/ToolNames.ts"
export type { AgentProgress } from "./tools/AgentProgress.ts"
export {
  type AgentToolOptions,
  type AiSdkAgentTool,
  type ReportJson,
  SubagentError,
  toAiSdkTool
} from "./tools/AgentTool.ts"

/**
 * A toolkit for `withToolkit`.
 *
 * @category models
 * @since 0.1.0
 */
export type AiSdkToolkit = ForeignTools.ForeignToolkit

/**
 * What is read of a tool of the AI SDK: what `tool()` and `dynamicTool()` of
 * `ai` give, and any object of that form.
 *
 * @category models
 * @since 0.1.0
 */
export interface AiSdkTool {
  readonly type?: string | undefined
  readonly description?: string | ((options: never) => string) | undefined
  readonly inputSchema?: object | undefined
  readonly contextSchema?: unknown
  readonly strict?: boolean | undefined
  readonly needsApproval?: boolean | ((input: never, options: never) => unknown) | undefined
  readonly toModelOutput?: unknown
  readonly execute?: ((input: never, options: never) => unknown) | undefined
}

/**
 * Makes a toolkit of AI SDK tools, by name.
 *
 * **Details**
 *
 * A model is shown a tool's description and the JSON Schema of its input. What
 * it wrote is checked by the input schema, as the AI SDK does: a schema that
 * `jsonSchema()` made without `validate` checks nothing. Arguments that are
 * refused are an error result that names paths, and `execute` is not called.
 *
 * `execute` is given `toolCallId`, an `abortSignal` that is aborted when the
 * call is interrupted, and no messages: the conversation stays in the run. It
 * gives a value, a promise, or an async iterable, whose elements are shown as
 * progress and whose last one is the result. A result is JSON; `undefined` is
 * `null`. What it throws is the error `ToolFailed`, without its text.
 *
 * `toModelOutput` says what the model is shown in place of the result: text,
 * JSON, or content with images and files. It may give a promise. Where it
 * throws, the result is shown as it is: the tool has run. So the tools of
 * `createMCPClient` of `@ai-sdk/mcp` work as they are.
 *
 * Names become ones that providers take; `options` has names of your own
 * choice, see {@link NameOptions}.
 *
 * `needsApproval` suspends the run until a person has answered. A function is
 * asked once, with the checked input; one that throws counts as "needed".
 *
 * Not read: `outputSchema`, `onInputStart` and its likes, `inputExamples`,
 * `providerOptions`, `metadata`, `title`, `deferLoading`.
 *
 * **Gotchas**
 *
 * `bind` and `build` refuse a tool that a provider defines, that has no
 * `execute`, that has a `contextSchema`, whose description is a function, or
 * whose input has no JSON Schema. A call that was in flight at a
 * crash runs again.
 *
 * **Example** (An AI SDK tool in an agent)
 *
 * ```ts
 * import { AgentBuilder } from "@mandate/core"
 * import { AiSdkTools } from "@mandate/providers"
 * import { tool } from "ai"
 * import { z } from "zod"
 *
 * const weather = tool({
 *   description: "Says the weather of a city",
 *   inputSchema: z.object({ city: z.string() }),
 *   execute: async ({ city }, { abortSignal }) => {
 *     const response = await fetch(`https://weather.example/${encodeURIComponent(city)}`, { signal: abortSignal ?? null })
 *     return await response.json()
 *   }
 * })
 *
 * export const agent = AgentBuilder.make("forecaster").withToolkit(AiSdkTools.from({ weather }))
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const from = (
  tools: { readonly [name: string]: AiSdkTool },
  options?: ToolNames.NameOptions
): Effect.Effect<AiSdkToolkit, ToolkitError.ToolkitError> =>
  ForeignTools.fromUnknown(tools, options, (name, tool: AiSdkTool) => Result.succeed(definition(name, tool)))

const definition = (name: string, tool: AiSdkTool): ForeignTools.Definition => ({
  name,
  description: typeof tool.description === "string" ? tool.description : undefined,
  strict: tool.strict,
  needsApproval: needsApproval(tool),
  input: ToolInput.resolve(tool.inputSchema),
  refusal: refusal(tool),
  execute: (input, { abortSignal, toolCallId }) => {
    const execute = tool.execute as ((input: unknown, options: object) => unknown) | undefined
    return execute?.(input, { toolCallId, messages: [], abortSignal, context: undefined })
  },
  show: (call) => AiSdkOutput.make(name, tool.toModelOutput, call)
})

const needsApproval = ({ needsApproval: policy }: AiSdkTool): ForeignTools.Definition["needsApproval"] =>
  typeof policy === "function"
    ? (input, toolCallId) =>
      (policy as (input: unknown, options: object) => unknown)(input, { toolCallId, messages: [], context: undefined })
    : policy !== undefined && policy !== false

const refusal = (tool: AiSdkTool): string | undefined => {
  if (tool.type !== undefined && tool.type !== "function" && tool.type !== "dynamic") {
    return "is defined by a provider, which agents cannot offer yet"
  }
  if (typeof tool.execute !== "function") return "has no execute; an agent can only offer what it can run"
  if (typeof tool.description === "function") {
    return "has a description that depends on a context, which agents have not"
  }
  if (tool.contextSchema !== undefined) return "takes a context, which agents have not"
  return undefined
}
