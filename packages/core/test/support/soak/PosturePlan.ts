/** The postures of a case: what is in the registry and in the catalog, and how both are edited while the case goes on. */
import type { Budget, Posture } from "@mandate/core"
import type { AgentPlan, StepPlan } from "./Case.ts"

export interface PosturesPlan {
  /** The postures that the case begins with. */
  readonly postures: ReadonlyArray<PosturePlan>

  /** What happens to postures and tools right before an act. */
  readonly edits: ReadonlyArray<EditPlan>

  /** The deepest at which any posture may run. */
  readonly maxDepth: number

  /** Whether the results of equal calls outlive their process. */
  readonly cache: "of each process" | "of all processes"
}

export type EditPlan =
  & { readonly act: number }
  & (
    | { readonly what: "edit"; readonly posture: PosturePlan }
    | { readonly what: "remove"; readonly name: string }
    | { readonly what: "remove tool"; readonly name: string }
  )

export interface PosturePlan {
  readonly name: string

  /** Told by its instructions, so that each edit makes another version. */
  readonly revision: number
  readonly report: "text" | "named" | "schema"
  readonly allowedTools: ReadonlyArray<string>
  readonly budget: Budget.Budget
  readonly ceiling: Budget.Budget
  readonly maxDepth: number | undefined
  readonly maxSteps: number

  /** What the model does, whatever the revision. */
  readonly size: number
  readonly scripts: ReadonlyArray<ReadonlyArray<StepPlan>>
}

/** The postures before an act, by name, and the tools that are gone by then. */
export const before = ({ edits, postures }: PosturesPlan, act: number): {
  readonly postures: ReadonlyMap<string, PosturePlan>
  readonly gone: ReadonlySet<string>
} => {
  const byName = new Map(postures.map((posture) => [posture.name, posture]))
  const gone = new Set<string>()
  for (const edit of edits) {
    if (edit.act > act) continue
    if (edit.what === "edit") byName.set(edit.posture.name, edit.posture)
    else if (edit.what === "remove") byName.delete(edit.name)
    else gone.add(edit.name)
  }
  return { postures: byName, gone }
}

/** The posture as the registry is given it. */
export const input = (plan: PosturePlan): Posture.PostureInput => ({
  name: plan.name,
  description: `Does ${plan.name}`,
  instructions: instructions(plan),
  allowedTools: plan.allowedTools,
  report: reports[plan.report],
  budget: plan.budget,
  ceiling: plan.ceiling,
  maxDepth: plan.maxDepth,
  maxSteps: plan.maxSteps
})

const instructions = ({ name, revision }: PosturePlan): string => `You do ${name}, as revision ${revision} says.`

const reports: { readonly [report in PosturePlan["report"]]: Posture.PostureInput["report"] } = {
  text: undefined,
  named: "facts",
  schema: {
    type: "object",
    properties: { facts: { type: "array", items: { type: "string" } } },
    required: ["facts"],
    additionalProperties: false
  }
}

/** What the runs of a posture do as the runs of an agent, where a posture says nothing else. */
export const agentOf = ({ allowedTools, maxSteps, name, report }: Posture.Posture): AgentPlan => ({
  id: name,
  kind: report === undefined ? "text" : "typed",
  bounds: {},
  maxSteps,
  reasks: 1,
  retries: 2,
  budget: {},
  policy: {},
  breakpoints: [],
  size: 1,
  scripts: [],
  subagents: [],
  postures: allowedTools.includes("delegate") ? {} : undefined
})

/** The postures of a case in words, without what their models do. */
export const format = ({ cache, edits, maxDepth }: PosturesPlan): ReadonlyArray<string> => [
  `postures run down to depth ${maxDepth}; results are ${cache}`,
  ...edits.map((edit) =>
    `before act ${edit.act} ${
      edit.what === "edit" ? `edits ${formatPosture(edit.posture)}` : `${edit.what}: ${edit.name}`
    }`
  )
]

/** A posture in words, without what its model does. */
export const formatPosture = ({ scripts: _, ...plan }: PosturePlan): string => JSON.stringify(plan).replaceAll("\"", "")
