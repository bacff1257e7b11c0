/**
 * The postures of an application, by name.
 *
 * @since 0.1.0
 */
import type * as Cause from "effect/Cause"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Predicate from "effect/Predicate"
import * as Queue from "effect/Queue"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import * as Stream from "effect/Stream"
import * as ErrorClass from "../values/ErrorClass.ts"
import * as CallerOptions from "../values/Options.ts"
import * as Posture from "../values/Posture.ts"
import type { PostureChange } from "../values/PostureChange.ts"
import { PostureError } from "../values/PostureError.ts"
import type { PostureInput } from "../values/PostureInput.ts"
import * as ValueKind from "../values/ValueKind.ts"
import * as ReportSchemas from "./ReportSchemas.ts"

export { PostureChange } from "../values/PostureChange.ts"
export type { ReportSchema } from "./ReportSchemas.ts"

/**
 * No posture has the name that was asked for.
 *
 * @category errors
 * @since 0.1.0
 */
export class UnknownPosture
  extends ErrorClass.TaggedError<UnknownPosture>("~mandate/UnknownPosture")("UnknownPosture", {
    posture: Schema.String,
    known: Schema.Array(Schema.String)
  })
{
  override get message(): string {
    return `There is no posture "${this.posture}"; known postures: ${this.known.join(", ") || "none"}`
  }
}

/**
 * Service that keeps postures by name.
 *
 * @category services
 * @since 0.1.0
 */
export class PostureRegistry extends Context.Service<PostureRegistry, {
  /** Finds the posture with a name. */
  readonly get: (name: string) => Effect.Effect<Posture.Posture, UnknownPosture>

  /** All postures, sorted by name. */
  readonly list: Effect.Effect<ReadonlyArray<Posture.Posture>>

  /**
   * Adds a posture, or replaces the one with its name. Fails if it is not
   * valid, or names a report schema that is not registered; then nothing
   * changes.
   */
  readonly put: (posture: PostureInput) => Effect.Effect<Posture.Posture, PostureError>

  /** Removes a posture. Says whether there was one. */
  readonly remove: (name: string) => Effect.Effect<boolean>

  /**
   * Every change from the time the stream starts, in order and without gap,
   * however slowly it is read. A `put` of what is there already is no change.
   */
  readonly changes: Stream.Stream<PostureChange>

  /** Finds a report schema that postures may name. */
  readonly reportSchema: (name: string) => ReportSchemas.ReportSchema | undefined
}>()("~mandate/PostureRegistry") {}

/**
 * What a registry may be told beside its postures.
 *
 * **Details**
 *
 * - `schemas`: report schemas that postures may name
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly schemas?: { readonly [name: string]: ReportSchemas.ReportSchema }
}

/**
 * Layer that keeps postures in memory, to begin with those that are given. It
 * fails with all that is wrong with any of them.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (
  postures: Iterable<PostureInput> = [],
  options?: Options
): Layer.Layer<PostureRegistry, PostureError> =>
  Layer.effect(
    PostureRegistry,
    Effect.gen(function*() {
      const given = decode(options)
      if (Result.isFailure(given)) return yield* refused("options", given.failure)
      if (!isList(postures)) {
        return yield* refused("postures", [`must be a list of postures, not ${ValueKind.of(postures)}`])
      }
      const registry = make(ReportSchemas.make(given.success.schemas))
      const problems: Array<Posture.PostureProblem> = []
      const names = new Set<unknown>()
      for (const posture of postures) {
        // Code without types may give anything; what it is, `put` says.
        const name: unknown = Predicate.hasProperty(posture, "name") ? posture.name : undefined
        if (typeof name === "string" && names.has(name)) problems.push({ posture: name, field: "name", message: taken })
        names.add(name)
        const result = yield* Effect.result(registry.put(posture))
        if (Result.isFailure(result)) problems.push(...result.failure.problems)
      }
      return problems.length === 0 ? registry : yield* new PostureError({ problems })
    })
  )

/**
 * Creates an empty registry in memory.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (schemas: ReportSchemas.ReportSchemas): PostureRegistry["Service"] => {
  const byName = new Map<string, Posture.Posture>()
  const readers = new Set<Queue.Queue<PostureChange, Cause.Done>>()
  const names = () => [...byName.keys()].sort()
  const publish = (change: PostureChange) => {
    for (const reader of readers) Queue.offerUnsafe(reader, change)
  }
  return {
    get: (name) =>
      Effect.suspend(() => {
        const posture = byName.get(name)
        return posture === undefined
          // Code without types may ask for anything.
          ? Effect.fail(
            new UnknownPosture({ posture: typeof name === "string" ? name : ValueKind.of(name), known: names() })
          )
          : Effect.succeed(posture)
      }),
    list: Effect.sync(() => names().map((name) => byName.get(name)!)),
    put: (input) =>
      Effect.flatMap(checked(input, schemas), (posture) =>
        Effect.sync(() => {
          const previous = byName.get(posture.name)
          if (previous !== undefined && Posture.version(previous) === Posture.version(posture)) return previous
          byName.set(posture.name, posture)
          publish(previous === undefined ? { _tag: "Added", posture } : { _tag: "Changed", posture, previous })
          return posture
        })),
    remove: (name) =>
      Effect.sync(() => {
        const posture = byName.get(name)
        if (posture === undefined) return false
        byName.delete(name)
        publish({ _tag: "Removed", posture })
        return true
      }),
    changes: Stream.unwrap(
      Effect.map(
        Effect.acquireRelease(
          Effect.tap(Queue.unbounded<PostureChange, Cause.Done>(), (reader) => Effect.sync(() => readers.add(reader))),
          (reader) => Effect.sync(() => readers.delete(reader))
        ),
        Stream.fromQueue
      )
    ),
    reportSchema: schemas.get
  }
}

const checked = (
  input: PostureInput,
  schemas: ReportSchemas.ReportSchemas
): Effect.Effect<Posture.Posture, PostureError> =>
  Effect.flatMap(Posture.make(input), (posture) => {
    const problems = schemas.problems(posture)
    return problems.length === 0 ? Effect.succeed(posture) : Effect.fail(new PostureError({ problems }))
  })

const refused = (field: string, issues: ReadonlyArray<string>): Effect.Effect<never, PostureError> =>
  Effect.fail(new PostureError({ problems: issues.map((message) => ({ posture: "", field, message })) }))

const isList = (postures: unknown): boolean => Predicate.isIterable(postures) && typeof postures !== "string"

const decode = CallerOptions.make<Options>("option", { schemas: ReportSchemas.option })

const taken = "Expected a name that no other posture has"
