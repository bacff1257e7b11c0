/**
 * Refuses a family that comes from another copy of `effect`.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type { AgentSpec } from "../definition/AgentSpec.ts"
import { AgentDefinitionError, type DefinitionProblem } from "../values/AgentDefinitionError.ts"
import * as EffectIdentity from "../values/EffectIdentity.ts"

/**
 * Fails when the fiber that runs it is of another copy of `effect` than the
 * core, or else a schema of a definition is. Everything that would be found
 * after that follows from it.
 *
 * @category running
 * @since 0.1.0
 */
export const check = (spec: AgentSpec): Effect.Effect<void, AgentDefinitionError> =>
  Effect.withFiber((fiber) => {
    const [first, ...rest] = EffectIdentity.isOwnFiber(fiber)
      ? foreignSchemas(spec, [])
      : [problem(spec.id, "this program runs on another one than @mandate/core")]
    return first === undefined
      ? Effect.void
      : Effect.fail(new AgentDefinitionError({ agentId: spec.id, problems: [first, ...rest] }))
  })

const foreignSchemas = (spec: AgentSpec, parents: ReadonlyArray<string>): ReadonlyArray<DefinitionProblem> => {
  const path = [...parents, spec.id]
  const isForeign = [spec.input, spec.report].some((schema) =>
    schema !== undefined && !EffectIdentity.isOwnSchema(schema)
  )
  return [
    ...(isForeign ? [problem(path.join(" > "), "its schemas are made with another one than @mandate/core has")] : []),
    ...spec.subagents.flatMap((subagent) => foreignSchemas(subagent, path))
  ]
}

const problem = (agent: string, found: string): DefinitionProblem => ({
  agent,
  kind: "TwoEffects",
  message: `two copies of effect: ${found}. ${EffectIdentity.remedy()}`
})
