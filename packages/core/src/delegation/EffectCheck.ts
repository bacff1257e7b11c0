/**
 * Refuses a family that comes from another copy of `effect`, or from no copy of it.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { AgentSpec } from "../definition/AgentSpec.ts"
import { AgentDefinitionError, type DefinitionProblem } from "../values/AgentDefinitionError.ts"
import * as EffectIdentity from "../values/EffectIdentity.ts"

/**
 * Fails when the fiber that runs it is of another copy of `effect` than the
 * core, or else a schema of a definition is, or is none of `effect`'s at all.
 * Everything that would be found after that follows from it.
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
  const schemas = (["input", "report"] as const).flatMap((what) => {
    const schema: unknown = spec[what]
    return schema === undefined ? [] : [{ what, schema }]
  })
  const isForeign = schemas.some(({ schema }) => Schema.isSchema(schema) && !EffectIdentity.isOwnSchema(schema))
  return [
    // The types refuse these too, which JavaScript and an `as any` do not see.
    ...schemas.filter(({ schema }) => !Schema.isSchema(schema)).map(({ what }): DefinitionProblem => ({
      agent: path.join(" > "),
      kind: "UnsupportedSchema",
      message: `the schema of the ${what} is neither made with Schema of effect nor a Standard Schema`
    })),
    ...(isForeign ? [problem(path.join(" > "), "its schemas are made with another one than @mandate/core has")] : []),
    ...spec.subagents.flatMap((subagent) => foreignSchemas(subagent, path))
  ]
}

const problem = (agent: string, found: string): DefinitionProblem => ({
  agent,
  kind: "TwoEffects",
  message: `two copies of effect: ${found}. ${EffectIdentity.remedy()}`
})
