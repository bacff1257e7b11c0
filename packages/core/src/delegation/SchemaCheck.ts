/**
 * Schemas of a definition that its model cannot be sent.
 *
 * @since 0.1.0
 */
import { submitReport, type TypedAnswer } from "../loop/Drive.ts"
import type { ModelClient } from "../service/ModelClient.ts"
import type { JsonSchemaObject } from "../values/JsonCodec.ts"
import type { ModelTool } from "../values/ModelRequest.ts"
import type { BoundSpec } from "./BoundSpec.ts"
import type { Found } from "./DefinitionCheck.ts"
import * as TaskTool from "./TaskTool.ts"

/**
 * Asks a model about the schema of every tool that it is offered, and of the
 * answer that it is asked for natively.
 *
 * **Details**
 *
 * A tool that is not to be strict is sent as it is. A schema that was refused
 * before is empty and is left out.
 *
 * @category getters
 * @since 0.1.0
 */
export const problems = (
  client: ModelClient | undefined,
  offered: ReadonlyArray<ModelTool>,
  native: TypedAnswer["native"],
  subagents: ReadonlyArray<BoundSpec>
): ReadonlyArray<Found> => {
  const taskOf = new Map(subagents.map(({ agent }) => [TaskTool.typedTaskName(agent.id), agent.id]))
  const found = (schema: JsonSchemaObject, what: string): ReadonlyArray<Found> => {
    const reason = Object.keys(schema).length === 0 ? undefined : client?.refusesSchema?.(schema)
    return reason === undefined ? [] : [{
      kind: "UnsupportedSchema",
      message: `the schema of the ${what} ${reason}; the model "${client?.modelId}" cannot be held to it`
    }]
  }
  const whatOf = (name: string): string => {
    const subagent = taskOf.get(name)
    if (subagent !== undefined) return `input of the subagent "${subagent}"`
    return name === submitReport ? "report" : `parameters of the tool "${name}"`
  }
  return [
    ...offered.flatMap((tool) => tool.strict === false ? [] : found(tool.inputSchema, whatOf(tool.name))),
    ...(native === undefined ? [] : found(native.schema, "report"))
  ]
}
