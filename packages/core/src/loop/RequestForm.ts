/**
 * Puts a request together so that every provider takes it: the one place
 * through which messages, tools, answer schema and settings go.
 *
 * **Details**
 *
 * Invariants:
 *
 * 1. Nothing that is sent has an unpaired surrogate, keys of schemas included.
 * 2. The root of a tool's schema has `properties`, and every array schema has
 *    `items`, in the schema of an answer too.
 * 3. Messages are those of `SentMessage`, without halves of a provider's own
 *    calls (`ProviderCalls`).
 * 4. What does not change is made once: a tool, a schema and settings for all
 *    requests, a message for the drive that has it.
 *
 * @since 0.1.0
 */
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type { Json } from "../values/Json.ts"
import * as JsonText from "../values/Json.ts"
import type { Message } from "../values/Message.ts"
import type { ModelRequest, ModelTool } from "../values/ModelRequest.ts"
import * as SentMessage from "../values/SentMessage.ts"
import type { JsonSchemaObject } from "../values/WrappedSchema.ts"
import type { CompiledAgent } from "./Drive.ts"
import * as ProviderCalls from "./ProviderCalls.ts"

/**
 * The request of an agent with these messages and tools.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  { answer, settings, system }: CompiledAgent,
  messages: ReadonlyArray<Message>,
  tools: ReadonlyArray<ModelTool>
): ModelRequest => ({
  messages: sent(system, messages),
  tools: tools.map(tool),
  toolChoice: "auto",
  ...(answer?.native === undefined ? {} : { answer: answerOf(answer.native) }),
  settings: wellFormed(settings)
})

/**
 * A tool as it is offered.
 *
 * @category combinators
 * @since 0.1.0
 */
export const tool = (definition: ModelTool): ModelTool => {
  const known = tools.get(definition)
  if (known !== undefined) return known
  const inputSchema = complete(definition.inputSchema)
  const made = wellFormed(inputSchema === definition.inputSchema ? definition : { ...definition, inputSchema })
  tools.set(definition, made)
  return made
}

/**
 * A schema of a tool's parameters in which the root has `properties` and every
 * array has `items`. One that has them is given back as it is.
 *
 * @category combinators
 * @since 0.1.0
 */
export const complete = (schema: JsonSchemaObject): JsonSchemaObject => {
  const root = items(schema)
  return Predicate.isObject(root["properties"]) ? root : { ...root, properties: {} }
}

// The messages of a drive only grow: what was made of them for one request is the beginning of the next one.
interface Sent {
  readonly all: Array<Message>
  count: number
  hasProviderParts: boolean
}

const ofDrives = new WeakMap<ReadonlyArray<Message>, Sent>()

const sent = (system: Message | undefined, messages: ReadonlyArray<Message>): ReadonlyArray<Message> => {
  const known = ofDrives.get(messages) ?? begin(system, messages)
  for (; known.count < messages.length; known.count++) {
    const message = messages[known.count]!
    known.hasProviderParts ||= ProviderCalls.has(message)
    add(known.all, message)
  }
  if (!known.hasProviderParts) return [...known.all]
  // Which calls of a provider are sent depends on what follows them.
  const all: Array<Message> = []
  if (system !== undefined) add(all, system)
  for (const message of ProviderCalls.paired(messages)) add(all, message)
  return all
}

const begin = (system: Message | undefined, messages: ReadonlyArray<Message>): Sent => {
  const made: Sent = { all: [], count: 0, hasProviderParts: false }
  if (system !== undefined) add(made.all, system)
  ofDrives.set(messages, made)
  return made
}

const add = (all: Array<Message>, message: Message): void => {
  const made = SentMessage.make(message)
  if (made !== undefined) all.push(made)
}

type ModelAnswer = NonNullable<ModelRequest["answer"]>

const answerOf = (definition: ModelAnswer): ModelAnswer => {
  const known = answers.get(definition)
  if (known !== undefined) return known
  const schema = definition.schema["type"] === "object" ? complete(definition.schema) : items(definition.schema)
  const made = wellFormed(schema === definition.schema ? definition : { ...definition, schema })
  answers.set(definition, made)
  return made
}

const tools = new WeakMap<ModelTool, ModelTool>()
const answers = new WeakMap<ModelAnswer, ModelAnswer>()
const texts = new WeakMap<object, object>()

// Settings may hold what JSON cannot; that is the client's to refuse.
const wellFormed = <A extends object>(value: A): A => {
  const known = texts.get(value)
  if (known !== undefined) return known as A
  const made = Result.getOrElse(Result.try(() => JsonText.stringify(value).value), () => value)
  texts.set(value, made)
  return made
}

const items = (schema: JsonSchemaObject): JsonSchemaObject => withItems(schema) as JsonSchemaObject

const withItems = (schema: Json): Json => {
  if (!Predicate.isObject(schema) || Array.isArray(schema)) return schema
  const entries = Object.entries(schema as JsonSchemaObject)
  const { items, type } = schema as JsonSchemaObject
  const lacks = (type === "array" || (Array.isArray(type) && type.includes("array"))) && !isItems(items)
  const made = entries
    .filter(([key]) => !lacks || key !== "items")
    .map(([key, value]): [string, Json] => [key, member(key, value)])
  if (lacks) made.push(["items", {}])
  return !lacks && made.every(([, value], index) => value === entries[index]![1])
    ? schema as JsonSchemaObject
    : Object.fromEntries(made)
}

const isItems = (value: Json | undefined): boolean =>
  typeof value === "boolean" || (typeof value === "object" && value !== null)

// Only where a schema stands: a property that is called `type`, or a value of an `enum`, is none.
const member = (key: string, value: Json): Json => {
  if (ofSchema.has(key)) return withItems(value)
  if (ofSchemas.has(key) && Array.isArray(value)) return unlessSame(value, value.map(withItems))
  if (ofMembers.has(key) && Predicate.isObject(value)) {
    const members = Object.entries(value as JsonSchemaObject)
    const made = members.map(([name, item]): [string, Json] => [name, withItems(item)])
    return made.every(([, item], index) => item === members[index]![1]) ? value : Object.fromEntries(made)
  }
  return value
}

const unlessSame = (before: ReadonlyArray<Json>, now: ReadonlyArray<Json>): Json =>
  now.every((item, index) => item === before[index]) ? before : now

const ofSchema = new Set([
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
const ofSchemas = new Set(["allOf", "anyOf", "oneOf", "prefixItems", "items"])
const ofMembers = new Set(["properties", "patternProperties", "$defs", "definitions", "dependentSchemas"])
