/**
 * What a result depends on beyond a definition and an input: how deep the call
 * stands, and what the catalog and the registry of postures hold at that time.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type { PostureRegistry } from "../service/PostureRegistry.ts"
import type { ToolCatalog } from "../service/ToolCatalog.ts"
import type { Json } from "../values/Json.ts"
import * as Posture from "../values/Posture.ts"
import * as ReportForm from "../values/ReportForm.ts"
import { type BoundSpec, family } from "./BoundSpec.ts"

/**
 * Where a call stands, and how much deeper it may delegate.
 *
 * @category models
 * @since 0.1.0
 */
export interface Place {
  readonly depth: number
  readonly depthLeft: number
}

/**
 * The surroundings of a call, as far as anything in the agent's family looks at
 * them: equal calls in equal surroundings have equal results. An agent that
 * works alone with tools of its own has none.
 *
 * @category getters
 * @since 0.1.0
 */
export const of = Effect.fnUntraced(function*(
  spec: BoundSpec,
  { depth, depthLeft }: Place
): Effect.fn.Return<Surroundings> {
  const members = [...family(spec)]
  const tools = yield* Effect.forEach(members, ({ catalog }) => catalog?.resolve ?? Effect.succeed([]))
  const delegates = members.find((member) => member.delegates !== undefined)?.delegates
  const delegating = members.length > 1 || delegates !== undefined
  return {
    tools: [...new Set(tools.flat())].sort(),
    ...(delegating ? { depthLeft } : {}),
    // Postures have bounds on the depth itself.
    ...(delegates === undefined ? {} : { depth, postures: yield* delegates.surroundings })
  }
})

/**
 * The surroundings of a call as JSON.
 *
 * @category models
 * @since 0.1.0
 */
export interface Surroundings {
  readonly [name: string]: Json
}

/**
 * What the results of whoever delegates to postures depend on: all of them by
 * name, version and registered report schema, and the names of all tools that they could get.
 *
 * @category getters
 * @since 0.1.0
 */
export const ofPostures = (
  registry: PostureRegistry["Service"],
  catalog: ToolCatalog["Service"]
): Effect.Effect<Surroundings> =>
  Effect.map(registry.list, (postures) => ({
    postures: postures.map((posture) => [posture.name, versionOf(posture), reportOf(registry, posture)]),
    tools: [...catalog.names()].sort()
  }))

// The version of a posture that names its report schema holds the name alone.
const reportOf = (registry: PostureRegistry["Service"], { report }: Posture.Posture): string | null => {
  const schema = report === undefined || !("name" in report) ? undefined : registry.reportSchema(report.name)
  return schema === undefined ? null : ReportForm.of(schema)
}

const versionOf = (posture: Posture.Posture): string => {
  const known = versions.get(posture) ?? Posture.version(posture)
  versions.set(posture, known)
  return known
}

// The registry gives out the same value until it is replaced.
const versions = new WeakMap<Posture.Posture, string>()
