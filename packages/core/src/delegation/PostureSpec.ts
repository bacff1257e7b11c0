/**
 * A posture as the definition of an agent.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import * as AgentSpec from "../definition/AgentSpec.ts"
import type { PostureRegistry } from "../service/PostureRegistry.ts"
import { DelegateInput } from "../values/DelegateInput.ts"
import * as EnforcedSchema from "../values/EnforcedSchema.ts"
import * as Json from "../values/Json.ts"
import type { Posture } from "../values/Posture.ts"

/**
 * Name of the tool through which a model delegates to postures. It is not in
 * the catalog: a posture has it only by naming it.
 *
 * @category constants
 * @since 0.1.0
 */
export const delegateName = "delegate"

/**
 * The definition that a posture stands for, without its tools of the catalog.
 * Fails with what is missing.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  posture: Posture,
  registry: PostureRegistry["Service"]
): Result.Result<AgentSpec.AgentSpec, string> =>
  Result.map(reportOf(posture, registry), (report) =>
    AgentSpec.withModel(
      AgentSpec.update(
        AgentSpec.make({ id: posture.name, role: "typed", description: posture.description, input: DelegateInput }),
        {
          instructions: posture.instructions,
          report,
          inputText: message,
          maxSteps: posture.maxSteps,
          postures: posture.allowedTools.includes(delegateName) ? {} : undefined
        }
      ),
      posture.model,
      posture.settings
    ))

/**
 * The one message that a posture's run starts with.
 *
 * **Details**
 *
 * The context is canonical JSON on a line of its own, above the task, with every
 * line break in it escaped, those too that JSON allows in a text. So nothing in
 * a context can end its line, and whatever a task says stands below it.
 *
 * @category formatting
 * @since 0.1.0
 */
export const message = ({ context, task }: DelegateInput): string =>
  context === undefined ? task : `Context, as JSON on one line:\n${oneLine(Json.canonical(context))}\n\nTask:\n${task}`

const oneLine = (json: string): string =>
  json.replace(/[\u0085\u2028\u2029]/g, (lineBreak) => `\\u${lineBreak.charCodeAt(0).toString(16).padStart(4, "0")}`)

const reportOf = (
  { report }: Posture,
  registry: PostureRegistry["Service"]
): Result.Result<AgentSpec.AnyCodec | undefined, string> => {
  if (report === undefined) return Result.succeed(undefined)
  if ("name" in report) {
    const schema = registry.reportSchema(report.name)
    return schema === undefined
      ? Result.fail(`there is no report schema "${report.name}"`)
      : Result.succeed(schema as AgentSpec.AnyCodec)
  }
  return Result.mapBoth(EnforcedSchema.make(report.schema), {
    onFailure: (problem) => `its report schema ${problem}`,
    onSuccess: (schema) => schema as AgentSpec.AnyCodec
  })
}
