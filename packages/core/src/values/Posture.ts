/**
 * Subagents as data: named, versioned, and edited without changing a program.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { Count, VisibleText } from "./Checked.ts"
import * as Digest from "./Digest.ts"
import { AgentId } from "./Ids.ts"
import * as Json from "./Json.ts"
import * as JsonWalk from "./JsonWalk.ts"
import { ModelSettings } from "./ModelSettings.ts"
import { PostureError, type PostureProblem } from "./PostureError.ts"
import * as PostureInput from "./PostureInput.ts"
import * as SchemaIssues from "./SchemaIssues.ts"
import * as Utf8 from "./Utf8.ts"

export { PostureError, PostureProblem } from "./PostureError.ts"
export type { PostureInput } from "./PostureInput.ts"

/**
 * Schema for the limits of a posture: a `Budget` whose `timeout` is in
 * milliseconds.
 *
 * @category schemas
 * @since 0.1.0
 */
export const PostureBudget = Schema.Struct({
  maxTokens: Schema.optionalKey(Count),
  maxToolCalls: Schema.optionalKey(Count),
  timeout: Schema.optionalKey(
    Schema.Number.annotate({ message: "Expected a positive, finite duration" }).check(
      Schema.makeFilter((millis) => Number.isFinite(millis) && millis > 0, { expected: "a positive, finite duration" })
    )
  )
})

/**
 * The limits of a posture.
 *
 * @category models
 * @since 0.1.0
 */
export type PostureBudget = typeof PostureBudget.Type

/**
 * Schema for a posture as it is kept: complete, and plain JSON.
 *
 * **Details**
 *
 * `PostureInput` says what each field means. Here defaults are filled in,
 * `allowedTools` are sorted, each once, `report` is `{ name }` or `{ schema }`,
 * and times are in milliseconds.
 *
 * @see {@link make} to create one
 * @category schemas
 * @since 0.1.0
 */
export const Posture = Schema.Struct({
  name: Schema.String.check(
    Schema.makeFilter((name) => Schema.is(AgentId)(name), { expected: "1 to 52 of the characters a-z A-Z 0-9 _ -" })
  ),
  description: VisibleText,
  instructions: VisibleText,
  allowedTools: Schema.Array(VisibleText),
  report: Schema.optionalKey(
    Schema.Union([
      Schema.Struct({ name: VisibleText }),
      Schema.Struct({ schema: Schema.Record(Schema.String, Schema.Json) })
    ]).annotate({ message: "Expected the name of a schema, or a JSON Schema" })
  ),
  model: Schema.optionalKey(VisibleText),
  settings: ModelSettings,
  budget: PostureBudget,
  ceiling: PostureBudget,
  maxDepth: Schema.optionalKey(Count),
  maxSteps: Count,
  extra: Schema.Record(Schema.String, Schema.Json)
})

/**
 * A subagent as data.
 *
 * @category models
 * @since 0.1.0
 */
export type Posture = typeof Posture.Type

/**
 * Creates a posture, or says all that is wrong with it.
 *
 * **Details**
 *
 * The posture is a frozen copy: changing what was passed in changes nothing. A
 * posture is itself such an input, so `make({ ...posture, maxSteps: 4 })` is
 * the way to a changed one.
 *
 * **Example** (A posture)
 *
 * ```ts
 * import { Posture } from "@mandate/core"
 * import { Effect } from "effect"
 *
 * const program = Effect.gen(function*() {
 *   const reviewer = yield* Posture.make({
 *     name: "reviewer",
 *     description: "Reviews one change",
 *     instructions: "You review the change that you are given.",
 *     allowedTools: ["read_file", "search"],
 *     budget: { maxTokens: 20_000, timeout: "2 minutes" }
 *   })
 *   return Posture.version(reviewer)
 * })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (input: PostureInput.PostureInput): Effect.Effect<Posture, PostureError> =>
  Effect.fromResult(Result.mapError(fromUnknown(input), (problems) => new PostureError({ problems })))

/**
 * Creates a posture from anything, or lists all that is wrong with it.
 *
 * @category constructors
 * @since 0.1.0
 */
export const fromUnknown = (value: unknown): Result.Result<Posture, ReadonlyArray<PostureProblem>> => {
  const fail = (issues: ReadonlyArray<SchemaIssues.Issue>) =>
    Result.fail(issues.map(({ message, path }) => ({
      posture: nameOf(value),
      field: fieldOf(path),
      message: path.length === 1 && path[0] === "name" ? `${message}${suggestion(value)}` : message
    })))
  if (!Predicate.isObject(value) || Array.isArray(value)) return fail([{ path: [], message: "Expected an object" }])
  const endless = JsonWalk.endless(value)
  if (endless !== undefined) return fail([{ path: [], message: endless }])

  const fields = PostureInput.normalise(value as PostureInput.Fields)
  const decoded = Schema.decodeUnknownResult(Posture)(fields, { errors: "all", onExcessProperty: "error" })
  const issues = PostureInput.issues(fields)
  if (Result.isFailure(decoded)) {
    return fail([...SchemaIssues.list(decoded.failure).filter(isOfForm(fields["report"])), ...issues])
  }
  if (issues.length > 0) return fail(issues)
  const { budget, ceiling } = decoded.success
  return Result.succeed(frozenCopy({ ...decoded.success, budget: { ...ceiling, ...budget } }))
}

/**
 * The version of a posture: the first 16 hexadecimal digits of the SHA-256 of
 * its canonical JSON, all that it holds included.
 *
 * **Details**
 *
 * Two postures have the same version exactly when they are equal. The order of
 * keys and of allowed tools does not matter.
 *
 * @category getters
 * @since 0.1.0
 */
export const version = (posture: Posture): string =>
  Digest.short(canonical({ ...posture, allowedTools: [...new Set(posture.allowedTools)].sort() }))

// Each form of a report is also compared with the other one, which says nothing.
const isOfForm = (report: unknown) => ({ message, path: [first, key] }: SchemaIssues.Issue): boolean =>
  first !== "report" || key === undefined ||
  (Predicate.hasProperty(report, key) && message !== "Unexpected key")

const nameOf = (value: unknown): string => {
  const name = Predicate.hasProperty(value, "name") ? value.name : undefined
  return typeof name === "string" ? Utf8.cut(name, 64) : ""
}

// Collections of agents name them with dots, for the folders they come from.
const suggestion = (value: unknown): string => {
  const name = Predicate.hasProperty(value, "name") ? value.name : undefined
  if (typeof name !== "string" || !/^[\w-]+(?:\.[\w-]+)+$/.test(name)) return ""
  return `, such as "${name.replaceAll(".", "-").slice(0, 52)}"`
}

const fieldOf = (path: ReadonlyArray<PropertyKey>): string => path.length === 0 ? "" : JsonWalk.pathText(path)

// A posture is JSON through and through, which the type of an interface inside of it cannot show.
const canonical = (posture: Posture): string => Json.canonical(posture as unknown as Json.Json)

const frozenCopy = (posture: Posture): Posture => JSON.parse(canonical(posture), frozen) as Posture

const frozen = (_key: string, value: unknown): unknown => Object.freeze(value)
