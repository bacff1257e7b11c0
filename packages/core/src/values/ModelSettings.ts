/**
 * Settings of model calls, as data.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { Count } from "./Checked.ts"
import { ProviderMetadata } from "./ContentPart.ts"
import type * as ModelRequest from "./ModelRequest.ts"

/**
 * Schema for the settings of a model call, for settings that come from outside
 * of the program.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ModelSettings: Schema.Codec<ModelRequest.ModelSettings> = Schema.Struct({
  temperature: Schema.optionalKey(Schema.Finite),
  topP: Schema.optionalKey(Schema.Finite),
  topK: Schema.optionalKey(Count),
  presencePenalty: Schema.optionalKey(Schema.Finite),
  frequencyPenalty: Schema.optionalKey(Schema.Finite),
  maxOutputTokens: Schema.optionalKey(Count),
  stopSequences: Schema.optionalKey(Schema.Array(Schema.String)),
  seed: Schema.optionalKey(Schema.Int),
  reasoning: Schema.optionalKey(Schema.Literals(["none", "minimal", "low", "medium", "high", "xhigh", "max"])),
  headers: Schema.optionalKey(Schema.Record(Schema.String, Schema.String)),
  providerOptions: Schema.optionalKey(ProviderMetadata)
})
