/**
 * What went wrong between a script and the calls that were made.
 *
 * @since 0.1.0
 */
import { ErrorClass } from "@mandate/core"
import * as Schema from "effect/Schema"

/**
 * A model call that no step was scripted for. It is a defect of the call, and
 * is reported again when the model's scope closes.
 *
 * **Details**
 *
 * `scripted` says what the script held for that agent. `step` and `attempt`
 * count from 0.
 *
 * @category errors
 * @since 0.1.0
 */
export class UnscriptedCall extends ErrorClass.TaggedError<UnscriptedCall>("~mandate/testing/UnscriptedCall")(
  "UnscriptedCall",
  {
    agentId: Schema.String,
    runId: Schema.String,
    step: Schema.Int,
    attempt: Schema.Int,
    scripted: Schema.String
  }
) {
  override get message(): string {
    const attempt = this.attempt === 0 ? "" : `, attempt ${this.attempt}`
    return `Unscripted model call of agent "${this.agentId}", run "${this.runId}", step ${this.step}${attempt}: ${this.scripted}`
  }
}

/**
 * Schema for steps that a script held and no call took.
 *
 * **Details**
 *
 * `agentId` is the script's. `run` is the start order, from 0. `runId` is
 * absent for a run that never started. `left` counts steps of `scripted`.
 *
 * @category schemas
 * @since 0.1.0
 */
export const UnusedSteps = Schema.Struct({
  agentId: Schema.String,
  run: Schema.Int,
  runId: Schema.optionalKey(Schema.String),
  left: Schema.Int,
  scripted: Schema.Int
})

/**
 * Steps that a script held and no call took.
 *
 * @category models
 * @since 0.1.0
 */
export type UnusedSteps = typeof UnusedSteps.Type

/**
 * The calls that were made are not the calls that were scripted. The scope of
 * a scripted model dies with it when it closes.
 *
 * @category errors
 * @since 0.1.0
 */
export class ScriptMismatch extends ErrorClass.TaggedError<ScriptMismatch>("~mandate/testing/ScriptMismatch")(
  "ScriptMismatch",
  { unscripted: Schema.Array(UnscriptedCall), unused: Schema.Array(UnusedSteps) }
) {
  override get message(): string {
    const lines = [...this.unscripted.map((call) => call.message), ...this.unused.map(formatUnused)]
    const hint = this.unused.length === 0 ? "" : `\n${optionalHint}`
    return `The calls differ from the script:\n${lines.map((line) => `- ${line}`).join("\n")}${hint}`
  }
}

const optionalHint = "Script.optional(script) allows steps to be left over; Script.program(answer) leaves none."

const formatUnused = ({ agentId, left, run, runId, scripted }: UnusedSteps): string => {
  const started = runId === undefined ? "never started" : `"${runId}"`
  return `Agent "${agentId}", run ${run} (${started}): ${left} of ${scripted} steps left over`
}
