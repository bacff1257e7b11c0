/**
 * JSON Schemas that values are held to.
 *
 * @since 0.1.0
 */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type * as Schema from "effect/Schema"
import { fromJsonSchemaDocument } from "effect/SchemaRepresentation"
import type { Json } from "./Json.ts"
import { madeFrom } from "./JsonCodec.ts"
import * as JsonSchemaCodec from "./JsonSchemaCodec.ts"
import * as JsonWalk from "./JsonWalk.ts"
import type { JsonSchemaObject } from "./WrappedSchema.ts"

/**
 * The most schemas that may apply to one value in the same place, by `allOf`,
 * `anyOf`, `oneOf` and `$ref`. A small schema that refers to another one twice,
 * which does the same, would take a time without end.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxInPlace = 1000

/**
 * Makes a schema of a JSON Schema, or says in a sentence why values cannot be
 * held to it. Its values are the JSON that they are, and all of it is enforced:
 * what cannot be is refused here, with its place, and never left out.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (schema: unknown): Result.Result<Schema.Codec<unknown, unknown>, string> =>
  Result.gen(function*() {
    yield* JsonSchemaCodec.make(schema)
    const root = schema as JsonSchemaObject
    const problem = yield* Result.mapError(
      Result.try(() => malformed(root, []) ?? endless(root)),
      () => "cannot be enforced"
    )
    if (problem !== undefined) return yield* Result.fail(`cannot be enforced: ${problem}`)
    const made = yield* Result.try({ try: () => imported(root), catch: (error) => `cannot be enforced${at(error)}` })
    return made.annotate({ [madeFrom]: root }) as unknown as Schema.Codec<unknown, unknown>
  })

const imported = ({ $defs, ...root }: JsonSchemaObject): Schema.Top =>
  fromJsonSchemaDocument({
    dialect: "draft-2020-12",
    schema: root,
    definitions: ($defs ?? {}) as { readonly [name: string]: JsonSchemaObject }
  })

// Its words would quote the schema; the path at their end is of names.
const at = (error: unknown): string => {
  const [, place = ""] = /\n {2}at ((?:\[.*\])+)$/.exec(error instanceof Error ? error.message : "") ?? []
  const path = Result.getOrElse(
    Result.try(() => JSON.parse(`[${place.slice(1, -1).replaceAll("][", ",")}]`) as ReadonlyArray<string | number>),
    () => []
  )
  const named = path[0] === "schema" ? path.slice(1) : path
  return named.length === 0 ? "" : ` at ${JsonWalk.pathText(named)}`
}

const isSchema = (value: Json): boolean =>
  typeof value === "boolean" || (Predicate.isObject(value) && !Array.isArray(value))
const isMembers = (value: Json): boolean => isSchema(value) && typeof value !== "boolean"
const isNumber = (value: Json): boolean => typeof value === "number"
const isTexts = (value: Json): boolean => Array.isArray(value) && value.every(Predicate.isString)
const isSchemas = (value: Json): boolean => Array.isArray(value) && value.length > 0 && value.every(isSchema)
const types: ReadonlyArray<Json> = ["string", "number", "integer", "boolean", "object", "array", "null"]

// A keyword with another value is ignored by whoever enforces the schema.
const keywords: { readonly [keyword: string]: (value: Json) => boolean } = {
  type: (value) =>
    types.includes(value) || (isTexts(value) && (value as Array<Json>).every((one) => types.includes(one))),
  properties: isMembers,
  patternProperties: isMembers,
  $defs: isMembers,
  required: isTexts,
  items: isSchema,
  additionalProperties: isSchema,
  propertyNames: isSchema,
  prefixItems: isSchemas,
  allOf: isSchemas,
  anyOf: isSchemas,
  oneOf: isSchemas,
  enum: Array.isArray,
  $ref: Predicate.isString,
  pattern: Predicate.isString,
  uniqueItems: (value) => typeof value === "boolean",
  ...Object.fromEntries(
    [
      ["minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"],
      ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"]
    ].flat().map((keyword) => [keyword, isNumber])
  )
}

const members: ReadonlyArray<string> = ["properties", "patternProperties", "$defs"]
const inside: ReadonlyArray<string> = ["items", "additionalProperties", "propertyNames"]
const inPlace: ReadonlyArray<string> = ["allOf", "anyOf", "oneOf"]

type Path = ReadonlyArray<string>

const malformed = (schema: Json, path: Path): string | undefined => {
  if (!isMembers(schema)) return undefined
  for (const [key, value] of Object.entries(schema as JsonSchemaObject)) {
    const inner = [...path, key]
    if (Object.hasOwn(keywords, key) && keywords[key]!(value) === false) {
      return `${JsonWalk.pathText(inner)} has a value that JSON Schema does not have there`
    }
    const schemas = inside.includes(key)
      ? [[inner, value] as const]
      : members.includes(key) || inPlace.includes(key) || key === "prefixItems"
      ? Object.entries(value as JsonSchemaObject).map(([name, item]) => [[...inner, name], item] as const)
      : []
    for (const [place, item] of schemas) {
      const problem = malformed(item, place)
      if (problem !== undefined) return problem
    }
  }
  return undefined
}

// What refers to itself in its own place is as heavy as can be.
const endless = (root: JsonSchemaObject): string | undefined => {
  const known = new Map<string, number>()
  const weight = (schema: Json | undefined): number => {
    if (schema === undefined || !isMembers(schema)) return 1
    const { $ref, ...rest } = schema as JsonSchemaObject
    const parts = inPlace.flatMap((key) => Array.isArray(rest[key]) ? rest[key] : [])
    return parts.reduce<number>((sum, part) => sum + weight(part), typeof $ref === "string" ? 1 + weightOf($ref) : 1)
  }
  const weightOf = (reference: string): number => {
    const found = known.get(reference)
    if (found !== undefined) return found
    known.set(reference, Number.POSITIVE_INFINITY)
    const own = weight(target(root, reference))
    known.set(reference, own)
    return own
  }
  const walk = (value: Json): boolean =>
    Predicate.isObject(value) && (weight(value) > maxInPlace || Object.values(value as JsonSchemaObject).some(walk))
  return walk(root) ? `more than ${maxInPlace} schemas apply in one place` : undefined
}

const target = (root: JsonSchemaObject, reference: string): Json | undefined =>
  reference.split("/").slice(1).map((name) => name.replaceAll("~1", "/").replaceAll("~0", "~")).reduce<
    Json | undefined
  >(
    (value, name) => Predicate.isObject(value) ? (value as JsonSchemaObject)[name] : undefined,
    root
  )
