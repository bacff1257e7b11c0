/**
 * The rule that `null` for an optional property whose schema refuses `null` is
 * the same as leaving the property out.
 *
 * **Details**
 *
 * Many models write every property that they know, and `null` for those that
 * they have nothing to say about. Providers that require every property ask for
 * just that.
 *
 * @since 0.1.0
 */
import * as Predicate from "effect/Predicate"
import type { Json } from "./Json.ts"
import * as JsonWalk from "./JsonWalk.ts"
import type { JsonSchemaObject } from "./WrappedSchema.ts"

/**
 * Compiles the rule for a JSON Schema (draft 2020-12), when the first value
 * with a `null` comes. A value that needs no change is given back as it is.
 *
 * **Details**
 *
 * Properties are left out at any depth: in arrays, records, unions and
 * recursive schemas, and so are optional elements at the end of a tuple. Of a
 * union, the member counts that fits the value best, then the one that needs
 * the fewest changes, then the first. What fits nowhere stays as it is: the
 * decoder says what is wrong.
 *
 * The work grows with the parts of the value times the members of the unions
 * that they are in.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (schemaOf: () => Json): (json: unknown) => unknown => {
  let schema: Json | undefined
  return (json) => {
    if (!hasNull(json, 0)) return json
    schema ??= schemaOf()
    return apply(schema, json as Json)
  }
}

const hasNull = (value: unknown, depth: number): boolean => {
  if (value === null) return true
  if (typeof value !== "object" || depth > JsonWalk.maxDepth) return false
  return Object.values(value).some((item) => hasNull(item, depth + 1))
}

// A value without what counts as absent, in how many places it does not fit, and how often it was changed.
interface Fit {
  readonly value: Json
  readonly misfits: number
  readonly changes: number
}

const apply = (root: Json, value: Json): Json => {
  const known = new Map<Json, Map<Json, Fit>>()
  const nullable = new Map<Json, boolean>()

  const resolve = (schema: Json): Json => {
    const seen = new Set<Json>()
    let current = schema
    while (isObject(current) && typeof current["$ref"] === "string" && !seen.has(current)) {
      seen.add(current)
      const { $ref, ...beside } = current
      const target = pointed(root, $ref as string)
      current = Object.keys(beside).some((key) => structural.has(key)) && isObject(target)
        ? { allOf: [target, beside] }
        : target
    }
    return current
  }

  const takesNull = (given: Json): boolean => {
    const found = nullable.get(given)
    if (found !== undefined) return found
    // A schema that refers to itself in its own place says nothing.
    nullable.set(given, true)
    const schema = resolve(given)
    const takes = isObject(schema) ? isAllowed(schema, null) && membersTakeNull(schema) : schema !== false
    nullable.set(given, takes)
    return takes
  }

  const membersTakeNull = ({ allOf, anyOf, not, oneOf }: JsonSchemaObject): boolean =>
    !(isObject(not) && not["type"] === "null") && (!Array.isArray(allOf) || allOf.every(takesNull)) &&
    (!Array.isArray(anyOf) || anyOf.some(takesNull)) && (!Array.isArray(oneOf) || oneOf.some(takesNull))

  const fit = (given: Json, value: Json): Fit => {
    const fits = known.get(given) ?? new Map<Json, Fit>()
    known.set(given, fits)
    const made = fits.get(value)
    if (made !== undefined) return made
    // A schema that refers to itself in its own place fits nothing.
    fits.set(value, unchanged(value, 1))
    const schema = resolve(given)
    const found = isObject(schema) ? fitSchema(schema, value) : unchanged(value, schema === false ? 1 : 0)
    fits.set(value, found)
    return found
  }

  const fitSchema = (schema: JsonSchemaObject, value: Json): Fit => {
    const { allOf, anyOf, oneOf } = schema
    let found = fitOwn(schema, value)
    for (const members of [anyOf, oneOf]) {
      if (Array.isArray(members) && members.length > 0) {
        found = joined(found, members.map((member) => fit(member, found.value)).reduce(better))
      }
    }
    if (Array.isArray(allOf)) { for (const member of allOf) found = joined(found, fit(member, found.value)) }
    return found
  }

  const fitOwn = (schema: JsonSchemaObject, value: Json): Fit => {
    const misfits = isAllowed(schema, value) ? 0 : 1
    if (misfits > 0 || value === null || typeof value !== "object") return unchanged(value, misfits)
    return Array.isArray(value) ? fitArray(schema, value) : fitObject(schema, value as JsonSchemaObject)
  }

  const fitArray = ({ items, minItems, prefixItems }: JsonSchemaObject, value: ReadonlyArray<Json>): Fit => {
    const elements = Array.isArray(prefixItems) ? prefixItems : []
    const least = typeof minItems === "number" ? minItems : 0
    let length = value.length
    while (
      length > least && length <= elements.length && value[length - 1] === null && !takesNull(elements[length - 1]!)
    ) length--
    const fits = value.slice(0, length).map((item, index) => {
      const schema = index < elements.length ? elements[index] : items
      return schema === undefined ? unchanged(item, 0) : fit(schema, item)
    })
    const isSame = length === value.length && fits.every((one, index) => one.value === value[index])
    return {
      value: isSame ? value as Json : fits.map((one) => one.value),
      misfits: sum(fits, "misfits"),
      changes: sum(fits, "changes") + value.length - length
    }
  }

  const fitObject = (schema: JsonSchemaObject, value: JsonSchemaObject): Fit => {
    const { additionalProperties, properties, required } = schema
    const names: ReadonlyArray<Json> = Array.isArray(required) ? required : []
    const entries = Object.entries(value)
    let changes = 0
    let misfits = names.filter((name) => typeof name === "string" && !Object.hasOwn(value, name)).length
    const kept = entries.flatMap(([key, item]): ReadonlyArray<readonly [string, Json]> => {
      const own = ownSchema(properties, key)
      if (own !== undefined && item === null && !names.includes(key) && !takesNull(own)) {
        changes++
        return []
      }
      const part = own ?? patternSchema(schema["patternProperties"], key) ?? additionalProperties
      if (part === undefined) return [[key, item]]
      const found = fit(part, item)
      changes += found.changes
      misfits += found.misfits
      return [[key, found.value]]
    })
    const isSame = kept.length === entries.length && kept.every(([, item], index) => item === entries[index]![1])
    return { value: isSame ? value : Object.fromEntries(kept), misfits, changes }
  }

  return fit(root, value).value
}

// Keywords beside a reference that decide what is valid.
const structural: ReadonlySet<string> = new Set(["properties", "required", "allOf", "anyOf", "oneOf", "type"])

const unchanged = (value: Json, misfits: number): Fit => ({ value, misfits, changes: 0 })

const joined = (first: Fit, then: Fit): Fit => ({
  value: then.value,
  misfits: first.misfits + then.misfits,
  changes: first.changes + then.changes
})

const better = (best: Fit, one: Fit): Fit =>
  one.misfits < best.misfits || (one.misfits === best.misfits && one.changes < best.changes) ? one : best

const sum = (fits: ReadonlyArray<Fit>, of: "misfits" | "changes"): number =>
  fits.reduce((total, fit) => total + fit[of], 0)

const isObject = (value: Json | undefined): value is JsonSchemaObject =>
  Predicate.isObject(value) && !Array.isArray(value)

const ownSchema = (properties: Json | undefined, key: string): Json | undefined =>
  isObject(properties) && Object.hasOwn(properties, key) ? properties[key] : undefined

// A pattern is not applied here: one of several could take long, and only which member of a union fits depends on it.
const patternSchema = (patterns: Json | undefined, _key: string): Json | undefined => {
  const schemas = isObject(patterns) ? Object.values(patterns) : []
  return schemas.length === 1 ? schemas[0] : undefined
}

const pointed = (root: Json, reference: string): Json => {
  if (!reference.startsWith("#")) return true
  const names = reference.slice(1).split("/").slice(1)
    .map((name) => safeDecode(name).replaceAll("~1", "/").replaceAll("~0", "~"))
  let current: Json | undefined = root
  for (const name of names) {
    current = (isObject(current) || Array.isArray(current)) && Object.hasOwn(current, name)
      ? (current as JsonSchemaObject)[name]
      : undefined
  }
  return current ?? true
}

const safeDecode = (text: string): string => text.replaceAll("%25", "%").replaceAll("%20", " ").replaceAll("%24", "$")

// Whether the value by itself, without its parts, may be valid.
const isAllowed = (schema: JsonSchemaObject, value: Json): boolean => {
  const { const: constant, enum: values, nullable, type } = schema
  if (value === null && nullable === true) return true
  if (type !== undefined) {
    const types = Array.isArray(type) ? type : [type]
    if (!types.some((one) => isOfType(one, value))) return false
  }
  if (constant !== undefined && !isSame(constant, value)) return false
  return !Array.isArray(values) || values.some((one) => isSame(one, value))
}

const isSame = (a: Json, b: Json): boolean =>
  a === b || (typeof a === "object" && a !== null && JSON.stringify(a) === JSON.stringify(b))

const isOfType = (type: Json, value: Json): boolean => {
  switch (type) {
    case "null":
      return value === null
    case "array":
      return Array.isArray(value)
    case "object":
      return isObject(value)
    case "integer":
      return Number.isInteger(value)
    default:
      return typeof value === type
  }
}
