/**
 * Options that a function does not take.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as ErrorClass from "./ErrorClass.ts"

/**
 * The options of a function are not valid. `of` names the function, and each
 * of `issues` names a key, what it takes, and the kind of value that was given.
 *
 * **Details**
 *
 * This is what functions and layers die with, or throw, that have no typed
 * failure for their options: the types refuse what it refuses, so that only
 * code without types, or a cast, meets it.
 *
 * @category errors
 * @since 0.1.0
 */
export class InvalidOptions
  extends ErrorClass.TaggedError<InvalidOptions>("~mandate/InvalidOptions")("InvalidOptions", {
    of: Schema.String,
    issues: Schema.NonEmptyArray(Schema.String)
  })
{
  override get message(): string {
    return `The options of ${this.of} are not valid: ${this.issues.join("; ")}`
  }
}
