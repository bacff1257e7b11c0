/**
 * JSON Schemas as strict providers want them.
 *
 * @since 0.1.0
 */
import * as Predicate from "effect/Predicate"

/**
 * A copy of a JSON Schema in which objects that say nothing about further
 * properties allow none, as the AI SDK shows schemas of schema libraries to
 * models.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (schema: unknown, depth = 0): unknown => {
  if (depth > maxDepth) return schema
  if (Array.isArray(schema)) return schema.map((item) => make(item, depth + 1))
  if (!Predicate.isObject(schema)) return schema
  const copy = Object.fromEntries(
    Object.entries(schema).map(([key, item]) => [key, closed(key, item, depth)])
  )
  return isObjectType(copy["type"]) && copy["additionalProperties"] === undefined
    ? { ...copy, additionalProperties: false }
    : copy
}

const closed = (key: string, item: unknown, depth: number): unknown => {
  if (named.has(key) && Predicate.isObject(item)) {
    return Object.fromEntries(Object.entries(item).map(([name, schema]) => [name, make(schema, depth + 1)]))
  }
  return nested.has(key) ? make(item, depth + 1) : item
}

const isObjectType = (type: unknown): boolean => type === "object" || (Array.isArray(type) && type.includes("object"))

// Keys that hold schemas by name, and keys that hold one or a list. What stands under others is data.
const named = new Set(["properties", "patternProperties", "$defs", "definitions"])
const nested = new Set(["items", "prefixItems", "anyOf", "oneOf", "allOf", "not", "if", "then", "else"])
const maxDepth = 256
