/**
 * Brings what a model wrote for a strict schema back into the plain form.
 *
 * @since 0.1.0
 */
import type { Json } from "@mandate/core"
import * as PlainSchema from "./PlainSchema.ts"

/**
 * Makes optional keys that are `null` absent, wherever the plain schema takes
 * no `null` there.
 *
 * **Details**
 *
 * Of a union that member counts that fits best, the first of several. What
 * fits nowhere stays as it is: whoever decodes it says what is wrong. A value
 * that needs no change is given back as it is.
 *
 * The work grows with the parts of the value times the members of the unions
 * they stand in, and no faster, however unions and recursion are nested.
 *
 * @category combinators
 * @since 0.1.0
 */
export const restore = ({ definitions, root }: PlainSchema.PlainSchema, json: Json.Json): Json.Json => {
  const known = new Map<PlainSchema.Node, WeakMap<object, Fit>>()

  const fit = (node: PlainSchema.Node, value: Json.Json): Fit => {
    if (typeof value !== "object" || value === null) return fitNode(node, value)
    const fits = known.get(node) ?? new WeakMap<object, Fit>()
    known.set(node, fits)
    const made = fits.get(value) ?? fitNode(node, value)
    fits.set(value, made)
    return made
  }

  const fitNode = (node: PlainSchema.Node, value: Json.Json): Fit => {
    switch (node.kind) {
      case "value":
        return { value, misfits: isValue(node, value) ? 0 : 1 }
      case "ref":
        return fit(definitions.get(node.name)!, value)
      case "union":
        return node.members.map((member) => fit(member, value))
          .reduce((best, one) => one.misfits < best.misfits ? one : best)
      case "list":
        return Array.isArray(value) ? fitList(node, value) : { value, misfits: 1 }
      case "object":
        return isObject(value) ? fitObject(node, value) : { value, misfits: 1 }
    }
  }

  const fitList = (node: PlainSchema.List, value: ReadonlyArray<Json.Json>): Fit => {
    const items = value.map((item) => fit(node.items, item))
    return {
      value: items.every((item, index) => item.value === value[index]) ? value : items.map((item) => item.value),
      misfits: sum(items) + (isWithin(node.limits, value.length, "Items") ? 0 : 1)
    }
  }

  const fitObject = (node: PlainSchema.Obj, value: { readonly [key: string]: Json.Json }): Fit => {
    const entries = Object.entries(value)
    const kept = entries.flatMap(([key, item]) => {
      const field = node.fields.get(key)
      if (field === undefined) return [{ key, value: item, misfits: 1 }]
      const isAbsent = item === null && !field.isRequired && !PlainSchema.takesNull(definitions, field.node)
      return isAbsent ? [] : [{ key, ...fit(field.node, item) }]
    })
    const missing = [...node.fields].filter(([name, field]) => field.isRequired && !Object.hasOwn(value, name))
    const isSame = kept.length === entries.length && kept.every((one, index) => one.value === entries[index]![1])
    return {
      value: isSame ? value : Object.fromEntries(kept.map((one) => [one.key, one.value])),
      misfits: sum(kept) + missing.length
    }
  }

  return fit(root, json).value
}

// A value in its plain form, and in how many places it does not fit.
interface Fit {
  readonly value: Json.Json
  readonly misfits: number
}

const sum = (fits: ReadonlyArray<Pick<Fit, "misfits">>): number =>
  fits.reduce((total, { misfits }) => total + misfits, 0)

const isObject = (value: Json.Json): value is { readonly [key: string]: Json.Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const isValue = ({ limits, type, values }: PlainSchema.Value, value: Json.Json): boolean => {
  if (values !== undefined && !values.includes(value)) return false
  switch (type) {
    case "null":
      return value === null
    case "boolean":
      return typeof value === "boolean"
    case "string":
      return typeof value === "string" && isWithin(limits, [...value].length, "Length")
    case "integer":
      return Number.isInteger(value) && isInRange(limits, value as number)
    case "number":
      return typeof value === "number" && isInRange(limits, value)
  }
}

const isWithin = (limits: PlainSchema.Limits, size: number, of: "Items" | "Length"): boolean =>
  size >= (limits.get(`min${of}`) ?? 0) && size <= (limits.get(`max${of}`) ?? Infinity)

const isInRange = (limits: PlainSchema.Limits, value: number): boolean =>
  value >= (limits.get("minimum") ?? -Infinity) && value <= (limits.get("maximum") ?? Infinity) &&
  value > (limits.get("exclusiveMinimum") ?? -Infinity) && value < (limits.get("exclusiveMaximum") ?? Infinity)
