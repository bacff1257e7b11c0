/**
 * Results of delegated runs as a cache keeps them.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import { ChildFailure } from "./ChildFailure.ts"
import * as Json from "./Json.ts"
import * as Utf8 from "./Utf8.ts"

/**
 * The largest result that is kept, in UTF-8 bytes of its canonical JSON: four
 * times the default of `maxReportBytes`, so that the 256 entries of the memory
 * cache take 64 MiB at most. A larger one is not cached.
 *
 * @category constants
 * @since 0.1.0
 */
export const maxResultBytes = 262_144

/**
 * Version of the form in which results are kept. Entries of another one are
 * not read.
 *
 * @category constants
 * @since 0.1.0
 */
export const format = 1

// A filter reads the text whole, so that whoever has an entry can parse it.
const ResultText = Schema.String.check(
  Schema.makeFilter((text) => Result.isSuccess(Json.parse(text, maxResultBytes)), {
    expected: `JSON of at most ${maxResultBytes} bytes`
  })
)

/**
 * Schema for a cached result.
 *
 * **Details**
 *
 * `result` is the encoded result as canonical JSON text: nobody can change the
 * entry through what was read of it. `error` says why a partial result is not
 * whole.
 *
 * @category schemas
 * @since 0.1.0
 */
export const CachedResult = Schema.Union([
  Schema.Struct({ format: Schema.Literal(format), status: Schema.Literal("success"), result: ResultText }),
  Schema.Struct({
    format: Schema.Literal(format),
    status: Schema.Literal("partial"),
    result: ResultText,
    error: ChildFailure
  })
])

/**
 * A cached result.
 *
 * @category models
 * @since 0.1.0
 */
export type CachedResult = typeof CachedResult.Type

/**
 * A success with an encoded result.
 *
 * @category constructors
 * @since 0.1.0
 */
export const success = (result: Json.Json): CachedResult => ({
  format,
  status: "success",
  result: Json.canonical(result)
})

/**
 * A partial success, and why it is not whole.
 *
 * @category constructors
 * @since 0.1.0
 */
export const partial = (result: Json.Json, error: ChildFailure): CachedResult => ({
  format,
  status: "partial",
  result: Json.canonical(result),
  error
})

/**
 * The encoded result, a value of its own each time.
 *
 * @category getters
 * @since 0.1.0
 */
export const value = (cached: CachedResult): Json.Json => JSON.parse(cached.result) as Json.Json

/**
 * Whether a result is small enough to be kept.
 *
 * @category getters
 * @since 0.1.0
 */
export const fits = (cached: CachedResult): boolean => Utf8.byteLength(cached.result) <= maxResultBytes
