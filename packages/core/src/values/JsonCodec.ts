/**
 * How a schema's values look as JSON: to a model, and in a store.
 *
 * @since 0.1.0
 */
import * as Tool from "effect/ai/Tool"
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as AbsentNulls from "./AbsentNulls.ts"
import * as ExactNumbers from "./ExactNumbers.ts"
import type { Json } from "./Json.ts"
import * as JsonForm from "./JsonForm.ts"
import * as JsonWalk from "./JsonWalk.ts"
import * as SchemaIssues from "./SchemaIssues.ts"
import * as SchemaRewrite from "./SchemaRewrite.ts"
import { type JsonSchemaObject, mapWrapped, wrapped, wrapperKey } from "./WrappedSchema.ts"

export { type JsonSchemaObject, wrapperKey } from "./WrappedSchema.ts"

/**
 * What is wrong with a value, a line each: a path, and what was expected
 * there. Nothing is quoted.
 *
 * @category models
 * @since 0.1.0
 */
export type Issues = ReadonlyArray<string>

/**
 * A schema compiled for JSON, once.
 *
 * **Details**
 *
 * - `decode`, `encode`: between the schema's values and their JSON, as it is
 *   stored
 * - `read`: decodes JSON that a model or a person wrote
 * - `fromModel`: the same, out of its wrapper where the schema has one
 * - `modelSchema`: the JSON Schema (draft 2020-12) a model is shown; its root
 *   is an object. Any other root is wrapped under the key {@link wrapperKey}
 *
 * What is written is read more strictly than what is stored: a number beyond
 * what a double holds is refused (see `ExactNumbers`), and so are the texts
 * `"NaN"` and `"Infinity"` for a number. In turn, `null` for an optional
 * property whose schema refuses it is an absent property (see `AbsentNulls`).
 *
 * @category models
 * @since 0.1.0
 */
export interface JsonCodec<A> {
  readonly decode: (json: unknown) => Effect.Effect<A, Issues, unknown>
  readonly read: (json: unknown) => Effect.Effect<A, Issues, unknown>
  readonly encode: (value: unknown) => Effect.Effect<Json, Issues, unknown>
  readonly fromModel: (json: unknown) => Effect.Effect<A, Issues, unknown>
  readonly modelSchema: JsonSchemaObject
  readonly isWrapped: boolean
}

/**
 * Annotation of a schema that was made from a JSON Schema, with that one. It is
 * what a model is shown, and objects that it closes are held to it.
 *
 * @category constants
 * @since 0.1.0
 */
export const madeFrom = "~mandate/madeFrom"

/**
 * Compiles a schema. Fails with a sentence when it has no JSON form.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = <A>(schema: Schema.Codec<A, any, any, any>): Result.Result<JsonCodec<A>, string> =>
  Result.gen(function*() {
    const codec = yield* attempt(() => Schema.toCodecJson(schema))
    const problem = JsonForm.missing(codec.ast)
    if (problem !== undefined) return yield* Result.fail(problem)
    const own = Schema.resolveAnnotations(schema)?.[madeFrom] as JsonSchemaObject | undefined
    const decodeBy = decoder(own !== undefined, SchemaRewrite.hasUnionOfObjects(codec.ast))
    const root = own === undefined
      ? yield* attempt(() => resolveRoot(shown(Tool.getJsonSchemaFromSchema(schema) as JsonSchemaObject)))
      : resolveRoot(own)
    const isWrapped = root["type"] !== "object"
    const writtenCodec = written(codec)
    const wrapper = Schema.Struct({ [wrapperKey]: writtenCodec })
    const wrappedRoot = () =>
      own === undefined
        ? shown(Tool.getJsonSchemaFromSchema(Schema.Struct({ [wrapperKey]: schema })) as JsonSchemaObject)
        : wrapped(own)
    const modelSchema = isWrapped ? yield* attempt(wrappedRoot) : root
    const keys = propertyNames(modelSchema)
    const withIssues =
      <B>(apply: (value: unknown) => Effect.Effect<B, Schema.SchemaError, unknown>) =>
      (value: unknown): Effect.Effect<B, Issues, unknown> =>
        Effect.mapError(apply(value), (error) => SchemaIssues.lines(error, (key) => keys.has(key)))
    const decode = withIssues(decodeBy(codec))
    const encode = withIssues(Schema.encodeUnknownEffect(codec, allErrors))
    const absent = AbsentNulls.make(() => own ?? encodedSchema(writtenCodec))
    const exactly = <B>(read: (json: unknown) => Effect.Effect<B, Issues, unknown>) => (json: unknown) => {
      const inexact = ExactNumbers.inValue(json, (key) => keys.has(key))
      return inexact === undefined ? read(json) : Effect.fail([inexact])
    }
    const readWritten = withIssues(decodeBy(writtenCodec))
    const unwrap = withIssues(decodeBy(wrapper))
    const read = exactly((json) => readWritten(absent(json)))
    return {
      decode,
      read,
      encode: (value) =>
        Effect.suspend(() => {
          const endless = JsonWalk.endless(value)
          if (endless !== undefined) return Effect.fail([endless])
          return Effect.flatMap(encode(value), (json) => {
            // Schemas such as `Schema.Any` encode to themselves, JSON or not, and code of theirs may be in it.
            const copy = JsonWalk.copyJson(json)
            return Result.isSuccess(copy) ? Effect.succeed(copy.success) : Effect.fail([copy.failure])
          })
        }) as Effect.Effect<Json, Issues, unknown>,
      fromModel: isWrapped
        ? exactly((json) => Effect.map(unwrap(mapWrapped(json, absent)), (wrapped) => wrapped[wrapperKey] as A))
        : read,
      modelSchema,
      isWrapped
    }
  })

/**
 * The codec by which JSON is read that a model or a person wrote, of the codec
 * by which it is stored.
 *
 * @category combinators
 * @since 0.1.0
 */
export const written = <A>(codec: Schema.Codec<A, any, any, any>): Schema.Codec<A, unknown, any, any> =>
  Schema.make(SchemaRewrite.written(codec.ast))

// The JSON Schema of what is read, which models are not always shown.
const encodedSchema = (codec: Schema.Codec<unknown, any, any, any>): Json =>
  Result.getOrElse(
    Result.try(() => Tool.getJsonSchemaFromSchema(Schema.toEncoded(codec)) as Json),
    () => ({})
  )

/**
 * Puts the definition that the root of a JSON Schema refers to in its place. A
 * class or a recursive schema stands behind a reference; models are shown the
 * object itself.
 *
 * @category getters
 * @since 0.1.0
 */
export const resolveRoot = (root: JsonSchemaObject): JsonSchemaObject => {
  const { $ref, ...rest } = root
  const definitions = rest["$defs"]
  if (typeof $ref !== "string" || !Predicate.isObject(definitions)) return root
  const definition = (definitions as JsonSchemaObject)[$ref.slice("#/$defs/".length)]
  return Predicate.isObject(definition) ? { ...definition as JsonSchemaObject, ...rest } : root
}

/**
 * The decoder of a codec.
 *
 * **Details**
 *
 * Keys that an object does not have are ignored. Still, a union takes the
 * member that has all of a value's keys before one that would ignore some.
 */
const decoder =
  (isExact: boolean, hasUnion: boolean) =>
  <B>(codec: Schema.Codec<B, any, any, any>): (value: unknown) => Effect.Effect<B, Schema.SchemaError, unknown> => {
    const open = Schema.decodeUnknownEffect(codec, allErrors)
    if (!isExact && !hasUnion) return open
    const closed = Schema.decodeUnknownEffect(codec, exact)
    return isExact ? closed : (value) => Effect.catch(closed(value), () => open(value))
  }

const allErrors = { errors: "all" } as const

// Of the objects that a schema closes; those that it leaves open take any key.
const exact = { errors: "all", onExcessProperty: "error" } as const

/**
 * All names that a JSON Schema itself gives to properties, at any level, array
 * indices aside.
 *
 * @category getters
 * @since 0.1.0
 */
export const propertyNames = (schema: Json, names: Set<string> = new Set()): ReadonlySet<string> => {
  if (Array.isArray(schema)) schema.forEach((item) => propertyNames(item, names))
  else if (Predicate.isObject(schema)) {
    for (const [key, item] of Object.entries(schema as JsonSchemaObject)) {
      if (key === "properties" && Predicate.isObject(item)) Object.keys(item).forEach((name) => names.add(name))
      propertyNames(item, names)
    }
  }
  return names
}

const attempt = <A>(compile: () => A): Result.Result<A, string> =>
  Result.try({
    try: compile,
    catch: (error) => `has no JSON form: ${error instanceof Error ? error.message.split("\n", 1)[0] : "unknown reason"}`
  })

/**
 * A JSON Schema as a model is shown it, which is not always what a codec
 * takes: a number is a number, although the codec also takes the names of what
 * is no JSON number; and what is only said not to be null is an object.
 *
 * @category getters
 * @since 0.1.0
 */
export const shown = <A extends Json>(schema: A): A => simplified(schema) as A

const simplified = (schema: Json): Json => {
  if (Array.isArray(schema)) return schema.map(simplified)
  if (!Predicate.isObject(schema)) return schema
  const { anyOf, ...rest } = schema as JsonSchemaObject
  if (JSON.stringify(schema) === notNull) return { type: "object", properties: {} }
  if (Array.isArray(anyOf) && anyOf.length === 2 && JSON.stringify(anyOf[1]) === notFinite) {
    return { ...simplified(anyOf[0] as Json) as JsonSchemaObject, ...rest }
  }
  return Object.fromEntries(Object.entries(schema).map(([key, item]) => [key, simplified(item as Json)]))
}

const notNull = JSON.stringify({ not: { type: "null" } })
const notFinite = JSON.stringify({ type: "string", enum: ["Infinity", "-Infinity", "NaN"] })
