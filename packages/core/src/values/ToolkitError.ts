/**
 * What is wrong with the tools of a toolkit that is built when an agent is
 * bound.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import { DefinitionProblem } from "./AgentDefinitionError.ts"
import * as ErrorClass from "./ErrorClass.ts"

/**
 * Tools cannot be offered to a model.
 *
 * **When to use**
 *
 * Use as the failure of an effect for `withToolkit`. `bind` and `build` list
 * each of its problems as one of the definition, in these words, so a message
 * names its tool and holds nothing that is to stay in the log.
 *
 * @category errors
 * @since 0.1.0
 */
export class ToolkitError extends ErrorClass.TaggedError<ToolkitError>("~mandate/ToolkitError")("ToolkitError", {
  problems: Schema.NonEmptyArray(Schema.Struct({
    kind: DefinitionProblem.fields.kind,
    message: DefinitionProblem.fields.message
  }))
}) {
  override get message(): string {
    return `The tools cannot be offered: ${this.problems.map((problem) => problem.message).join("; ")}`
  }
}
