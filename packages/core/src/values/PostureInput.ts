/**
 * Postures as they are written, and the one form that all of them have.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type { Budget } from "./Budget.ts"
import * as EnforcedSchema from "./EnforcedSchema.ts"
import type { JsonSchemaObject } from "./JsonCodec.ts"
import type { ModelSettings } from "./ModelRequest.ts"
import { defaultMaxSteps } from "./RunLimits.ts"
import type { Issue } from "./SchemaIssues.ts"

/**
 * A posture as it is written.
 *
 * **Details**
 *
 * - `name`: 1 to 52 of the characters `a-z A-Z 0-9 _ -`
 * - `description`: what callers choose it by; not blank
 * - `instructions`: the system prompt; not blank
 * - `allowedTools`: names of tools. An empty list allows the whole catalog
 * - `report`: the name of a registered schema, as a text or as `{ name }`; a
 *   JSON Schema, as it is or as `{ schema }`, all of which can be enforced;
 *   absent for a report in text
 * - `model`: an id or role of the `ModelRegistry`; absent for its default
 * - `settings`: settings of the model's calls
 * - `budget`: what a run may spend when its call sets nothing else
 * - `ceiling`: the most that a call may set. Where `budget` has no limit and
 *   `ceiling` has one, that is the default too
 * - `maxDepth`: the deepest at which it may start; a call made outside of any
 *   run starts at 1
 * - `maxSteps` (32): responses of the model in one run
 * - `extra`: whatever else the application keeps with it. Nothing acts on it
 *
 * A field that is `undefined` is absent.
 *
 * @category models
 * @since 0.1.0
 */
export interface PostureInput {
  readonly name: string
  readonly description: string
  readonly instructions: string
  readonly allowedTools?: ReadonlyArray<string> | undefined
  readonly report?:
    | string
    | { readonly name: string }
    | { readonly schema: JsonSchemaObject }
    | JsonSchemaObject
    | undefined
  readonly model?: string | undefined
  readonly settings?: ModelSettings | undefined
  readonly budget?: Budget | undefined
  readonly ceiling?: Budget | undefined
  readonly maxDepth?: number | undefined
  readonly maxSteps?: number | undefined
  readonly extra?: JsonSchemaObject | undefined
}

/**
 * The limits of a budget, in the order in which they are named.
 *
 * @category constants
 * @since 0.1.0
 */
export const limits = ["maxTokens", "maxToolCalls", "timeout"] as const

/**
 * Brings what was written into the form that a posture has, defaults filled
 * in. What it does not understand is left as it is, for the schema to refuse.
 *
 * @category getters
 * @since 0.1.0
 */
export const normalise = (input: Fields): Fields => {
  const given: Fields = { ...defaults, ...present(input) }
  return {
    ...given,
    allowedTools: sorted(given["allowedTools"]),
    ...("report" in given ? { report: reportForm(given["report"]) } : {}),
    budget: budgetForm(given["budget"]),
    ceiling: budgetForm(given["ceiling"])
  }
}

const defaults: Fields = {
  allowedTools: [],
  settings: {},
  budget: {},
  ceiling: {},
  maxSteps: defaultMaxSteps,
  extra: {}
}

/**
 * Finds what no single field shows: a default over its ceiling, and a JSON
 * Schema that is none, or that no report can be held to.
 *
 * @category getters
 * @since 0.1.0
 */
export const issues = ({ budget, ceiling, report }: Fields): ReadonlyArray<Issue> => [
  ...limits.flatMap((limit) => {
    const [given, most] = [fieldsOf(budget)[limit], fieldsOf(ceiling)[limit]]
    return typeof given === "number" && typeof most === "number" && given > most
      ? [{ path: ["budget", limit], message: "Expected no more than the ceiling" }]
      : []
  }),
  ...schemaIssues(fieldsOf(report)["schema"])
]

/**
 * Fields of anything, by name.
 *
 * @category models
 * @since 0.1.0
 */
export type Fields = { readonly [key: string]: unknown }

const fieldsOf = (value: unknown): Fields => Predicate.isObject(value) ? value as Fields : {}

const schemaIssues = (schema: unknown): ReadonlyArray<Issue> =>
  Predicate.isObject(schema)
    ? Result.match(EnforcedSchema.make(schema), {
      onSuccess: () => [],
      onFailure: (problem) => [{ path: ["report", "schema"], message: `The schema ${problem}` }]
    })
    : []

const present = (fields: Fields): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

const sorted = (names: unknown): unknown =>
  Array.isArray(names) && names.every(Predicate.isString) ? [...new Set(names)].sort() : names

// `name` and `schema` are no keywords of JSON Schema, so one key alone tells the forms apart.
const reportForm = (report: unknown): unknown => {
  if (typeof report === "string") return { name: report }
  if (!Predicate.isObject(report) || Array.isArray(report)) return report
  const keys = Object.keys(report)
  return keys.length === 1 && (keys[0] === "name" || keys[0] === "schema") ? report : { schema: report }
}

// A number of milliseconds is a duration already.
const budgetForm = (budget: unknown): unknown => {
  if (!Predicate.isObject(budget) || Array.isArray(budget)) return budget
  const { timeout, ...counts } = present(budget as Fields)
  return timeout === undefined ? counts : { ...counts, timeout: millis(timeout) }
}

const millis = (timeout: unknown): unknown =>
  Option.match(Duration.fromInput(timeout as Duration.Input), {
    onNone: () => timeout,
    onSome: Duration.toMillis
  })
