/**
 * The keywords of JSON Schemas, by what becomes of them under a strict
 * provider.
 *
 * @since 0.1.0
 */
import type { Json } from "@mandate/core"
import * as Predicate from "effect/Predicate"

/**
 * A JSON Schema that is an object.
 *
 * @category models
 * @since 0.1.0
 */
export type JsonSchema = { readonly [key: string]: Json.Json }

/**
 * Whether a value is an object, as schemas are that are not `true` or `false`.
 *
 * @category guards
 * @since 0.1.0
 */
export const isSchema = (value: Json.Json | undefined): value is JsonSchema => Predicate.isObject(value)

/**
 * Keywords that say what no strict provider can be told, and that a note could
 * not make up for.
 *
 * @category constants
 * @since 0.1.0
 */
export const structural: ReadonlyArray<string> = [
  "not",
  "if",
  "then",
  "else",
  "patternProperties",
  "dependentSchemas",
  "dependentRequired",
  "dependencies",
  "unevaluatedItems",
  "contains",
  "$dynamicRef",
  "$recursiveRef"
]

/**
 * Whether a schema has a keyword, and not an empty one.
 *
 * @category getters
 * @since 0.1.0
 */
export const says = (schema: JsonSchema, key: string): boolean => {
  const value = schema[key]
  return value !== undefined && !(key !== "not" && isSchema(value) && Object.keys(value).length === 0)
}

/**
 * Whether nothing satisfies a schema, by its own words.
 *
 * @category getters
 * @since 0.1.0
 */
export const isNever = (schema: Json.Json): boolean =>
  schema === false ||
  (isSchema(schema) && (schema["not"] === true || (isSchema(schema["not"]) && isEmpty(schema["not"]))))

/**
 * Whether a keyword stands beside nothing but notes and definitions.
 *
 * @category getters
 * @since 0.1.0
 */
export const isAlone = (schema: JsonSchema, keyword: string): boolean =>
  Object.keys(schema).every((key) => key === keyword || !assertions.has(key))

/**
 * Puts the parts of `allOf` into the schema: one part that stands alone, or
 * parts that only bound a value. Gives nothing where that cannot be.
 *
 * @category combinators
 * @since 0.1.0
 */
export const flatten = (schema: JsonSchema): JsonSchema | undefined => {
  const { allOf, ...rest } = schema
  if (allOf === undefined) return schema
  if (!Array.isArray(allOf) || !allOf.every(isSchema)) return undefined
  const [only, ...others] = allOf as ReadonlyArray<JsonSchema>
  if (only === undefined) return rest
  if (others.length === 0 && isAlone(schema, "allOf")) return flatten({ ...only, ...rest })
  const parts = allOf as ReadonlyArray<JsonSchema>
  const isBound = parts.every((part) => Object.keys(part).every((key) => bounds.has(key) || !assertions.has(key)))
  return isBound ? Object.assign({}, ...parts, rest) as JsonSchema : undefined
}

/**
 * The types of the values of a schema; none where it does not say.
 *
 * @category getters
 * @since 0.1.0
 */
export const typesOf = (schema: JsonSchema): ReadonlyArray<string> => {
  const { type } = schema
  if (typeof type === "string") return [type]
  const listed = listedValues(schema)
  const ofValues = listed === undefined ? undefined : [...new Set(listed.map(typeOf))]
  if (Array.isArray(type)) {
    const types = type.filter((one) => typeof one === "string")
    return ofValues === undefined ? types : types.filter((one) => ofValues.some((other) => isOf(other, one)))
  }
  return ofValues ?? (isSchema(schema["properties"]) ? ["object"] : schema["items"] === undefined ? [] : ["array"])
}

/**
 * The values that a schema of one type lists; nothing where it lists none.
 *
 * @category getters
 * @since 0.1.0
 */
export const values = (schema: JsonSchema): ReadonlyArray<Json.Json> | undefined => {
  const type = schema["type"] ?? typesOf(schema)[0]
  return listedValues(schema)?.filter((value) => isOf(typeOf(value), type))
}

/**
 * The bounds that a schema sets in numbers.
 *
 * @category getters
 * @since 0.1.0
 */
export const limits = (schema: JsonSchema): ReadonlyMap<string, number> =>
  new Map(
    numeric.flatMap((key) => {
      const bound = schema[key]
      return typeof bound === "number" ? [[key, bound] as const] : []
    })
  )

/**
 * A schema without what a model reads about it.
 *
 * @category combinators
 * @since 0.1.0
 */
export const bare = ({ description: _, default: __, ...schema }: JsonSchema): JsonSchema => schema

/**
 * What a model reads about a value: the description, and the bounds that the
 * provider is not told.
 *
 * @category getters
 * @since 0.1.0
 */
export const note = (schema: JsonSchema): string | undefined => {
  const { description } = schema
  const hints = [...bounds, "default"].flatMap((key) => {
    const value = schema[key]
    if (value === undefined || Math.abs(value as number) === Number.MAX_SAFE_INTEGER) return []
    const text = typeof value === "string" ? value : JSON.stringify(value)
    return text.length > maxHint ? [] : [`${key}: ${text}`]
  })
  const parts = [
    ...(typeof description === "string" && description !== "" ? [description] : []),
    ...(hints.length === 0 ? [] : [`(${hints.join(", ")})`])
  ]
  return parts.length === 0 ? undefined : parts.join(" ")
}

/**
 * Finds what a reference of a document refers to within it.
 *
 * @category getters
 * @since 0.1.0
 */
export const find = (document: JsonSchema, ref: string): Json.Json | undefined => {
  if (ref === "#") return document
  if (!ref.startsWith("#/")) return undefined
  let found: Json.Json | undefined = document
  for (const part of ref.slice(2).split("/")) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~")
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, key)) return undefined
    found = (found as JsonSchema)[key]
  }
  return found
}

/**
 * A name within a sentence: quoted, on one line, at most 100 characters.
 *
 * @category formatting
 * @since 0.1.0
 */
export const quoted = (name: string): string => JSON.stringify(name.length > 100 ? `${name.slice(0, 100)}…` : name)

const isEmpty = (schema: JsonSchema): boolean => Object.keys(schema).length === 0

const listedValues = (schema: JsonSchema): ReadonlyArray<Json.Json> | undefined =>
  schema["const"] === undefined
    ? Array.isArray(schema["enum"]) ? schema["enum"] as ReadonlyArray<Json.Json> : undefined
    : [schema["const"]]

const typeOf = (value: Json.Json): string => {
  if (value === null) return "null"
  return Array.isArray(value) ? "array" : typeof value
}

const isOf = (typeOfValue: string, type: Json.Json | undefined): boolean =>
  typeOfValue === type || (typeOfValue === "number" && type === "integer")

const maxHint = 200

const numeric = [
  "minimum",
  "maximum",
  "exclusiveMinimum",
  "exclusiveMaximum",
  "multipleOf",
  "minLength",
  "maxLength",
  "minItems",
  "maxItems"
]

const bounds = new Set([...numeric, "pattern", "format", "uniqueItems", "minProperties", "maxProperties"])

const assertions = new Set([
  ...bounds,
  ...structural,
  "$ref",
  "type",
  "enum",
  "const",
  "anyOf",
  "oneOf",
  "allOf",
  "properties",
  "required",
  "additionalProperties",
  "unevaluatedProperties",
  "items",
  "prefixItems"
])
