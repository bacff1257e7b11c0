/**
 * What a schema library says is wrong with a value, as lines for a model.
 *
 * @since 0.1.0
 */
import * as Predicate from "effect/Predicate"
import type { StandardSchemaV1 } from "effect/StandardSchema"

/**
 * One line for each issue, bounded in number and length.
 *
 * @category formatting
 * @since 0.1.0
 */
export const lines = (issues: ReadonlyArray<StandardSchemaV1.Issue>): ReadonlyArray<string> => {
  const shown = issues.slice(0, maxIssues).map(({ message, path }) => `${pathText(path ?? [])}: ${short(message)}`)
  return issues.length > maxIssues ? [...shown, `and ${issues.length - maxIssues} more`] : shown
}

/**
 * The lines of an error of a validator: its issues, its cause's, or its first
 * line.
 *
 * @category formatting
 * @since 0.1.0
 */
export const ofError = (error: unknown): ReadonlyArray<string> => {
  const cause = Predicate.hasProperty(error, "cause") ? error.cause : undefined
  for (const candidate of [error, cause, issuesOf(cause)]) {
    const issues = Array.isArray(candidate) ? candidate : issuesOf(candidate)
    if (Array.isArray(issues) && issues.length > 0 && issues.every(isIssue)) return lines(issues)
  }
  return [`the value: ${firstLine(error)}`]
}

/**
 * The first line of an error's message, bounded.
 *
 * @category formatting
 * @since 0.1.0
 */
export const firstLine = (error: unknown): string =>
  Predicate.hasProperty(error, "message") && typeof error.message === "string" && error.message !== ""
    ? short(error.message)
    : "not valid"

const issuesOf = (value: unknown): unknown => Predicate.hasProperty(value, "issues") ? value.issues : undefined

const isIssue = (issue: unknown): issue is StandardSchemaV1.Issue =>
  Predicate.isObject(issue) && typeof issue["message"] === "string" &&
  (issue["path"] === undefined || Array.isArray(issue["path"]))

const pathText = (path: ReadonlyArray<PropertyKey | StandardSchemaV1.PathSegment>): string =>
  path.length === 0
    ? "the value"
    : short(path.map((part) => String(typeof part === "object" ? part.key : part)).join("."))

const short = (text: string): string => {
  const line = text.split(/[\r\n\u2028\u2029]/, 1)[0] ?? ""
  return line.length > maxLength ? `${line.slice(0, maxLength).toWellFormed()}…` : line
}

const maxIssues = 20
const maxLength = 200
