/**
 * The shape of an agent: what of it a run in progress depends on.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Digest from "../values/Digest.ts"
import * as Json from "../values/Json.ts"
import type { JsonCodec } from "../values/JsonCodec.ts"
import type { LoopTool } from "./Drive.ts"

/**
 * The shape of an agent as text: its id, and a digest of the schemas of each
 * tool, of its report, and of each subagent's shape and input. Instructions,
 * descriptions, model, bounds and budgets are not part of it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (agent: {
  readonly id: string
  readonly tools: ReadonlyArray<{ readonly tool: LoopTool; readonly result: JsonCodec<unknown> }>
  readonly report: JsonCodec<unknown> | undefined
  readonly subagents: ReadonlyArray<{
    readonly id: string
    readonly shape: string
    readonly input: JsonCodec<unknown>
  }>
}): string =>
  Json.canonical({
    id: agent.id,
    tools: Object.fromEntries(agent.tools.map(({ result, tool }) => [
      tool.definition.name,
      digest([tool.definition.inputSchema, result.modelSchema])
    ])),
    report: agent.report === undefined ? "text" : digest(agent.report.modelSchema),
    subagents: Object.fromEntries(
      agent.subagents.map(({ id, input, shape }) => [id, digest([shape, input.modelSchema])])
    )
  })

/**
 * Names what differs between two shapes, a phrase each.
 *
 * @category getters
 * @since 0.1.0
 */
export const differences = (before: string, now: string): ReadonlyArray<string> => {
  const a = read(before)
  const b = read(now)
  if (a === undefined || b === undefined) return ["the shape of the agent"]
  return [
    ...(a.id === b.id ? [] : [`the id "${a.id}" is "${b.id}" now`]),
    ...(a.report === b.report ? [] : ["the schema of the report"]),
    ...changed("tool", a.tools, b.tools),
    ...changed("subagent", a.subagents, b.subagents)
  ]
}

interface Shape {
  readonly id: string
  readonly report: string
  readonly tools: { readonly [name: string]: string }
  readonly subagents: { readonly [id: string]: string }
}

const changed = (
  what: string,
  before: { readonly [name: string]: string },
  now: { readonly [name: string]: string }
): ReadonlyArray<string> =>
  [...new Set([...Object.keys(before), ...Object.keys(now)])].sort().flatMap((name) => {
    if (!Object.hasOwn(now, name)) return [`the ${what} "${name}" is gone`]
    if (!Object.hasOwn(before, name)) return [`the ${what} "${name}" is new`]
    return before[name] === now[name] ? [] : [`the schemas of the ${what} "${name}"`]
  })

const digest = (value: Json.Json): string => Digest.short(Json.canonical(value))

const read = (shape: string): Shape | undefined => {
  const parsed = Json.parse(shape, shape.length * 3)
  return parsed._tag === "Success" && isShape(parsed.success) ? parsed.success : undefined
}

const isShape = Schema.is(Schema.Struct({
  id: Schema.String,
  report: Schema.String,
  tools: Schema.Record(Schema.String, Schema.String),
  subagents: Schema.Record(Schema.String, Schema.String)
}))
