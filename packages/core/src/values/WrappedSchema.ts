/**
 * JSON Schemas whose root is no object, as models are shown them.
 *
 * @since 0.1.0
 */
import * as Predicate from "effect/Predicate"
import type { Json } from "./Json.ts"

/**
 * Key under which a model finds a value whose schema is not an object at its
 * root. Providers take only objects.
 *
 * @category constants
 * @since 0.1.0
 */
export const wrapperKey = "value"

/**
 * A JSON Schema that is an object.
 *
 * @category models
 * @since 0.1.0
 */
export type JsonSchemaObject = { readonly [key: string]: Json }

/**
 * The schema of an object that holds the value under {@link wrapperKey}.
 *
 * @category combinators
 * @since 0.1.0
 */
export const wrapped = ({ $defs, $schema, definitions, ...schema }: JsonSchemaObject): JsonSchemaObject => ({
  // Definitions stay at the root, where references look for them.
  ...($schema === undefined ? {} : { $schema }),
  ...($defs === undefined ? {} : { $defs: moved($defs) }),
  ...(definitions === undefined ? {} : { definitions: moved(definitions) }),
  type: "object",
  properties: { [wrapperKey]: moved(schema) },
  required: [wrapperKey],
  additionalProperties: false
})

/**
 * Changes the value in its wrapper. What is no wrapper stays as it is.
 *
 * @category combinators
 * @since 0.1.0
 */
export const mapWrapped = (json: unknown, change: (value: unknown) => unknown): unknown =>
  Predicate.isObject(json) && Object.hasOwn(json, wrapperKey)
    ? { ...json, [wrapperKey]: change((json as { readonly [key: string]: unknown })[wrapperKey]) }
    : json

// References to the old root, or into it, follow it to where it is now.
const moved = (schema: Json): Json => {
  if (Array.isArray(schema)) return schema.map(moved)
  if (!Predicate.isObject(schema)) return schema
  return Object.fromEntries(
    Object.entries(schema as JsonSchemaObject).map(([key, item]) => [
      key,
      key === "$ref" && typeof item === "string" ? item.replace(intoRoot, `#/properties/${wrapperKey}`) : moved(item)
    ])
  )
}

const intoRoot = /^#(?=$|\/(?!\$defs\/|definitions\/))/
