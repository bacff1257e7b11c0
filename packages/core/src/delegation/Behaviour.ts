/**
 * What an agent does, as far as it is data.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import type { AgentSpec } from "../definition/AgentSpec.ts"
import type { CompiledAgent } from "../loop/Drive.ts"
import * as CacheKey from "../values/CacheKey.ts"
import type { Json } from "../values/Json.ts"
import type { JsonCodec } from "../values/JsonCodec.ts"

/**
 * A digest of all that is data in a definition and in those below it: what the
 * models are told, which they are, what they are offered, and every bound.
 * Agents of one behaviour may differ in code alone.
 *
 * @category getters
 * @since 0.1.0
 */
export const of = (spec: AgentSpec, compiled: {
  readonly agent: CompiledAgent
  readonly input: JsonCodec<unknown>
  readonly report: JsonCodec<unknown> | undefined
  readonly reportForm: string | undefined
  readonly shape: string
  readonly subagents: ReadonlyArray<{ readonly behaviour: string }>
}): string => {
  const { agent, input, report, reportForm, shape, subagents } = compiled
  const { maxTokens = null, maxToolCalls = null, timeout } = spec.budget
  return CacheKey.behaviour({
    id: spec.id,
    role: spec.role,
    // A function is code; the shape has the schema of what it takes.
    instructions: typeof spec.instructions === "string" ? spec.instructions : null,
    // A definition whose model is not there is refused, and its behaviour never looked at.
    model: [agent.client?.provider ?? "", agent.client?.modelId ?? ""],
    settings: spec.settings as Json,
    input: input.modelSchema,
    // A model that gives structured answers is shown it beside what is offered.
    report: [report?.modelSchema ?? null, reportForm ?? null],
    offered: agent.offered as unknown as Json,
    shape,
    delegation: spec.delegation as Json,
    childFailure: spec.childFailure as Json,
    steps: [spec.maxSteps, spec.reasks],
    budget: [maxTokens, maxToolCalls, timeout === undefined ? null : millis(timeout)],
    catalogTools: spec.catalogTools ?? null,
    // Absent where none is set, as in digests from before there were such bounds.
    ...(Object.keys(spec.toolLimits).length === 0 ? {} : { toolLimits: spec.toolLimits as Json }),
    ...(spec.maxRepeats === undefined ? {} : { maxRepeats: spec.maxRepeats }),
    // No names at all are none of the postures.
    postures: spec.postures === undefined ? null : spec.postures.names ?? "all",
    subagents: subagents.map(({ behaviour }) => behaviour)
  })
}

const millis = (timeout: Duration.Input): number | null => {
  const duration = Duration.fromInput(timeout)
  return duration._tag === "Some" ? Duration.toMillis(duration.value) : null
}
