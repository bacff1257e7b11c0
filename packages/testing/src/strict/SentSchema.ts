/**
 * Schemas of tools that providers refuse.
 *
 * @since 0.1.0
 */

/**
 * Whether a schema's root lists its properties.
 *
 * @category getters
 * @since 0.1.0
 */
export const hasProperties = (schema: { readonly [key: string]: unknown }): boolean => isObject(schema["properties"])

/**
 * Paths of the array schemas below a schema that do not say what their items
 * are.
 *
 * @category getters
 * @since 0.1.0
 */
export const withoutItems = (schema: unknown, path: ReadonlyArray<string> = []): ReadonlyArray<string> => {
  if (!isObject(schema)) return []
  const types = [schema["type"]].flat()
  return [
    ...(types.includes("array") && !isItems(schema["items"]) ? [path.join(".") || "(root)"] : []),
    ...Object.entries(schema).flatMap(([key, value]): ReadonlyArray<string> => {
      if (members.has(key) && isObject(value)) {
        return Object.entries(value).flatMap(([name, item]) => withoutItems(item, [...path, key, name]))
      }
      if (lists.has(key) && Array.isArray(value)) {
        return value.flatMap((item, index) => withoutItems(item, [...path, key, `${index}`]))
      }
      return schemas.has(key) ? withoutItems(value, [...path, key]) : []
    })
  ]
}

const isItems = (value: unknown): boolean => typeof value === "boolean" || Array.isArray(value) || isObject(value)

const isObject = (value: unknown): value is { readonly [key: string]: unknown } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const members = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"])
const lists = new Set(["anyOf", "oneOf", "allOf", "prefixItems", "items"])
const schemas = new Set([
  "items",
  "additionalItems",
  "additionalProperties",
  "unevaluatedItems",
  "unevaluatedProperties",
  "contains",
  "propertyNames",
  "not",
  "if",
  "then",
  "else"
])
