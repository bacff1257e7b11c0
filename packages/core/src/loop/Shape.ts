/**
 * The shape of an agent: what of it a run in progress depends on.
 *
 * @since 0.1.0
 */
import { identity } from "effect/Function"
import * as Schema from "effect/Schema"
import * as Digest from "../values/Digest.ts"
import * as Json from "../values/Json.ts"
import type { JsonCodec } from "../values/JsonCodec.ts"
import * as ValidatingForm from "../values/ValidatingForm.ts"
import type { LoopTool } from "./Drive.ts"

/**
 * The shape of an agent as texts.
 *
 * **Details**
 *
 * - `text`: what a run's row keeps
 * - `earlier`: the same agent as rows kept it while descriptions and other
 *   annotations were part of a shape
 *
 * @category models
 * @since 0.1.0
 */
export interface ShapeTexts {
  readonly text: string
  readonly earlier: string
}

/**
 * The shape of an agent: its id, and a digest of the schemas of each tool, of
 * its report, of its context if it declares one, and of each subagent's shape
 * and input. Of a schema only what
 * decides which values are valid is part of it, see {@link ValidatingForm}.
 * Instructions, descriptions, model, bounds and budgets are not.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (agent: Described): ShapeTexts => ({
  text: written(agent, ValidatingForm.make, ({ text }) => text),
  earlier: written(agent, identity, ({ earlier }) => earlier)
})

interface Described {
  readonly id: string
  readonly tools: ReadonlyArray<{ readonly tool: LoopTool; readonly result: JsonCodec<unknown> }>
  readonly report: JsonCodec<unknown> | undefined
  readonly context: JsonCodec<unknown> | undefined
  readonly subagents: ReadonlyArray<{
    readonly id: string
    readonly shape: ShapeTexts
    readonly input: JsonCodec<unknown>
  }>
}

const written = (
  agent: Described,
  form: (schema: Json.Json) => Json.Json,
  textOf: (shape: ShapeTexts) => string
): string =>
  Json.canonical({
    id: agent.id,
    tools: Object.fromEntries(agent.tools.map(({ result, tool }) => [
      tool.definition.name,
      digest([form(tool.definition.inputSchema), form(result.modelSchema)])
    ])),
    report: agent.report === undefined ? "text" : digest(form(agent.report.modelSchema)),
    subagents: Object.fromEntries(
      agent.subagents.map(({ id, input, shape }) => [id, digest([textOf(shape), form(input.modelSchema)])])
    ),
    ...(agent.context === undefined ? {} : { context: digest(form(agent.context.modelSchema)) })
  })

/**
 * Whether the shape that a row keeps is this one.
 *
 * @category getters
 * @since 0.1.0
 */
export const matches = (stored: string, { earlier, text }: ShapeTexts): boolean => stored === text || stored === earlier

/**
 * Names what differs between the shape that a row keeps and that of an agent,
 * a phrase each.
 *
 * @category getters
 * @since 0.1.0
 */
export const differences = (stored: string, { earlier, text }: ShapeTexts): ReadonlyArray<string> => {
  const before = read(stored)
  const now = read(text)
  const then = read(earlier)
  if (before === undefined || now === undefined || then === undefined) return ["the shape of the agent"]
  return [
    ...(before.id === now.id ? [] : [`the id "${before.id}" is "${now.id}" now`]),
    ...(before.report === now.report || before.report === then.report ? [] : ["the schema of the report"]),
    ...(before.context === now.context || before.context === then.context ? [] : ["the schema of the context"]),
    ...changed("tool", before.tools, now.tools, then.tools),
    ...changed("subagent", before.subagents, now.subagents, then.subagents)
  ]
}

interface Shape {
  readonly id: string
  readonly report: string
  readonly tools: { readonly [name: string]: string }
  readonly subagents: { readonly [id: string]: string }
  readonly context?: string
}

const changed = (
  what: string,
  before: { readonly [name: string]: string },
  now: { readonly [name: string]: string },
  earlier: { readonly [name: string]: string }
): ReadonlyArray<string> =>
  [...new Set([...Object.keys(before), ...Object.keys(now)])].sort().flatMap((name) => {
    if (!Object.hasOwn(now, name)) return [`the ${what} "${name}" is gone`]
    if (!Object.hasOwn(before, name)) return [`the ${what} "${name}" is new`]
    return before[name] === now[name] || before[name] === earlier[name] ? [] : [`the schemas of the ${what} "${name}"`]
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
  subagents: Schema.Record(Schema.String, Schema.String),
  context: Schema.optionalKey(Schema.String)
}))
