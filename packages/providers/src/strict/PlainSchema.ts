/**
 * A JSON Schema as far as strict providers can say it.
 *
 * @since 0.1.0
 */
import type { Json } from "@mandate/core"

/**
 * One node of a schema. `note` is what a model reads about it.
 *
 * @category models
 * @since 0.1.0
 */
export type Node = Value | Obj | List | Union | Ref

/**
 * A value without parts, one of `values` where there are any.
 *
 * @category models
 * @since 0.1.0
 */
export interface Value {
  readonly kind: "value"
  readonly type: ValueType
  readonly values: ReadonlyArray<Json.Json> | undefined
  readonly limits: Limits
  readonly note: string | undefined
}

/**
 * Types of values without parts.
 *
 * @category models
 * @since 0.1.0
 */
export type ValueType = "string" | "number" | "integer" | "boolean" | "null"

/**
 * An object with these fields and no others.
 *
 * @category models
 * @since 0.1.0
 */
export interface Obj {
  readonly kind: "object"
  readonly fields: ReadonlyMap<string, Field>
  readonly note: string | undefined
}

/**
 * A field of an object.
 *
 * @category models
 * @since 0.1.0
 */
export interface Field {
  readonly node: Node
  readonly isRequired: boolean
}

/**
 * A list whose elements are all alike.
 *
 * @category models
 * @since 0.1.0
 */
export interface List {
  readonly kind: "list"
  readonly items: Node
  readonly limits: Limits
  readonly note: string | undefined
}

/**
 * One of several.
 *
 * @category models
 * @since 0.1.0
 */
export interface Union {
  readonly kind: "union"
  readonly members: ReadonlyArray<Node>
  readonly note: string | undefined
}

/**
 * What a definition says. The root has the name `#`.
 *
 * @category models
 * @since 0.1.0
 */
export interface Ref {
  readonly kind: "ref"
  readonly name: string
  readonly note: string | undefined
}

/**
 * Bounds of numbers and sizes, by their JSON Schema keyword.
 *
 * @category models
 * @since 0.1.0
 */
export type Limits = ReadonlyMap<string, number>

/**
 * A schema that was read: an object, and what its references name.
 *
 * **Details**
 *
 * Invariant: no chain of references and unions comes back to where it began
 * without passing a field or an element, so following one always ends.
 *
 * @category models
 * @since 0.1.0
 */
export interface PlainSchema {
  readonly root: Obj
  readonly definitions: ReadonlyMap<string, Node>
}

/**
 * Name of the definition that is the whole schema.
 *
 * @category constants
 * @since 0.1.0
 */
export const rootName = "#"

/**
 * Whether a node takes `null`.
 *
 * @category getters
 * @since 0.1.0
 */
export const takesNull = (definitions: PlainSchema["definitions"], node: Node): boolean => {
  switch (node.kind) {
    case "value":
      return node.type === "null"
    case "union":
      return node.members.some((member) => takesNull(definitions, member))
    case "ref":
      return takesNull(definitions, definitions.get(node.name)!)
    default:
      return false
  }
}

/**
 * The definition that a chain of references comes back to: through anything,
 * or only through unions, where no value could ever satisfy it.
 *
 * @category getters
 * @since 0.1.0
 */
export const cycle = (
  definitions: PlainSchema["definitions"],
  through: "anything" | "unions"
): string | undefined => {
  const done = new Set<string>()
  const open = new Set<string>()
  const visit = (name: string): string | undefined => {
    if (open.has(name)) return name
    if (done.has(name)) return undefined
    open.add(name)
    const found = first(referencesOf(definitions.get(name)!, through), visit)
    open.delete(name)
    done.add(name)
    return found
  }
  return first([...definitions.keys()], visit)
}

const referencesOf = (node: Node, through: "anything" | "unions"): ReadonlyArray<string> => {
  switch (node.kind) {
    case "value":
      return []
    case "ref":
      return [node.name]
    case "union":
      return node.members.flatMap((member) => referencesOf(member, through))
    case "list":
      return through === "unions" ? [] : referencesOf(node.items, through)
    case "object":
      return through === "unions"
        ? []
        : [...node.fields.values()].flatMap((field) => referencesOf(field.node, through))
  }
}

const first = (
  names: ReadonlyArray<string>,
  visit: (name: string) => string | undefined
): string | undefined => {
  for (const name of names) {
    const found = visit(name)
    if (found !== undefined) return found
  }
  return undefined
}
