/**
 * Writes JSON Schemas as a family of strict providers takes them.
 *
 * **Details**
 *
 * Every object has `additionalProperties: false` and requires all its keys; an
 * optional one is nullable. There are no other keywords than `type`, `enum`,
 * `properties`, `required`, `items`, `anyOf`, `description`, `$ref` and
 * `$defs`: the rest is not known in every place, and becomes text.
 *
 * @since 0.1.0
 */
import type { Json } from "@mandate/core"
import * as Result from "effect/Result"
import type { Family } from "./Family.ts"
import * as Keywords from "./Keywords.ts"
import * as PlainSchema from "./PlainSchema.ts"

/**
 * Writes a schema, or says what of it the family does not take.
 *
 * **Details**
 *
 * - `openai`: up to 5 000 keys, 1 000 listed values, and 10 objects in one
 *   another
 * - `anthropic`: keys of up to 64 letters, digits, `_`, `.`, `-`; nothing that
 *   refers to itself
 * - `google`: nothing that refers to itself; what is referred to is put in its
 *   place, up to 10 000 nodes; only strings are listed by value
 *
 * @category constructors
 * @since 0.1.0
 */
export const write = (plain: PlainSchema.PlainSchema, family: Family): Result.Result<Keywords.JsonSchema, string> => {
  const recursive = family === "openai" ? undefined : PlainSchema.cycle(plain.definitions, "anything")
  if (recursive !== undefined) return Result.fail(`refers to itself (${Keywords.quoted(recursive)})`)
  const writer: Writer = { plain, family, names: namesOf(plain), problem: undefined, nodes: 0, keys: 0, listed: 0 }
  const root = object(writer, plain.root, 1)
  const definitions = family === "google" ?
    [] :
    [...plain.definitions].flatMap(([ref, node]) =>
      ref === PlainSchema.rootName ? [] : [[writer.names.get(ref)!, writeNode(writer, node, 0)] as const]
    )
  const problem = writer.problem ?? tooMuch(writer)
  return problem === undefined
    ? Result.succeed(definitions.length === 0 ? root : { ...root, $defs: Object.fromEntries(definitions) })
    : Result.fail(problem)
}

interface Writer {
  readonly plain: PlainSchema.PlainSchema
  readonly family: Family
  readonly names: ReadonlyMap<string, string>
  problem: string | undefined
  nodes: number
  keys: number
  listed: number
}

const maxNodes = 10_000
const maxObjects = 10
const maxKeys = 5_000
const maxListed = 1_000
const anthropicKey = /^[a-zA-Z0-9_.-]{1,64}$/

const tooMuch = ({ family, keys, listed, nodes }: Writer): string | undefined => {
  if (nodes > maxNodes) return "is too large"
  if (family !== "openai") return undefined
  if (keys > maxKeys) return `has more than ${maxKeys} keys`
  return listed > maxListed ? `lists more than ${maxListed} values` : undefined
}

const writeNode = (writer: Writer, node: PlainSchema.Node, depth: number): Keywords.JsonSchema => {
  if (++writer.nodes > maxNodes) return {}
  switch (node.kind) {
    case "value":
      return { type: node.type, ...listed(writer, node) }
    case "object":
      return object(writer, node, depth + 1)
    case "list":
      return { type: "array", items: writeNode(writer, node.items, depth), ...described(node.note) }
    case "union":
      return union(node.members.map((member) => writeNode(writer, member, depth)), node.note)
    case "ref":
      return writer.family === "google"
        ? { ...writeNode(writer, writer.plain.definitions.get(node.name)!, depth), ...described(node.note) }
        : { $ref: writer.names.get(node.name)!.replace(/^(?!#)/, "#/$defs/") }
  }
}

const object = (writer: Writer, node: PlainSchema.Obj, depth: number): Keywords.JsonSchema => {
  if (depth > maxObjects && writer.family === "openai") {
    writer.problem ??= `has more than ${maxObjects} objects in one another`
  }
  const properties = [...node.fields].map(([name, field]) => {
    writer.keys++
    if (writer.family === "anthropic" && !anthropicKey.test(name)) {
      writer.problem ??= `has a key that is not taken there (${Keywords.quoted(name)})`
    }
    const schema = writeNode(writer, field.node, depth)
    const isNullable = !field.isRequired && !PlainSchema.takesNull(writer.plain.definitions, field.node)
    return [name, isNullable ? union([schema, { type: "null" }], field.node.note) : schema] as const
  })
  return {
    type: "object",
    properties: Object.fromEntries(properties),
    required: properties.map(([name]) => name),
    additionalProperties: false,
    ...described(node.note)
  }
}

const union = (members: ReadonlyArray<Keywords.JsonSchema>, note: string | undefined): Keywords.JsonSchema => {
  const flat = members.flatMap((member) => Array.isArray(member["anyOf"]) ? member["anyOf"] : [member])
  return flat.length === 1
    ? { ...flat[0] as Keywords.JsonSchema, ...described(note) }
    : { anyOf: flat, ...described(note) }
}

// Gemini lists strings and nothing else.
const listed = (writer: Writer, { note, type, values }: PlainSchema.Value): Keywords.JsonSchema => {
  if (values === undefined || type === "null") return described(note)
  writer.listed += values.length
  return writer.family === "google" && type !== "string"
    ? described([note, `(one of: ${values.map((value) => JSON.stringify(value)).join(", ")})`].join(" ").trim())
    : { enum: [...values] as Json.Json, ...described(note) }
}

const described = (note: string | undefined): { readonly description?: string } =>
  note === undefined ? {} : { description: note }

// Names of definitions, as short as the schema itself has them where no two are alike.
const namesOf = ({ definitions }: PlainSchema.PlainSchema): ReadonlyMap<string, string> => {
  const names = new Map<string, string>()
  const taken = new Set<string>()
  let next = 0
  for (const ref of definitions.keys()) {
    const own = /^#\/(?:\$defs|definitions)\/([a-zA-Z0-9_-]{1,64})$/.exec(ref)?.[1]
    let name = ref === PlainSchema.rootName ? ref : own
    while (name === undefined || taken.has(name)) name = `Definition${++next}`
    taken.add(name)
    names.set(ref, name)
  }
  return names
}
