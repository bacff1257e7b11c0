/**
 * A model request as the options of a V4 call.
 *
 * @since 0.1.0
 */
import type {
  JSONSchema7,
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Prompt,
  LanguageModelV4ToolChoice,
  SharedV4ProviderOptions
} from "@ai-sdk/provider"
import type { Json, Message, ModelRequest } from "@mandate/core"
import * as SelfContained from "./SelfContained.ts"

/**
 * Makes the options of a call: prompt, settings, tools, and the answer asked
 * for.
 *
 * **Details**
 *
 * A setting of the request wins over one in `defaults`; headers and provider
 * options are merged one by one. `selfContained` are provider options below
 * both: see `SelfContained.options`. Without tools neither tools nor tool choice
 * are sent. An answer is asked for as JSON with its schema, beside the tools;
 * a client that cannot send the schema leaves it out and says so in a warning.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  request: ModelRequest.ModelRequest,
  defaults: ModelRequest.ModelSettings,
  prompt: LanguageModelV4Prompt,
  selfContained?: Message.ProviderMetadata
): LanguageModelV4CallOptions => {
  const { stopSequences, headers, providerOptions: _, ...settings } = { ...defaults, ...request.settings }
  const providerOptions = optionsOf(request, defaults, selfContained)
  return {
    ...settings,
    prompt,
    ...(stopSequences === undefined ? {} : { stopSequences: [...stopSequences] }),
    ...(headers === undefined ? {} : { headers: { ...defaults.headers, ...headers } }),
    ...(providerOptions === undefined ? {} : { providerOptions: providerOptions as SharedV4ProviderOptions }),
    ...(request.tools.length === 0
      ? {}
      : { tools: request.tools.map(toTool), toolChoice: toToolChoice(request.toolChoice) }),
    ...(request.answer === undefined
      ? {}
      : { responseFormat: { type: "json", name: request.answer.name, schema: asSchema(request.answer.schema) } })
  }
}

const toTool = (tool: ModelRequest.ModelTool): LanguageModelV4FunctionTool => ({
  type: "function",
  name: tool.name,
  inputSchema: asSchema(tool.inputSchema),
  ...(tool.description === undefined ? {} : { description: tool.description }),
  ...(tool.strict === undefined ? {} : { strict: tool.strict })
})

const toToolChoice = (choice: ModelRequest.ToolChoice): LanguageModelV4ToolChoice =>
  typeof choice === "string" ? { type: choice } : { type: "tool", toolName: choice.tool }

// V4 types schemas as draft 7 and sends them as they are.
const asSchema = (schema: { readonly [key: string]: Json.Json }): JSONSchema7 => schema as JSONSchema7

const optionsOf = (
  { settings }: ModelRequest.ModelRequest,
  defaults: ModelRequest.ModelSettings,
  selfContained: Message.ProviderMetadata | undefined
): Message.ProviderMetadata | undefined => {
  const own = settings.providerOptions
  const given = own === undefined ? defaults.providerOptions : mergeOptions(defaults.providerOptions, own)
  if (selfContained === undefined || SelfContained.continuesElsewhere(given)) return given
  return given === undefined ? selfContained : mergeOptions(selfContained, given)
}

const mergeOptions = (
  defaults: Message.ProviderMetadata | undefined,
  options: Message.ProviderMetadata
): Message.ProviderMetadata => {
  const merged = new Map<string, Json.Json>(Object.entries(defaults ?? {}))
  for (const [provider, value] of Object.entries(options)) {
    const below = merged.get(provider)
    merged.set(provider, isRecord(below) && isRecord(value) ? { ...below, ...value } : value)
  }
  return Object.fromEntries(merged)
}

const isRecord = (value: Json.Json | undefined): value is { readonly [key: string]: Json.Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value)
