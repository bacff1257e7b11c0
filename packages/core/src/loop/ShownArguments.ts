/**
 * The arguments of a call as they are shown to a person, and as they run.
 *
 * **Details**
 *
 * Invariants:
 *
 * 1. What is shown is what runs: the form of a form is the form itself. Other
 *    arguments have no form, and their call is not run once a person has to be
 *    asked.
 * 2. A form depends on no default: a value that a schema fills in is in it,
 *    also where the schema leaves it out when it encodes.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Predicate from "effect/Predicate"
import * as Result from "effect/Result"
import type { FormArguments, NoForm } from "../definition/ArgumentsForm.ts"
import * as CanonicalForm from "../values/CanonicalForm.ts"
import * as Json from "../values/Json.ts"
import { type JsonCodec, type JsonSchemaObject, propertyNames, wrapperKey } from "../values/JsonCodec.ts"
import type { LoopTool } from "./Drive.ts"

/**
 * The forms of the arguments of a codec. The services of the codec have to be
 * in the context.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (codec: JsonCodec<unknown>): FormArguments => {
  const names = propertyNames(codec.modelSchema)
  const once = (args: Json.Json): Effect.Effect<Form, never, unknown> =>
    Effect.matchEffect(codec.fromModel(args), {
      onFailure: (issues) => Effect.succeed<Form>(Result.fail({ _tag: "Invalid", issues })),
      onSuccess: (value) =>
        Effect.match(codec.encode(value), {
          onFailure: notShown,
          onSuccess: (encoded): Form =>
            Result.map(completed(encoded, value, names), (json) => codec.isWrapped ? { [wrapperKey]: json } : json)
        })
    })
  return (args) =>
    Effect.flatMap(once(args), (first) =>
      Result.isFailure(first)
        ? Effect.succeed(first)
        : Effect.map(once(first.success), (second) =>
          Result.isSuccess(second) && Json.canonical(second.success) === Json.canonical(first.success)
            ? first
            : notShown([
              "the value: Expected arguments that decode to the same when they are encoded again"
            ]))) as Effect.Effect<Form>
}

/**
 * The form of the arguments of a call of a tool. A schema whose code fails has
 * no form to show.
 *
 * @category getters
 * @since 0.1.0
 */
export const of = (
  { definition: { name }, formArguments }: LoopTool,
  args: Json.Json
): Effect.Effect<Result.Result<Json.Json, NoForm>> =>
  formArguments === undefined
    ? Effect.succeed(Result.succeed(args))
    : Effect.catchDefect(
      Effect.map(Effect.suspend(() => formArguments(args)), Result.map(sorted)),
      (defect) =>
        Effect.as(
          Effect.logError(`The schema of the parameters of the tool "${name}" failed`, defect),
          notShown(["the value: Expected a schema that does not fail"])
        )
    )

const sorted = (json: Json.Json): Json.Json => JSON.parse(Json.canonical(json)) as Json.Json

/**
 * The answer to a model whose call cannot be shown to a person.
 *
 * @category constructors
 * @since 0.1.0
 */
export const message = (issues: ReadonlyArray<string>): string =>
  `The call needs a person, who cannot be shown what would run: ${issues.join("; ")}`

type Form = Result.Result<Json.Json, NoForm>

const notShown = (issues: ReadonlyArray<string>): Form => Result.fail({ _tag: "NotShown", issues })

// Adds what a schema fills in when it decodes, and leaves out when it encodes.
const completed = (
  encoded: Json.Json,
  value: unknown,
  names: ReadonlySet<string>
): Form => {
  if (Array.isArray(encoded)) {
    return Array.isArray(value) && value.length === encoded.length
      ? Result.all(encoded.map((item: Json.Json, index) => completed(item, value[index], names)))
      : Result.succeed(encoded)
  }
  if (!Predicate.isObject(encoded) || !isPlain(value)) return Result.succeed(encoded)
  const members = encoded as JsonSchemaObject
  const missing = Object.keys(value).filter((key) => value[key] !== undefined && !Object.hasOwn(members, key))
  const renamed = Object.keys(members).filter((key) => !Object.hasOwn(value, key))
  // A value beyond those that have another name is one that the JSON does not hold.
  const hidden = missing.filter((key) => !names.has(key))
  if (hidden.length > renamed.length) {
    return notShown([`${hidden[0]!.toWellFormed()}: Expected a value that is encoded`])
  }
  return Result.gen(function*() {
    const entries: Array<readonly [string, Json.Json]> = []
    for (const [key, item] of Object.entries(members)) {
      entries.push([key, Object.hasOwn(value, key) ? yield* completed(item, value[key], names) : item])
    }
    for (const key of missing.filter((key) => names.has(key))) {
      entries.push([
        key,
        yield* Result.mapError(CanonicalForm.make(value[key]), ({ expected }): NoForm => ({
          _tag: "NotShown",
          issues: [`${key}: Expected ${expected}`]
        }))
      ])
    }
    return Object.fromEntries(entries)
  })
}

const isPlain = (value: unknown): value is { readonly [key: string]: unknown } => {
  if (!Predicate.isObject(value)) return false
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}
