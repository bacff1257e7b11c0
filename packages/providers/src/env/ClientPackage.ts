/**
 * Packages that are loaded when they are needed, and need not be installed.
 *
 * @since 0.1.0
 */
import { ErrorClass } from "@mandate/core"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/**
 * A package of a client cannot be loaded, most likely because it is not
 * installed.
 *
 * **Details**
 *
 * `neededFor` is what asks for it, in the words of the configuration.
 *
 * @category errors
 * @since 0.1.0
 */
export class PackageNotLoaded
  extends ErrorClass.TaggedError<PackageNotLoaded>("~mandate/PackageNotLoaded")("PackageNotLoaded", {
    package: Schema.String,
    neededFor: Schema.String
  })
{
  override get message(): string {
    return `The package "${this.package}", which ${this.neededFor} needs, cannot be loaded; ` +
      `is it installed? npm install ${this.package}`
  }
}

/**
 * Loads a package. `load` is its dynamic import, written out, so that bundlers
 * see it.
 *
 * @category running
 * @since 0.1.0
 */
export const load = <A>(
  name: string,
  neededFor: string,
  load: () => Promise<A>
): Effect.Effect<A, PackageNotLoaded> =>
  Effect.tryPromise({ try: load, catch: () => new PackageNotLoaded({ package: name, neededFor }) })

/**
 * Passes on why a package could not be imported. Written behind the `import()`
 * itself, it tells bundlers that the package may be absent.
 *
 * @category combinators
 * @since 0.1.0
 */
export const missing = (cause: unknown): Promise<never> => Promise.reject(cause)
