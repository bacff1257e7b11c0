/**
 * What is wrong with a definition.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as ErrorClass from "./ErrorClass.ts"

/**
 * Schema for one problem of a definition.
 *
 * **Details**
 *
 * `agent` is the path of agent ids from the one that was bound to the one with
 * the problem, joined by ` > `. `kind` tells the problems apart in code.
 *
 * @category schemas
 * @since 0.1.0
 */
export const DefinitionProblem = Schema.Struct({
  agent: Schema.String,
  kind: Schema.Literals([
    "InvalidId",
    "BlankDescription",
    "DuplicateId",
    "ToolNameCollision",
    "ReservedToolName",
    "InvalidToolName",
    "InvalidBound",
    "InvalidBudget",
    "InvalidSetting",
    "UnsupportedSchema",
    "UnknownModel",
    "HandlersFailed",
    "MissingHandler",
    "TwoEffects"
  ]),
  message: Schema.String
})

/**
 * One problem of a definition.
 *
 * @category models
 * @since 0.1.0
 */
export type DefinitionProblem = typeof DefinitionProblem.Type

/**
 * A definition cannot be bound. `problems` holds all that is wrong with it and
 * with every subagent below it.
 *
 * @category errors
 * @since 0.1.0
 */
export class AgentDefinitionError
  extends ErrorClass.TaggedError<AgentDefinitionError>("~mandate/AgentDefinitionError")("AgentDefinitionError", {
    agentId: Schema.String,
    problems: Schema.NonEmptyArray(DefinitionProblem)
  })
{
  override get message(): string {
    const list = this.problems.map((problem) => `  - ${problem.agent}: ${problem.message}`).join("\n")
    return `The agent "${this.agentId}" cannot be bound:\n${list}`
  }
}
