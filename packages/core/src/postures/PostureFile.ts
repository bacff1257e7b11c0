/**
 * One posture file.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import type { ReportSchemas } from "../service/ReportSchemas.ts"
import * as Posture from "../values/Posture.ts"
import * as Utf8 from "../values/Utf8.ts"
import * as FrontMatter from "./FrontMatter.ts"
import * as PostureFields from "./PostureFields.ts"
import { type Fields, isFields } from "./PostureFields.ts"
import { type FileProblem, type Found, inFile } from "./PostureProblem.ts"
import * as Yaml from "./Yaml.ts"

/**
 * What files are read with: the report schemas that they may name, and the
 * tools that are known, if they are.
 *
 * @category models
 * @since 0.1.0
 */
export interface Known {
  readonly schemas: ReportSchemas
  readonly tools: ReadonlySet<string> | undefined
}

/**
 * What a file gives: a posture unless one of its problems is an error, and the
 * line of its name.
 *
 * @category models
 * @since 0.1.0
 */
export interface Parsed {
  readonly posture: Posture.Posture | undefined
  readonly nameLine: number | undefined
  readonly problems: ReadonlyArray<FileProblem>
}

/**
 * Reads the text of a file. A `.md` file has front matter, any other is YAML.
 *
 * @category constructors
 * @since 0.1.0
 */
export const parse = (file: string, name: string, text: string, known: Known): Parsed => {
  const lines = text.replace(/\r\n?/g, "\n")
  const [, stem = name, extension = ""] = /^(.+)\.([^.]+)$/.exec(name) ?? []
  const source: Result.Result<Source, ReadonlyArray<Found>> = extension.toLowerCase() === "md"
    ? Result.map(FrontMatter.parse(lines), (front) => ({ ...front, body: { text: front.body, line: front.bodyLine } }))
    : Result.map(Yaml.parse(lines), (fields) => ({ fields, body: undefined, warnings: [] }))
  const { found, nameLine, posture } = Result.match(source, {
    onSuccess: (parts) => read(parts, stem, known),
    onFailure: (found) => ({ found, nameLine: undefined, posture: undefined })
  })
  return { posture, nameLine, problems: [...found].sort(byLine).map(inFile(file)) }
}

interface Source {
  readonly fields: Yaml.Parsed
  readonly body: { readonly text: string; readonly line: number } | undefined
  readonly warnings: ReadonlyArray<Found>
}

const read = ({ body, fields: { lineOf, stray, value }, warnings }: Source, stem: string, known: Known) => {
  const nothing = { nameLine: undefined, posture: undefined }
  if (value === null) return { ...nothing, found: [{ line: 1, field: "", message: "Expected fields, such as name" }] }
  if (!isFields(value)) return { ...nothing, found: [{ line: 1, field: "", message: "Expected fields with names" }] }

  const given = PostureFields.present(value)
  const parts = PostureFields.parts(value, body?.text)
  const decoded = Posture.fromUnknown(Object.assign({ name: stem }, ...parts.map(({ input }) => input)))
  const problems = Result.match(decoded, { onSuccess: known.schemas.problems, onFailure: (found) => found })
  const errors = [
    ...parts.flatMap((part) => part.errors),
    ...problems.map(({ field, message }) => inSource(field, message, given, body?.line))
  ]
  const found = [
    ...errors,
    ...warnings,
    ...parts.flatMap((part) => part.warnings),
    ...(Result.isSuccess(decoded) ? unknownTools(decoded.success, given, known.tools) : [])
  ].map((problem: Found) => ({ ...problem, line: problem.line ?? lineOf(problem.field) }))
    .map((problem) =>
      problem.severity === "warning" && problem.line === stray?.line ? { ...problem, ...stray } : problem
    )
  return {
    nameLine: lineOf("name"),
    posture: errors.length === 0 && Result.isSuccess(decoded) ? decoded.success : undefined,
    found
  }
}

const byLine = (a: Found, b: Found): number => (a.line ?? 0) - (b.line ?? 0)

const unknownTools = (
  { allowedTools }: Posture.Posture,
  given: Fields,
  tools: ReadonlySet<string> | undefined
): ReadonlyArray<Found> =>
  tools === undefined ? [] : allowedTools.filter((tool) => !tools.has(tool) && tool !== delegate).map((tool) => {
    const field = PostureFields.toolsField(given)
    const index = Array.isArray(given[field]) ? given[field].indexOf(tool) : -1
    return {
      severity: "warning",
      field: index === -1 ? field : `${field}[${index}]`,
      message: `There is no tool ${JSON.stringify(Utf8.cut(tool, 100))}`
    }
  })

// Problems name the fields of a posture; a file may have called them otherwise.
const inSource = (field: string, message: string, given: Fields, bodyLine: number | undefined): Found => {
  if (field === "instructions" && bodyLine !== undefined && given[field] === undefined) {
    return { field, line: bodyLine, message: "Expected instructions below the front matter" }
  }
  if (field.startsWith("allowedTools")) {
    return { field: field.replace("allowedTools", PostureFields.toolsField(given)), message }
  }
  // Nobody finds a name in a file that has none.
  if (field === "name" && given[field] === undefined) {
    return { field, message: `${message} in the file's name, or a name in the file` }
  }
  const [form, key = ""] = /^report\.(name|schema)/.exec(field) ?? []
  const isShort = form !== undefined && !(isFields(given["report"]) && Object.hasOwn(given["report"], key))
  return { field: isShort ? field.replace(form, "report") : field, message }
}

// A tool that is never in a catalog.
const delegate = "delegate"
