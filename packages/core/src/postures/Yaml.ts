/**
 * YAML as untrusted input: plain JSON with the line of each field, or all that
 * is wrong.
 *
 * **Details**
 *
 * YAML 1.2. Aliases are followed, and everything behind them counts each time
 * it is used. What JSON does not have (tags, `.nan`, keys that are collections)
 * is refused, and so are keys that are there twice.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import { Alias, type Document, isCollection, isMap, isScalar, LineCounter, parseDocument, type YAMLError } from "yaml"
import type { Json } from "../values/Json.ts"
import * as JsonWalk from "../values/JsonWalk.ts"
import * as Utf8 from "../values/Utf8.ts"
import * as LooseText from "./LooseText.ts"
import type { Found } from "./PostureProblem.ts"

/**
 * The most levels that a file may nest.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxDepth = 32

/**
 * The most values that a file may hold, those behind aliases counted each time
 * they are used.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxValues = 10_000

/**
 * The most characters of text that a file may hold, those behind aliases
 * counted each time they are used.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxCharacters = 1_048_576

/**
 * What a text in YAML stands for. `lineOf` finds the line of a field by its
 * path as text, or of the nearest field around it. `stray` is a field that may
 * be a line of the text above it.
 *
 * @category models
 * @since 0.1.0
 */
export interface Parsed {
  readonly value: Json
  readonly lineOf: (field: string) => number | undefined
  readonly stray: Found | undefined
}

/**
 * Parses a text in YAML that holds one document.
 *
 * @category constructors
 * @since 0.1.0
 */
export const parse = (text: string): Result.Result<Parsed, ReadonlyArray<Found>> => {
  const counter = new LineCounter()
  const lineAt = (offset: number): number => counter.linePos(offset).line
  const document = Result.try(() =>
    // Without `prettyErrors: false`, messages quote the file.
    parseDocument(text, { ...options, lineCounter: counter })
  )
  if (Result.isFailure(document)) return Result.fail([{ field: "", message: "Expected YAML" }])
  const { errors, warnings } = document.success
  const refused = [...errors, ...warnings].slice(0, maxProblems)
  if (refused.length > 0) {
    const loose = LooseText.find(text)
    // What else the parser says follows from it.
    if (loose !== undefined) return Result.fail([loose])
    const found = refused.map((error) => ({ line: lineAt(error.pos[0]), field: "", message: sentence(error) }))
    return Result.fail(found.filter(({ line }, index) => found.findIndex((other) => other.line === line) === index))
  }
  const stray = LooseText.findField(text)
  if (stray !== undefined && stray.severity !== "warning") return Result.fail([stray])
  return Result.map(read(document.success, lineAt), (parsed) => ({ ...parsed, stray }))
}

const options = {
  version: "1.2",
  schema: "core",
  merge: false,
  // Found here, with the field that is there twice.
  uniqueKeys: false,
  prettyErrors: false,
  logLevel: "error"
} as const

const maxProblems = 16

const sentence = ({ code }: YAMLError): string => sentences[code] ?? "Expected YAML"

const noTags = "Expected no tags"

const sentences: { readonly [code: string]: string } = {
  BAD_ALIAS: "Expected the alias of an anchor above",
  BAD_DQ_ESCAPE: "Expected an escape that YAML knows",
  BAD_INDENT: "Expected another indentation, or a bracket closed before",
  BAD_SCALAR_START: "Expected quotes around a text that starts like this",
  BLOCK_AS_IMPLICIT_KEY: "Expected quotes around a text with \": \" in it",
  MISSING_CHAR: "Expected a closing bracket, quote or colon",
  MULTILINE_IMPLICIT_KEY: "Expected a field: quote a text of several lines, or indent it",
  MULTIPLE_DOCS: "Expected one document",
  RESOURCE_EXHAUSTION: `Expected at most ${maxDepth} levels of nesting`,
  TAB_AS_INDENT: "Expected spaces, not tabs, as indentation",
  TAG_RESOLVE_FAILED: noTags,
  UNEXPECTED_TOKEN: "Expected YAML: quote the whole text, or indent its lines"
}

// Reading stops at the first bound that does not hold; anything else is reported and read on.
const read = (
  document: Document,
  lineAt: (offset: number) => number
): Result.Result<Omit<Parsed, "stray">, ReadonlyArray<Found>> => {
  const found: Array<Found> = []
  const lines = new Map<string, number>()
  const anchors = new Map<string, unknown>()
  let values = 0
  let characters = 0
  let isOver = false

  const at = (node: unknown): number | undefined => {
    const offset = (node as { readonly range?: readonly [number, ...Array<number>] | null } | null)?.range?.[0]
    return offset === undefined ? undefined : lineAt(offset)
  }
  const report = (path: Path, node: unknown, message: string): null => {
    if (found.length < maxProblems) found.push({ line: at(node), field: fieldOf(path), message })
    return null
  }
  const over = (path: Path, node: unknown, message: string): null => {
    isOver = true
    return report(path, node, message)
  }
  const text = (path: Path, node: unknown, value: string): string => {
    characters += value.length
    return characters > maxCharacters ? over(path, node, `Expected at most ${maxCharacters} characters`) ?? "" : value
  }
  const keyOf = (path: Path, node: unknown): string | undefined => {
    if (isScalar(node) && node.tag !== undefined) report(path, node, noTags)
    if (isScalar(node) && node.value !== null) return text(path, node, String(node.value))
    report(path, node, "Expected a name before the colon")
    return undefined
  }

  const walk = (path: Path, node: unknown): Json => {
    if (isOver) return null
    values++
    if (values > maxValues) return over(path, node, `Expected at most ${maxValues} values`)
    if (path.length > maxDepth) return over(path, node, `Expected at most ${maxDepth} levels of nesting`)
    if (node instanceof Alias) {
      return anchors.has(node.source)
        ? walk(path, anchors.get(node.source))
        : report(path, node, "Expected the alias of an anchor above")
    }
    if (!isScalar(node) && !isCollection(node)) {
      return node === null ? null : report(path, node, "Expected a JSON value")
    }
    // Before what is inside: an anchor that holds itself runs into the bound on nesting.
    if (node.anchor !== undefined) anchors.set(node.anchor, node)
    // Those that the parser knows too: they make a text of a number, and the other way round.
    if (node.tag !== undefined) return report(path, node, noTags)
    if (isScalar(node)) return scalar(path, node)
    return isMap(node) ? mapping(path, node.items) : node.items.map((item, index) => {
      const inner = [...path, index]
      mark(inner, item)
      return walk(inner, item)
    })
  }
  const mark = (path: Path, node: unknown): void => {
    const line = at(node)
    if (line !== undefined && path.length <= markedLevels) lines.set(fieldOf(path), line)
  }
  const scalar = (path: Path, node: { readonly value: unknown }): Json => {
    const { value } = node
    if (typeof value === "string") return text(path, node, value)
    if (value === null || typeof value === "boolean") return value
    if (typeof value === "number" && Number.isFinite(value)) return value
    return report(path, node, typeof value === "number" ? "Expected a finite number" : "Expected a JSON value")
  }
  const mapping = (path: Path, items: ReadonlyArray<{ readonly key: unknown; readonly value: unknown }>): Json => {
    const entries = new Map<string, Json>()
    for (const { key: keyNode, value } of items) {
      const key = keyOf(path, keyNode)
      if (key === undefined) continue
      const inner = [...path, key]
      if (entries.has(key)) {
        report(inner, keyNode, "Expected each field once")
        continue
      }
      mark(inner, keyNode)
      entries.set(key, walk(inner, value))
      if (isOver) break
    }
    // Not by assignment: `__proto__` is a key like any other.
    return Object.fromEntries(entries)
  }

  const value = walk([], document.contents)
  return found.length > 0 ? Result.fail(found) : Result.succeed({ value, lineOf: (field) => nearest(lines, field) })
}

type Path = ReadonlyArray<string | number>

// Levels whose lines are kept: `settings.providerOptions.openai`, `report.properties.facts`.
const markedLevels = 3

const fieldOf = (path: Path): string => path.length === 0 ? "" : Utf8.cut(JsonWalk.pathText(path), 100)

const nearest = (lines: ReadonlyMap<string, number>, field: string): number | undefined => {
  const line = lines.get(field)
  const around = field.replace(/(?:\.[^.[]*|\[\d+\])$/, "")
  return line !== undefined || around === field ? line : nearest(lines, around)
}
