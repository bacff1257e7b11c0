/**
 * Schemas of other libraries (Zod, Valibot, ArkType) that follow Standard
 * Schema, as inputs and reports of agents.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { StandardJSONSchemaV1, StandardSchemaV1 } from "effect/StandardSchema"
import * as EnforcedSchema from "./EnforcedSchema.ts"
import * as Json from "./Json.ts"
import { type Issues, type JsonCodec, madeFrom, propertyNames } from "./JsonCodec.ts"
import * as JsonSchemaCodec from "./JsonSchemaCodec.ts"
import * as JsonWalk from "./JsonWalk.ts"
import type { JsonSchemaObject } from "./WrappedSchema.ts"

/**
 * A schema of effect that stands for a Standard Schema; any other value as it
 * is. The Standard Schema has to give a JSON Schema itself, as Zod 4 does.
 *
 * @category constructors
 * @since 0.1.0
 */
export const from = (schema: unknown): unknown => {
  if (Schema.isSchema(schema) || !isStandard(schema)) return schema
  const read = readSchema(schema)
  const json: JsonSchemaObject = Result.isSuccess(read) ? read.success.jsonSchema : {}
  // What holds of the JSON, for code that looks at the schema. Values are checked by the library.
  const known = Result.getOrElse(EnforcedSchema.make(json), () => Schema.Unknown.annotate({ [madeFrom]: json }))
  return known.annotate({ [annotation]: read })
}

/**
 * Compiles what {@link from} made of a Standard Schema; nothing for any other
 * schema.
 *
 * **Details**
 *
 * What a model writes is checked by the library, and its value is what the
 * library makes of it, defaults and transformations included; a check that
 * gives a promise is waited for. That value is stored, so it has to be JSON.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (schema: Schema.Top): Result.Result<JsonCodec<unknown>, string> | undefined => {
  const read = Schema.resolveAnnotations(schema)?.[annotation] as Result.Result<Read, string> | undefined
  return read === undefined ? undefined : Result.flatMap(read, compile)
}

const annotation = "~mandate/standardSchema"

type Standard = StandardSchemaV1 & { readonly "~standard": { readonly jsonSchema?: StandardJSONSchemaV1.Converter } }

// `isSame`: what the library gives has the form of what it takes, and can be checked again.
interface Read {
  readonly schema: Standard
  readonly jsonSchema: JsonSchemaObject
  readonly isSame: boolean
}

const isStandard = (schema: unknown): schema is Standard =>
  Predicate.hasProperty(schema, "~standard") && Predicate.hasProperty(schema["~standard"], "validate") &&
  typeof schema["~standard"].validate === "function"

const readSchema = (schema: Standard): Result.Result<Read, string> => {
  const { jsonSchema } = schema["~standard"]
  if (jsonSchema === undefined) {
    return Result.fail("gives no JSON Schema; use one whose library does, or Schema of effect")
  }
  return Result.gen(function*() {
    const input = yield* converted(() => jsonSchema.input({ target: "draft-2020-12" }))
    const output = yield* converted(() => jsonSchema.output({ target: "draft-2020-12" }))
    return { schema, jsonSchema: input, isSame: Json.canonical(form(input)) === Json.canonical(form(output)) }
  })
}

const converted = (convert: () => unknown): Result.Result<JsonSchemaObject, string> =>
  Result.flatMap(
    Result.try({
      try: () => JSON.parse(JSON.stringify(convert())) as Json.Json,
      catch: (thrown) => `has no JSON form: ${thrown instanceof Error ? thrown.message.split("\n", 1)[0] : "no reason"}`
    }),
    (json) => {
      if (!Predicate.isObject(json)) return Result.fail("gives no JSON Schema that is an object")
      const { $schema: _, ...rest } = json as JsonSchemaObject
      return Result.succeed(rest)
    }
  )

// What a default changes is left out.
const form = (schema: Json.Json): Json.Json => {
  if (Array.isArray(schema)) return schema.map(form)
  if (!Predicate.isObject(schema)) return schema
  return Object.fromEntries(
    Object.entries(schema as JsonSchemaObject).filter(([key]) => !changed.has(key)).map((
      [key, item]
    ) => [key, form(item)])
  )
}

const changed: ReadonlySet<string> = new Set(["required", "default", "additionalProperties"])

const compile = ({ isSame, jsonSchema, schema }: Read): Result.Result<JsonCodec<unknown>, string> =>
  Result.map(JsonSchemaCodec.make(jsonSchema), (plain) => {
    const keys = propertyNames(jsonSchema)
    const validate = (json: unknown) => validated(schema, json, keys)
    return {
      ...plain,
      read: (json) => Effect.flatMap(plain.read(json), validate),
      fromModel: (json) => Effect.flatMap(plain.fromModel(json), validate),
      encode: (value) => {
        const json = withoutUndefined(value, 0)
        return Effect.flatMap(
          isSame ? Effect.flatMap(plain.encode(json), validate) : Effect.succeed(json),
          (value) => plain.encode(withoutUndefined(value, 0))
        )
      }
    }
  })

const validated = (
  schema: Standard,
  json: unknown,
  keys: ReadonlySet<string>
): Effect.Effect<unknown, Issues> =>
  Effect.matchEffect(
    Effect.tryPromise({ try: () => Promise.resolve(schema["~standard"].validate(json)), catch: (thrown) => thrown }),
    {
      onFailure: (thrown) =>
        Effect.andThen(
          Effect.logError("The check of a Standard Schema failed", thrown),
          Effect.fail(["the value: Expected a value that can be checked"])
        ),
      onSuccess: (result) =>
        result.issues === undefined ? Effect.succeed(result.value) : Effect.fail(lines(result.issues, keys))
    }
  )

// The message of an issue may hold the value, and a line crosses from a child to its parent.
const lines = (issues: ReadonlyArray<StandardSchemaV1.Issue>, keys: ReadonlySet<string>): Issues => {
  const all = issues.slice(0, maxIssues).map((issue) => {
    const path = (issue.path ?? []).map((segment) => typeof segment === "object" ? segment.key : segment)
    const shown = path.map((key) => /^\d+$/.test(String(key)) || keys.has(String(key)) ? key : "*")
    const expected = Predicate.hasProperty(issue, "expected") ? issue.expected : undefined
    return `${JsonWalk.pathText(shown)}: Expected ${
      typeof expected === "string" && /^[a-z]{1,20}$/.test(expected) ? expected : "a valid value"
    }`
  })
  return issues.length > maxIssues ? [...all, `and ${issues.length - maxIssues} more`] : all
}

const maxIssues = 16

// A key without a value is no key in JSON.
const withoutUndefined = (value: unknown, depth: number): unknown => {
  if (typeof value !== "object" || value === null || depth > JsonWalk.maxDepth) return value
  if (Array.isArray(value)) return value.map((item) => withoutUndefined(item, depth + 1))
  if (Object.getPrototypeOf(value) !== Object.prototype) return value
  return Object.fromEntries(
    Object.entries(value).filter(([, item]) => item !== undefined)
      .map(([key, item]) => [key, withoutUndefined(item, depth + 1)])
  )
}
