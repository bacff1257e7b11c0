/**
 * Settings of model calls, as data.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { Count } from "./Checked.ts"
import { ProviderMetadata } from "./ContentPart.ts"
import type * as ModelRequest from "./ModelRequest.ts"
import * as Options from "./Options.ts"

const fields = {
  temperature: Schema.Finite,
  topP: Schema.Finite,
  topK: Count,
  presencePenalty: Schema.Finite,
  frequencyPenalty: Schema.Finite,
  maxOutputTokens: Count,
  stopSequences: Schema.Array(Schema.String),
  seed: Schema.Int,
  reasoning: Schema.Literals(["none", "minimal", "low", "medium", "high", "xhigh", "max"]),
  headers: Schema.Record(Schema.String, Schema.String),
  providerOptions: ProviderMetadata
}

/**
 * Schema for the settings of a model call, for settings that come from outside
 * of the program.
 *
 * @category schemas
 * @since 0.1.0
 */
export const ModelSettings: Schema.Codec<ModelRequest.ModelSettings> = Schema.Struct({
  temperature: Schema.optionalKey(fields.temperature),
  topP: Schema.optionalKey(fields.topP),
  topK: Schema.optionalKey(fields.topK),
  presencePenalty: Schema.optionalKey(fields.presencePenalty),
  frequencyPenalty: Schema.optionalKey(fields.frequencyPenalty),
  maxOutputTokens: Schema.optionalKey(fields.maxOutputTokens),
  stopSequences: Schema.optionalKey(fields.stopSequences),
  seed: Schema.optionalKey(fields.seed),
  reasoning: Schema.optionalKey(fields.reasoning),
  headers: Schema.optionalKey(fields.headers),
  providerOptions: Schema.optionalKey(fields.providerOptions)
})

/**
 * Decodes the settings of a model call as a caller gives them.
 *
 * @category decoding
 * @since 0.1.0
 */
export const decode: Options.Decode<ModelRequest.ModelSettings> = Options.make<ModelRequest.ModelSettings>(
  "setting",
  fields
)
