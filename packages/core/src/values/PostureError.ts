/**
 * What is wrong with a posture.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as ErrorClass from "./ErrorClass.ts"

/**
 * Schema for one problem of a posture.
 *
 * **Details**
 *
 * `posture` is its name, as far as it has one. `field` is the path of the
 * field, such as `budget.maxTokens`, and empty for the whole. `message` says
 * what is expected there and quotes no value.
 *
 * @category schemas
 * @since 0.1.0
 */
export const PostureProblem = Schema.Struct({
  posture: Schema.String,
  field: Schema.String,
  message: Schema.String
})

/**
 * One problem of a posture.
 *
 * @category models
 * @since 0.1.0
 */
export type PostureProblem = typeof PostureProblem.Type

/**
 * Postures are not valid. `problems` holds all that is wrong with them.
 *
 * @category errors
 * @since 0.1.0
 */
export class PostureError extends ErrorClass.TaggedError<PostureError>("~mandate/PostureError")("PostureError", {
  problems: Schema.Array(PostureProblem)
}) {
  override get message(): string {
    return `Postures are not valid:\n${this.problems.map((problem) => `  - ${line(problem)}`).join("\n")}`
  }
}

const line = ({ field, message, posture }: PostureProblem): string =>
  `${[JSON.stringify(posture), ...(field === "" ? [] : [field])].join(" ")}: ${message}`
