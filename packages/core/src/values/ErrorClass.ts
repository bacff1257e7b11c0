/**
 * The classes of errors of this SDK: schema-backed, named by their tag, and
 * shown as plain errors.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"

/**
 * `Schema.TaggedError` whose name is the tag alone, whatever the identifier,
 * and which `console.log` and `util.inspect` of Node, Bun and Deno show with
 * its message, its stack and its fields.
 *
 * **Details**
 *
 * The identifier begins with `~mandate/`. Messages of such errors are written
 * in this SDK and hold nothing secret: see {@link ownMessage}.
 *
 * @category constructors
 * @since 0.1.0
 */
export const TaggedError: typeof Schema.TaggedError =
  ((identifier: string) => (tag: string, ...rest: [fields: Schema.Struct.Fields]) => {
    const made = Schema.TaggedError<any>(identifier)(tag, ...rest) as { readonly prototype: object }
    Object.defineProperties(made.prototype, {
      name: { value: tag, configurable: true, writable: true },
      [inspectKey]: { value: inspect, configurable: true, writable: true }
    })
    return made
  }) as never

/**
 * The message of an error of this SDK, which is safe to show; nothing of any
 * other value, whose message may hold anything.
 *
 * @category getters
 * @since 0.1.0
 */
export const ownMessage = (error: unknown): string | undefined => {
  if (!(error instanceof Error)) return undefined
  // Anything can be thrown, also what throws when it is read.
  const identifier = Result.try(() => (error.constructor as { readonly identifier?: unknown }).identifier)
  return Result.isSuccess(identifier) && typeof identifier.success === "string" &&
      identifier.success.startsWith("~mandate/")
    ? error.message
    : undefined
}

/**
 * Gives an error what caused it, as the constructor of `Error` does: it is
 * printed with the error, and is not a part of its encoded form.
 *
 * @category combinators
 * @since 0.1.0
 */
export const withCause = <E extends Error>(error: E, cause: unknown): E => {
  if (cause !== undefined) {
    Reflect.defineProperty(error, "cause", { value: cause, configurable: true, writable: true, enumerable: false })
  }
  return error
}

const inspectKey = Symbol.for("nodejs.util.inspect.custom")

// A plain error with the same stack and fields, which every runtime knows how to show.
function inspect(
  this: Error,
  _depth: unknown,
  options: object,
  show?: (value: unknown, options: object) => string
): unknown {
  if (show === undefined) return this.stack
  const shown = new Error(this.message)
  const { _tag, cause, ...fields } = this as Error & { readonly _tag?: unknown }
  // The stack begins with the name: one that is also a property is shown twice.
  Object.defineProperty(shown, "stack", { value: this.stack, configurable: true })
  Object.assign(shown, fields)
  return show(cause === undefined ? shown : withCause(shown, cause), options)
}
