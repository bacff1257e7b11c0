/**
 * What of a JSON Schema decides which values are valid.
 *
 * **Details**
 *
 * Invariants:
 *
 * 1. Annotations are removed where a schema stands, and nowhere else: a
 *    property called `title` stays, and so do the values of `enum` and `const`.
 * 2. Whatever is not known to be an annotation stays.
 * 3. The work is bounded: a schema keeps its references where they unfold to
 *    more than {@link maxNodes} schemas, or nest deeper than values may.
 *
 * @since 0.1.0
 */
import * as Predicate from "effect/Predicate"
import * as Json from "./Json.ts"
import * as JsonWalk from "./JsonWalk.ts"
import type { JsonSchemaObject } from "./WrappedSchema.ts"

/**
 * The form of a JSON Schema in which schemas that differ in annotations alone
 * are equal.
 *
 * **Details**
 *
 * - Annotations are removed: `title`, `description`, `examples`, `example`,
 *   `$comment`, `default`, `deprecated`, `readOnly`, `writeOnly`, and keywords
 *   that begin with `x-`
 * - Lists whose order and repetitions mean nothing are sorted: `required`,
 *   `enum`, `type`, `dependentRequired`, `allOf`, `anyOf`, `oneOf`. `const` is
 *   an `enum` of one value
 * - Definitions stand where they are referred to, so their names mean nothing;
 *   a recursive reference is the number of definitions up to the one it means
 * - Keywords that exclude nothing are removed: an empty `required`,
 *   `properties`, `patternProperties` or `allOf`, and `items: true`
 *
 * @category getters
 * @since 0.1.0
 */
export const make = (schema: Json.Json): Json.Json => {
  const walk: Walk = { definitions: definitionsOf(schema), left: maxNodes, depth: 0, isComplete: true }
  const unfolded = form(schema, [], walk)
  return walk.isComplete
    ? unfolded
    : form(schema, [], { definitions: undefined, left: Number.POSITIVE_INFINITY, depth: 0, isComplete: true })
}

/**
 * The most schemas that references are unfolded to.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxNodes = 10_000

// `definitions` is absent where references stay as they are. `isComplete`: all of them could be unfolded.
interface Walk {
  readonly definitions: ReadonlyMap<string, Json.Json> | undefined
  left: number
  depth: number
  isComplete: boolean
}

const form = (schema: Json.Json, unfolding: ReadonlyArray<string>, walk: Walk): Json.Json => {
  if (!Predicate.isObject(schema)) return schema
  if (--walk.left < 0 || (walk.definitions !== undefined && walk.depth > JsonWalk.maxDepth)) walk.isComplete = false
  if (!walk.isComplete) return schema
  const { $ref, ...rest } = schema as JsonSchemaObject
  walk.depth++
  const made = referring($ref, members(rest, unfolding, walk), unfolding, walk)
  walk.depth--
  return made
}

const referring = (
  $ref: Json.Json | undefined,
  siblings: JsonSchemaObject,
  unfolding: ReadonlyArray<string>,
  walk: Walk
): Json.Json => {
  if (typeof $ref !== "string") return $ref === undefined ? siblings : { ...siblings, $ref }
  const target = referred($ref, unfolding, walk)
  if (Object.keys(siblings).length === 0) return target
  return withAllOf(siblings, [target])
}

const referred = ($ref: string, unfolding: ReadonlyArray<string>, walk: Walk): Json.Json => {
  if (walk.definitions === undefined) return { $ref }
  const definition = walk.definitions.get($ref)
  if (definition === undefined) {
    walk.isComplete = false
    return { $ref }
  }
  const at = unfolding.indexOf($ref)
  return at < 0 ? form(definition, [...unfolding, $ref], walk) : { $ref: unfolding.length - at }
}

const members = (schema: JsonSchemaObject, unfolding: ReadonlyArray<string>, walk: Walk): JsonSchemaObject => {
  const inside = (item: Json.Json) => form(item, unfolding, walk)
  let kept: JsonSchemaObject = {}
  for (const [keyword, value] of Object.entries(schema)) {
    if (annotations.has(keyword) || keyword.startsWith("x-")) continue
    if (walk.definitions !== undefined && definitionKeywords.has(keyword)) continue
    const item = keywordForm(keyword, value, inside)
    if (item === undefined) continue
    if (keyword === "const" && schema["enum"] === undefined) kept = { ...kept, enum: [value] }
    else if (keyword === "allOf") kept = withAllOf(kept, item as ReadonlyArray<Json.Json>)
    else kept = { ...kept, [keyword]: item }
  }
  if (excludesNothing(kept["items"] ?? null) && kept["unevaluatedItems"] === undefined) {
    const { items: _, ...rest } = kept
    return rest
  }
  return kept
}

// What a keyword excludes; nothing where it excludes nothing.
const keywordForm = (
  keyword: string,
  value: Json.Json,
  inside: (item: Json.Json) => Json.Json
): Json.Json | undefined => {
  if (schemaMaps.has(keyword) && Predicate.isObject(value)) {
    const entries = Object.entries(value as JsonSchemaObject)
    return entries.length === 0 ? undefined : Object.fromEntries(entries.map(([name, item]) => [name, inside(item)]))
  }
  if (schemaLists.has(keyword) && Array.isArray(value)) {
    const items = value.map(inside)
    return keyword === "prefixItems" ? items : sorted(items, keyword !== "oneOf")
  }
  if (singleSchemas.has(keyword)) return Array.isArray(value) ? value.map(inside) : inside(value)
  if (sets.has(keyword) && Array.isArray(value)) {
    if (keyword === "required" && value.length === 0) return undefined
    if (keyword === "type" && value.length === 1) return value[0]
    return sorted(value, true)
  }
  if (keyword === "dependentRequired" && Predicate.isObject(value)) {
    return Object.fromEntries(
      Object.entries(value as JsonSchemaObject).map(([name, names]) => [
        name,
        Array.isArray(names) ? sorted(names, true) : names
      ])
    )
  }
  return value
}

const withAllOf = (schema: JsonSchemaObject, more: ReadonlyArray<Json.Json>): JsonSchemaObject => {
  const { allOf = [], ...rest } = schema
  const all = sorted([...allOf as ReadonlyArray<Json.Json>, ...more].filter((item) => !excludesNothing(item)), true)
  return all.length === 0 ? rest : { ...rest, allOf: all }
}

const excludesNothing = (schema: Json.Json): boolean =>
  schema === true || (Predicate.isObject(schema) && Object.keys(schema).length === 0)

const sorted = (items: ReadonlyArray<Json.Json>, isSet: boolean): ReadonlyArray<Json.Json> => {
  const texts = items.map((item) => [Json.canonical(item), item] as const).sort(([a], [b]) =>
    a < b ? -1 : a > b ? 1 : 0
  )
  return texts.filter(([text], index) => !isSet || texts[index - 1]?.[0] !== text).map(([, item]) => item)
}

const definitionsOf = (schema: Json.Json): ReadonlyMap<string, Json.Json> => {
  const found = new Map<string, Json.Json>()
  if (!Predicate.isObject(schema)) return found
  for (const keyword of definitionKeywords) {
    const definitions = (schema as JsonSchemaObject)[keyword]
    if (!Predicate.isObject(definitions)) continue
    for (const [name, definition] of Object.entries(definitions as JsonSchemaObject)) {
      found.set(`#/${keyword}/${name.replaceAll("~", "~0").replaceAll("/", "~1")}`, definition)
    }
  }
  return found
}

const annotations = new Set([
  "title",
  "description",
  "examples",
  "example",
  "$comment",
  "default",
  "deprecated",
  "readOnly",
  "writeOnly"
])

const definitionKeywords = new Set(["$defs", "definitions"])
const schemaMaps = new Set([
  "properties",
  "patternProperties",
  "dependentSchemas",
  "dependencies",
  ...definitionKeywords
])
const schemaLists = new Set(["allOf", "anyOf", "oneOf", "prefixItems"])
const singleSchemas = new Set([
  "additionalItems",
  "additionalProperties",
  "contains",
  "contentSchema",
  "else",
  "if",
  "items",
  "not",
  "propertyNames",
  "then",
  "unevaluatedItems",
  "unevaluatedProperties"
])
const sets = new Set(["enum", "required", "type"])
