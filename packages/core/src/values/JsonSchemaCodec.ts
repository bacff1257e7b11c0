/**
 * Codecs of what is described by a JSON Schema alone.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as AbsentNulls from "./AbsentNulls.ts"
import * as ExactNumbers from "./ExactNumbers.ts"
import type { Json } from "./Json.ts"
import { type JsonCodec, type JsonSchemaObject, propertyNames, resolveRoot, wrapperKey } from "./JsonCodec.ts"
import * as JsonWalk from "./JsonWalk.ts"
import { wrapped } from "./WrappedSchema.ts"

/**
 * Compiles a JSON Schema. Fails with a sentence when it is none.
 *
 * **Details**
 *
 * A model is shown the schema; a value is passed on as the JSON it is, without
 * being checked against it. Only that there is an object where the root is one
 * is looked at, and that every number is exact; `null` for an optional property
 * whose schema refuses it is left out. The schema is copied.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (schema: unknown): Result.Result<JsonCodec<Json>, string> =>
  Result.map(copied(schema), (copy) => {
    const root = resolveRoot(copy)
    const isWrapped = root["type"] !== "object"
    const absent = AbsentNulls.make(() => copy)
    const keys = propertyNames(copy)
    const read = (json: unknown) => {
      const problem = ExactNumbers.inValue(json, (key) => keys.has(key))
      return problem === undefined
        ? Effect.map(checked(json), (value) => absent(value) as Json)
        : Effect.fail([problem])
    }
    return {
      decode: checked,
      encode: checked,
      read,
      fromModel: (json) =>
        Effect.flatMap(object(json), (given) => isWrapped ? Effect.flatMap(unwrap(given), read) : read(given)),
      modelSchema: isWrapped ? wrapped(copy) : root,
      isWrapped
    }
  })

const copied = (schema: unknown): Result.Result<JsonSchemaObject, string> => {
  if (!Predicate.isObject(schema)) return Result.fail("is no JSON Schema object")
  const problem = JsonWalk.endless(schema)
  return problem !== undefined ? Result.fail(`is no JSON Schema: ${problem}`) : Result.mapError(
    Result.try(() => JSON.parse(JSON.stringify(schema)) as JsonSchemaObject),
    () => "is no JSON Schema: it has no JSON form"
  )
}

const checked = (value: unknown): Effect.Effect<Json, ReadonlyArray<string>> => {
  const copy = JsonWalk.copyJson(value)
  return Result.isSuccess(copy) ? Effect.succeed(copy.success) : Effect.fail([copy.failure])
}

const object = (json: unknown): Effect.Effect<JsonSchemaObject, ReadonlyArray<string>> =>
  Predicate.isObject(json) ? Effect.succeed(json as JsonSchemaObject) : Effect.fail(["the value: Expected an object"])

const unwrap = (given: JsonSchemaObject): Effect.Effect<Json, ReadonlyArray<string>> =>
  Object.hasOwn(given, wrapperKey)
    ? Effect.succeed(given[wrapperKey] as Json)
    : Effect.fail([`${wrapperKey}: Missing key`])
