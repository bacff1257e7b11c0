/**
 * What a decoding found wrong, in words that quote nothing.
 *
 * @since 0.1.0
 */
import type * as Schema from "effect/Schema"
import * as SchemaIssue from "effect/SchemaIssue"
import * as JsonWalk from "./JsonWalk.ts"
import * as Utf8 from "./Utf8.ts"

/**
 * One thing that is wrong: where, and what was expected there.
 *
 * @category models
 * @since 0.1.0
 */
export interface Issue {
  readonly path: ReadonlyArray<PropertyKey>
  readonly message: string
}

/**
 * Lists the issues of a failed decoding or encoding. Values are never quoted.
 *
 * @category getters
 * @since 0.1.0
 */
export const list = (error: Schema.SchemaError): ReadonlyArray<Issue> =>
  format(error.issue).issues.map(({ message, path }) => ({
    path: (path ?? []).map(keyOf),
    message: sentence(message)
  }))

/**
 * Lists the issues of a failed decoding or encoding, a line each: the path,
 * then what was expected there.
 *
 * **Details**
 *
 * Values are never quoted, so a line can cross from a child to its parent. Nor
 * are keys for which `isKnown` is false: a model can make up the keys of a
 * record, and a line says `*` for them. At most 16 issues of at most 200 bytes
 * each; more are counted on a last line.
 *
 * @category formatting
 * @since 0.1.0
 */
export const lines = (
  error: Schema.SchemaError,
  isKnown: (key: string) => boolean = () => true
): ReadonlyArray<string> => {
  const shown = (key: PropertyKey) => typeof key === "number" || isKnown(String(key)) ? key : "*"
  const all = list(error).map(({ message, path }) =>
    Utf8.cut(`${JsonWalk.pathText(path.map(shown))}: ${message}`, maxLineBytes)
  )
  return all.length <= maxIssues ? all : [...all.slice(0, maxIssues), `and ${all.length - maxIssues} more`]
}

const maxIssues = 16
const maxLineBytes = 200

// A check's own message may be composed of the value it looked at, so only its description is used.
const format = SchemaIssue.makeFormatterStandardSchemaV1({
  leafHook: (issue) => {
    switch (issue._tag) {
      case "InvalidType":
        return SchemaIssue.defaultLeafHook(issue)
      case "InvalidValue": {
        const expected = issue.annotations?.expected
        return typeof expected === "string" ? `Expected ${expected}` : "Expected a valid value"
      }
      case "MissingKey":
        return "Missing key"
      case "UnexpectedKey":
        return "Unexpected key"
      case "Forbidden":
        return "Forbidden operation"
      case "OneOf":
        return "Expected exactly one member to match"
    }
  },
  checkHook: () => undefined
})

const keyOf = (segment: PropertyKey | { readonly key: PropertyKey }): PropertyKey =>
  typeof segment === "object" ? segment.key : segment

// How the JSON codec of a number looks to a text: only the names of what is no JSON number are left.
const notANumber = "Expected \"Infinity\" | \"-Infinity\" | \"NaN\""

const sentence = (message: string): string =>
  message === notANumber ? "Expected number" : message.split("\n", 1)[0] ?? ""
