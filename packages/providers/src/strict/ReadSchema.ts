/**
 * Reads JSON Schemas as far as strict providers can say them.
 *
 * **Details**
 *
 * Whatever would be lost fails with a reason, save what only bounds a value
 * (`minLength` and its likes): that becomes a note for the model, and whoever
 * takes the value checks it anyway. Unknown keywords say nothing.
 *
 * @since 0.1.0
 */
import type { Json } from "@mandate/core"
import * as Result from "effect/Result"
import * as Keywords from "./Keywords.ts"
import * as PlainSchema from "./PlainSchema.ts"

/**
 * Reads a schema, or says why it cannot be.
 *
 * **Details**
 *
 * Its root is an object. Definitions that nothing refers to are not read. A
 * schema of more than 10 000 nodes, or that nests deeper than 64 levels, is
 * refused.
 *
 * @category constructors
 * @since 0.1.0
 */
export const read = (schema: Keywords.JsonSchema): Result.Result<PlainSchema.PlainSchema, string> =>
  Result.gen(function*() {
    const reader: Reader = { document: schema, definitions: new Map(), count: 0 }
    const node = yield* readNode(reader, schema, "", 0)
    const root = resolve(reader, node)
    if (root?.kind !== "object") return yield* Result.fail("is no object at its root")
    const definitions = new Map([...reader.definitions].map(([name, made]) => [name, made ?? root]))
    if (definitions.has(PlainSchema.rootName)) definitions.set(PlainSchema.rootName, root)
    const endless = PlainSchema.cycle(definitions, "unions")
    return endless === undefined
      ? { root, definitions }
      : yield* Result.fail(`has a definition that is only itself (${Keywords.quoted(endless)})`)
  })

// A definition that is being read has no node yet.
interface Reader {
  readonly document: Keywords.JsonSchema
  readonly definitions: Map<string, PlainSchema.Node | undefined>
  count: number
}

type Read<A = PlainSchema.Node> = Result.Result<A, string>

const maxNodes = 10_000
const maxDepth = 64

const resolve = (reader: Reader, node: PlainSchema.Node | undefined, hops = 0): PlainSchema.Node | undefined =>
  node?.kind === "ref" && hops < maxDepth ? resolve(reader, reader.definitions.get(node.name), hops + 1) : node

const readNode = (reader: Reader, given: Json.Json | undefined, path: string, depth: number): Read => {
  if (++reader.count > maxNodes) return Result.fail("is too large")
  if (depth > maxDepth) return Result.fail("nests too deep")
  if (!Keywords.isSchema(given)) return refuse(given === false ? "takes nothing" : "takes anything", path)
  const schema = Keywords.flatten(given)
  const lost = schema === undefined ? "allOf" : Keywords.structural.find((key) => Keywords.says(schema, key))
  if (schema === undefined || lost !== undefined) return refuse(`uses ${lost}`, path)
  const note = Keywords.note(schema)
  const { $ref, anyOf, oneOf } = schema
  if (typeof $ref === "string") {
    return Keywords.isAlone(schema, "$ref")
      ? Result.map(readDefinition(reader, $ref, path, depth), () => ({ kind: "ref", name: $ref, note }))
      : refuse("combines $ref with more", path)
  }
  const members = anyOf ?? oneOf
  if (Array.isArray(members)) {
    return Keywords.isAlone(schema, anyOf === undefined ? "oneOf" : "anyOf")
      ? readUnion(reader, members, note, path, depth)
      : refuse("combines anyOf or oneOf with more", path)
  }
  const types = Keywords.typesOf(schema)
  if (types.length === 0) return refuse("takes anything", path)
  if (types.length === 1) return readType(reader, schema, types[0]!, note, path, depth)
  return readUnion(reader, types.map((type) => ({ ...Keywords.bare(schema), type })), note, path, depth)
}

const readDefinition = (reader: Reader, name: string, path: string, depth: number): Read<void> => {
  if (reader.definitions.has(name)) return Result.void
  const found = Keywords.find(reader.document, name)
  if (found === undefined) return refuse("refers to what it does not hold", path)
  reader.definitions.set(name, undefined)
  return Result.map(readNode(reader, found, path, depth + 1), (node) => {
    reader.definitions.set(name, node)
  })
}

const readUnion = (
  reader: Reader,
  schemas: ReadonlyArray<Json.Json>,
  note: string | undefined,
  path: string,
  depth: number
): Read => {
  const possible = schemas.filter((schema) => !Keywords.isNever(schema))
  if (possible.length === 0) return refuse("takes nothing", path)
  return Result.map(
    all(possible, (schema) => readNode(reader, schema, path, depth + 1)),
    (members): PlainSchema.Node => ({ kind: "union", members, note })
  )
}

const readType = (
  reader: Reader,
  schema: Keywords.JsonSchema,
  type: string,
  note: string | undefined,
  path: string,
  depth: number
): Read => {
  switch (type) {
    case "object":
      return readObject(reader, schema, note, path, depth)
    case "array":
      return readList(reader, schema, note, path, depth)
    case "string":
    case "number":
    case "integer":
    case "boolean":
    case "null": {
      const values = Keywords.values(schema)
      return values?.length === 0
        ? refuse("takes nothing", path)
        : Result.succeed({ kind: "value", type, values, limits: Keywords.limits(schema), note })
    }
    default:
      return refuse("has a type that is none", path)
  }
}

const readObject = (
  reader: Reader,
  schema: Keywords.JsonSchema,
  note: string | undefined,
  path: string,
  depth: number
): Read => {
  const { additionalProperties, properties, required } = schema
  const isKnown = Keywords.isSchema(properties)
  const isOpen = isKnown
    ? Keywords.isSchema(additionalProperties) && Object.keys(additionalProperties).length > 0
    : additionalProperties !== false && !(additionalProperties === undefined && depth === 0)
  if (isOpen) return refuse("has keys that are not named (a record)", path)
  if (Keywords.values(schema) !== undefined) return refuse("lists whole objects", path)
  const named = isKnown ? Object.entries(properties) : []
  const names = new Set(Array.isArray(required) ? required : [])
  const missing = [...names].some((name) => !named.some(([known]) => known === name))
  if (missing) return refuse("requires a key without a schema", path)
  return Result.map(
    all(
      named.filter(([name, property]) => names.has(name) || !Keywords.isNever(property)),
      ([name, property]) =>
        Result.map(
          readNode(reader, property, `${path}.${name}`, depth + 1),
          (node) => [name, { node, isRequired: names.has(name) }] as const
        )
    ),
    (fields): PlainSchema.Node => ({ kind: "object", fields: new Map(fields), note })
  )
}

const readList = (
  reader: Reader,
  schema: Keywords.JsonSchema,
  note: string | undefined,
  path: string,
  depth: number
): Read => {
  const { items, prefixItems } = schema
  const element = JSON.stringify(items)
  // A list that is not empty is said as a first element and more of the same.
  const isTuple = Array.isArray(items) ||
    (Array.isArray(prefixItems) && prefixItems.some((item) => JSON.stringify(item) !== element))
  if (isTuple) return refuse("has a tuple", path)
  if (Keywords.values(schema) !== undefined) return refuse("lists whole arrays", path)
  return Result.map(
    readNode(reader, items, `${path}[]`, depth + 1),
    (node): PlainSchema.Node => ({ kind: "list", items: node, limits: Keywords.limits(schema), note })
  )
}

const all = <A, B>(items: ReadonlyArray<A>, apply: (item: A) => Read<B>): Read<ReadonlyArray<B>> => {
  const made: Array<B> = []
  for (const item of items) {
    const one = apply(item)
    if (Result.isFailure(one)) return Result.fail(one.failure)
    made.push(one.success)
  }
  return Result.succeed(made)
}

const refuse = (problem: string, path: string): Result.Result<never, string> =>
  Result.fail(path === "" ? problem : `${problem} at ${Keywords.quoted(path.replace(/^\./, ""))}`)
