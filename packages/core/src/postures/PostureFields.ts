/**
 * The fields of a posture file, and what they say in a posture.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Predicate from "effect/Predicate"
import type { Json } from "../values/Json.ts"
import * as JsonWalk from "../values/JsonWalk.ts"
import * as Utf8 from "../values/Utf8.ts"
import { asTheyAre, isKnown, isLimit, meant } from "./FieldNames.ts"
import type { Found } from "./PostureProblem.ts"

/**
 * Fields of a file, or of one of its fields, by name.
 *
 * @category models
 * @since 0.1.0
 */
export type Fields = { readonly [key: string]: Json }

/**
 * Whether a value has fields.
 *
 * @category getters
 * @since 0.1.0
 */
export const isFields = (value: Json | undefined): value is Fields => Predicate.isObject(value) && !Array.isArray(value)

/**
 * The fields that say something: one that is known and left empty does not.
 *
 * @category getters
 * @since 0.1.0
 */
export const present = (fields: Fields): Fields => select(fields, (key) => fields[key] !== null || !isKnown(key))

/**
 * Which name a file has for its list of tools.
 *
 * @category getters
 * @since 0.1.0
 */
export const toolsField = (given: Fields): "tools" | "allowedTools" =>
  "allowedTools" in given ? "allowedTools" : "tools"

/**
 * Part of a posture, as a file gives it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Part {
  readonly input: { readonly [key: string]: unknown }
  readonly errors: ReadonlyArray<Found>
  readonly warnings: ReadonlyArray<Found>
}

/**
 * Takes the fields of a file, and the text below its front matter if it has
 * one, apart into what a posture is made from.
 *
 * @category getters
 * @since 0.1.0
 */
export const parts = (fields: Fields, body: string | undefined): ReadonlyArray<Part> => {
  const given = present(fields)
  return [
    part(select(given, (key) => asTheyAre.includes(key))),
    part(given["model"] === inherit ? {} : select(given, (key) => key === "model")),
    tools(given, "tools" in fields || "allowedTools" in fields),
    instructions(given, body),
    limits("budget", given["budget"]),
    limits("ceiling", given["ceiling"]),
    extra(given),
    part({}, [...misspelt(given), ...empty(fields)])
  ]
}

// Fields that hold a run to something. One that is misspelt, or lost what it holds, must not be one that is missing.
const limiting: ReadonlyArray<string> = ["report", "maxDepth", "maxSteps", "tools", "allowedTools", "budget", "ceiling"]

// What a merge key would bring in, limits among it, would be missing: YAML 1.2 has none.
const mergeKey = "<<"

// Not by assignment: `__proto__` is a field like any other.
const select = (fields: Fields, keep: (key: string) => boolean): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([key]) => keep(key)))

// Allows every tool, as coding agents write it.
const allTools = "*"

// The model of whoever asks, in files of coding agents: here, the registry's default.
const inherit = "inherit"

const part = (
  input: Part["input"],
  errors: ReadonlyArray<Found> = [],
  warnings: ReadonlyArray<Found> = []
): Part => ({ input, errors, warnings })

const tools = (given: Fields, isWritten: boolean): Part => {
  if ("tools" in given && "allowedTools" in given) {
    return part({}, [{ field: "allowedTools", message: "Expected tools or allowedTools, not both" }])
  }
  const field = toolsField(given)
  const value = given[field] ?? []
  const list = typeof value === "string" ? commaList(value) : value
  if (!Array.isArray(list)) return part({}, [{ field, message: "Expected a list of tools" }])
  if (list.length === 1 && list[0] === allTools) return part({})
  return part({ allowedTools: list }, [], isWritten && list.length === 0 ? [{ ...everyTool, field }] : [])
}

const everyTool: Omit<Found, "field"> = {
  severity: "warning",
  message: "An empty list allows every tool; leave it out, or write \"*\", to say so"
}

// A comma in brackets belongs to its tool: `Bash(git log:*, git diff:*), Read`.
const commaList = (text: string): ReadonlyArray<string> =>
  (text.match(/(?:\([^)]*\)?|[^,(])+/g) ?? []).map((tool) => tool.trim()).filter((tool) => tool !== "")

const instructions = (given: Fields, body: string | undefined): Part => {
  const field = "instructions"
  const written = given[field]
  if (typeof written === "string") {
    return body === undefined || trimmed(body) === ""
      ? part({ instructions: trimmed(written) })
      : part({ instructions: body }, [{ field, message: "Expected no instructions beside the text below" }])
  }
  if (written !== undefined) return part({ instructions: written })
  return part(body === undefined ? {} : { instructions: trimmed(body) })
}

// Blank lines around a text are of the file, not of the text.
const trimmed = (text: string): string => text.replace(/^(?:[ \t]*\n)+/, "").trimEnd()

const limits = (name: "budget" | "ceiling", value: Json | undefined): Part => {
  if (!isFields(value)) return part(value === undefined ? {} : { [name]: value })
  const { timeout, timeoutSeconds, ...counts } = value
  const field = `${name}.${timeout === undefined ? "timeoutSeconds" : "timeout"}`
  const wrong = (message: string) => part({ [name]: counts }, [{ field, message }])
  if (timeout === undefined && timeoutSeconds === undefined) return part({ [name]: counts })
  if (timeoutSeconds === undefined) {
    // A bare number could be of seconds or of milliseconds.
    return typeof timeout === "string" && Duration.fromInput(timeout as Duration.Input)._tag === "Some"
      ? part({ [name]: { ...counts, timeout } })
      : wrong("Expected a duration with its unit, such as \"60 seconds\"")
  }
  if (timeout !== undefined) return wrong("Expected timeout or timeoutSeconds, not both")
  return typeof timeoutSeconds === "number" && timeoutSeconds > 0
    ? part({ [name]: { ...counts, timeout: timeoutSeconds * 1000 } })
    : wrong("Expected a positive number of seconds")
}

const extra = (given: Fields): Part => {
  const field = "extra"
  const written = given[field] ?? {}
  const unknown = select(given, (key) => !isKnown(key))
  if (!isFields(written)) return part({ extra: written })
  return part(
    { extra: Object.fromEntries([...Object.entries(written), ...Object.entries(unknown)]) },
    Object.keys(unknown).filter((key) => Object.hasOwn(written, key)).map((key) => ({
      field: nameOf(key),
      message: "Expected each field once; it is in extra too"
    })),
    Object.keys(unknown).filter((key) => !limiting.includes(meant(key) ?? "")).map(unknownField)
  )
}

const unknownField = (key: string): Found => ({ severity: "warning", field: nameOf(key), message: advice(key) })

const advice = (key: string): string => {
  if (isLimit(key)) return "Expected a limit in budget or in ceiling, not here"
  const name = meant(key)
  return name === undefined ? "Nothing acts on this field; it is kept in extra" : `Expected the name ${name}`
}

const misspelt = (given: Fields): ReadonlyArray<Found> =>
  Object.keys(given).flatMap((key) => {
    if (key === mergeKey) return [{ field: key, message: "Expected no merge key; write its fields out" }]
    const name = isKnown(key) ? undefined : meant(key)
    return name === undefined || !limiting.includes(name)
      ? []
      : [{ field: nameOf(key), message: `Expected the name ${name}` }]
  })

// An empty list of tools says what it means, with a warning.
const empty = (fields: Fields): ReadonlyArray<Found> =>
  limiting.filter((field) => fields[field] === null && field !== toolsField(fields)).map((field) => ({
    field,
    message: "Expected a value; leave the field out to set none"
  }))

const nameOf = (key: string): string => Utf8.cut(JsonWalk.pathText([key]), 100)
