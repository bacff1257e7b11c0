/**
 * Typed answers as providers give them natively.
 *
 * @since 0.1.0
 */
import type * as OpenAiStructuredOutput from "effect/ai/OpenAiStructuredOutput"
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import {
  type Issues,
  type JsonCodec,
  type JsonSchemaObject,
  madeFrom,
  propertyNames,
  shown,
  wrapperKey,
  written
} from "./JsonCodec.ts"
import * as SchemaIssues from "./SchemaIssues.ts"
import * as SchemaRewrite from "./SchemaRewrite.ts"

/**
 * How an answer is asked for natively, and read.
 *
 * **Details**
 *
 * - `schema`: the JSON Schema that the provider is sent
 * - `read`: decodes what came, by that schema or else by the plain one: not
 *   every provider holds its models to a schema
 *
 * @category models
 * @since 0.1.0
 */
export interface NativeAnswer {
  readonly schema: JsonSchemaObject
  readonly read: (json: unknown) => Effect.Effect<unknown, Issues, unknown>
}

/**
 * Compiles the schema of an answer for a provider.
 *
 * **Details**
 *
 * Providers that hold a model to a schema take a part of JSON Schema only:
 * every key is required, so an optional one is nullable; tuples and records are
 * objects and lists of pairs there. A schema that has no such form is sent as it
 * is. `plain` is the codec of the same schema.
 *
 * An answer in this form is brought into the plain one, and then read as a
 * report is that was submitted through a tool: both have the same value.
 *
 * What makes such a schema is loaded when the first one is made: most programs
 * need none.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  schema: Schema.Codec<any, any, any, any>,
  plain: JsonCodec<unknown>
): Effect.Effect<NativeAnswer> =>
  Effect.map(
    Effect.promise(() => import("effect/ai/OpenAiStructuredOutput")),
    ({ toCodecOpenAI }) =>
      Result.match(Result.try(() => strict(schema, plain, toCodecOpenAI)), {
        onFailure: () => ({ schema: plain.modelSchema, read: plain.fromModel }),
        onSuccess: (made) => ({
          schema: made.schema,
          read: (json) =>
            Effect.matchEffect(made.read(json), {
              onFailure: (issues) => Effect.mapError(plain.fromModel(json), () => issues),
              onSuccess: plain.fromModel
            })
        })
      })
  )

const strict = (
  schema: Schema.Codec<any, any, any, any>,
  { isWrapped }: JsonCodec<unknown>,
  toCodec: typeof OpenAiStructuredOutput.toCodecOpenAI
): NativeAnswer => {
  const target = isWrapped ? Schema.Struct({ [wrapperKey]: schema }) : schema
  const sent = shown(toCodec(target).jsonSchema as JsonSchemaObject)
  const keys = propertyNames(sent)
  // The plain JSON alone, so that what is decoded below is JSON too.
  const plainJson = SchemaRewrite.required(Schema.toEncoded(written(Schema.toCodecJson(target))).ast)
  const { codec } = toCodec(Schema.make<Schema.Codec<unknown, unknown>>(plainJson))
  // Members of a union differ by the keys they do not have.
  const decodeClosed = Schema.decodeUnknownEffect(codec, { errors: "all", onExcessProperty: "error" })
  const decodeOpen = Schema.resolveAnnotations(schema)?.[madeFrom] === undefined
    ? Schema.decodeUnknownEffect(codec, { errors: "all" })
    : decodeClosed
  return {
    schema: sent,
    read: (json) =>
      Effect.mapError(
        Effect.catch(decodeClosed(json), () => decodeOpen(json)),
        (error) => SchemaIssues.lines(error, (key) => keys.has(key))
      )
  }
}
