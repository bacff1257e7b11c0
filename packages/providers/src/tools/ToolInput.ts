/**
 * The input of a tool that was written for another library: what a model is
 * shown, and how what it wrote is checked.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import type { StandardJSONSchemaV1, StandardSchemaV1 } from "effect/StandardSchema"
import * as ClosedSchema from "./ClosedSchema.ts"
import * as Issues from "./Issues.ts"

/**
 * The JSON Schema of an input, and the check that gives what the tool takes,
 * or lines that say what is wrong.
 *
 * @category models
 * @since 0.1.0
 */
export interface ToolInput {
  readonly jsonSchema: { readonly [key: string]: unknown }
  readonly check: (json: unknown) => Effect.Effect<unknown, ReadonlyArray<string>>
}

/**
 * Reads an input that is a schema of the AI SDK (`jsonSchema()`,
 * `zodSchema()`), a function that gives one, a Standard Schema, or nothing.
 * Fails with the end of a sentence about it.
 *
 * **Details**
 *
 * `known`: the JSON Schema of a Standard Schema that does not give its own.
 *
 * @category constructors
 * @since 0.1.0
 */
export const resolve = (schema: unknown, known?: object): Effect.Effect<ToolInput, string> => {
  if (schema === undefined) return Effect.succeed(nothing)
  if (isAiSdkSchema(schema)) return fromAiSdk(schema)
  if (isStandard(schema)) return fromStandard(schema, known)
  return typeof schema === "function"
    ? Effect.flatMap(
      attempt(() => schema()),
      (given) => isAiSdkSchema(given) ? fromAiSdk(given) : Effect.fail(unknownSchema)
    )
    : Effect.fail(unknownSchema)
}

const unknownSchema = "is neither a Standard Schema nor a schema of the AI SDK"

const nothing: ToolInput = {
  jsonSchema: { type: "object", properties: {}, additionalProperties: false },
  check: Effect.succeed
}

interface AiSdkSchema {
  readonly jsonSchema: unknown
  readonly validate?: (value: unknown) => unknown
}

const marker = Symbol.for("vercel.ai.schema")

const isAiSdkSchema = (schema: unknown): schema is AiSdkSchema =>
  Predicate.isObject(schema) && marker in schema && schema[marker] === true && "jsonSchema" in schema

const fromAiSdk = (schema: AiSdkSchema): Effect.Effect<ToolInput, string> =>
  Effect.map(jsonSchemaOf(() => schema.jsonSchema), (jsonSchema) => ({
    jsonSchema,
    check: (json) => {
      const { validate } = schema
      return validate === undefined ?
        Effect.succeed(json) :
        Effect.flatMap(
          settled(() => validate(json)),
          (result) =>
            Predicate.isObject(result) && result["success"] === true
              ? Effect.succeed(result["value"])
              : Effect.fail(Issues.ofError(Predicate.isObject(result) ? result["error"] : undefined))
        )
    }
  }))

type Standard = StandardSchemaV1 & { readonly "~standard": { readonly jsonSchema?: StandardJSONSchemaV1.Converter } }

const isStandard = (schema: unknown): schema is Standard =>
  Predicate.hasProperty(schema, "~standard") && Predicate.hasProperty(schema["~standard"], "validate") &&
  typeof schema["~standard"].validate === "function"

const fromStandard = (schema: Standard, known: object | undefined): Effect.Effect<ToolInput, string> => {
  const standard = schema["~standard"]
  const converter = standard.jsonSchema
  if (known === undefined && converter === undefined) {
    const vendor = /^[\w.-]{1,40}$/.test(standard.vendor) ? standard.vendor : "unknown"
    return Effect.fail(`gives no JSON Schema: its library (${vendor}) has none of its own, so pass one along`)
  }
  return Effect.map(
    jsonSchemaOf(() => known ?? ClosedSchema.make(converter?.input({ target: "draft-2020-12" }))),
    (jsonSchema) => ({
      jsonSchema,
      check: (json) =>
        Effect.flatMap(
          settled(() => standard.validate(json)),
          (result) =>
            result.issues === undefined ? Effect.succeed(result.value) : Effect.fail(Issues.lines(result.issues))
        )
    })
  )
}

const jsonSchemaOf = (get: () => unknown): Effect.Effect<ToolInput["jsonSchema"], string> =>
  Effect.flatMap(attempt(get), (schema) =>
    Predicate.isObject(schema)
      ? Effect.succeed(schema as ToolInput["jsonSchema"])
      : Effect.fail("gives no JSON Schema that is an object"))

const attempt = (get: () => unknown): Effect.Effect<unknown, string> =>
  Effect.tryPromise({
    try: async () => await get(),
    catch: (thrown) => `gives no JSON Schema: ${Issues.firstLine(thrown)}`
  })

// A check that throws is a bug of the tool.
const settled = <A>(check: () => A | PromiseLike<A>): Effect.Effect<A> =>
  Effect.orDie(Effect.tryPromise({ try: async () => await check(), catch: (thrown) => thrown }))
