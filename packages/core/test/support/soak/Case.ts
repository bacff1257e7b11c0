/**
 * One case of the soak: a family of agents with the scripts of their models,
 * and what befalls a run of it. Plain data, so that it can be read.
 */
import type { Budget, ChildFailure, DelegationConfig, ModelError, TreeBudget } from "@mandate/core"
import * as PosturePlan from "./PosturePlan.ts"

export interface Case {
  readonly seed: number
  readonly store: "memory" | "SQLite"
  readonly face: "Agent" | "BoundAgent"
  readonly root: AgentPlan

  /** What all runs may spend together. */
  readonly tree: TreeBudget.TreeBudget

  /** Whether each act has a process of its own, or only the one after a crash. */
  readonly restarts: boolean

  /** How probable it is that only some of what is pending is answered. */
  readonly partial: number

  /** The process of an act dies right after it has made so many writes. */
  readonly crashes: ReadonlyArray<{ readonly act: number; readonly write: number }>
  readonly cancel: CancelPlan | undefined

  /** What agents may delegate to by name; absent in most cases. */
  readonly postures: PosturePlan.PosturesPlan | undefined
}

/** What is cancelled in an act: after so many writes of it, or, without them, while the run is suspended. */
export interface CancelPlan {
  readonly act: number
  readonly afterWrites: number | undefined
  readonly target: "root" | "child"
  readonly from: "same process" | "another process"
}

export interface AgentPlan {
  readonly id: string
  readonly kind: "text" | "typed"
  readonly bounds: DelegationConfig.DelegationConfig
  readonly maxSteps: number
  readonly reasks: number
  readonly retries: number
  readonly budget: Budget.Budget
  readonly policy: ChildFailure.ChildFailurePolicy

  /** Names of the tools before which a run stops. */
  readonly breakpoints: ReadonlyArray<string>

  /** Characters of the answer that ends a script. */
  readonly size: number

  /** What the model does in a run; runs take the scripts in turn, by the index of their task call. */
  readonly scripts: ReadonlyArray<ReadonlyArray<StepPlan>>
  readonly subagents: ReadonlyArray<AgentPlan>

  /** Which postures it may delegate to; absent for none. */
  readonly postures: { readonly names?: ReadonlyArray<string> } | undefined
}

/** One response of a model. After the last one it answers. */
export interface StepPlan {
  readonly what: "calls" | "answer" | "bad answer" | "prose" | "blank" | "pause" | "cut" | "filter"

  /** Characters of an answer; some of them are longer in bytes. */
  readonly size: number

  /** Text beside calls. */
  readonly text: string | undefined
  readonly calls: ReadonlyArray<CallPlan>
  readonly tokens: { readonly input: number; readonly output: number }
  readonly millis: number

  /** How often the step fails before it is answered, and how. */
  readonly failures: number
  readonly failure: ModelError.ModelErrorReason
}

export interface CallPlan {
  readonly name: string
  readonly arguments: string

  /** The provider's id, where it is not the scripted model's. */
  readonly id: string | undefined
}

/** All agents of a family, parents first. */
export const family = (agent: AgentPlan): ReadonlyArray<AgentPlan> => [agent, ...agent.subagents.flatMap(family)]

/** A case in words. */
export const format = (self: Case): string =>
  [
    `case ${self.seed}: ${self.face} over ${self.store}, ${
      self.restarts ? "a process for each act" : "one process until it dies"
    }, answers ${Math.round(self.partial * 100)} % in part`,
    ...(Object.keys(self.tree).length === 0 ? [] : [`  the tree may spend ${JSON.stringify(self.tree)}`]),
    ...self.crashes.map(({ act, write }) => `  act ${act} dies after write ${write}`),
    ...(self.cancel === undefined ? [] : [
      `  act ${self.cancel.act} cancels the ${self.cancel.target} from ${self.cancel.from}, ${
        self.cancel.afterWrites === undefined ? "while suspended" : `after write ${self.cancel.afterWrites}`
      }`
    ]),
    ...(self.postures === undefined ? [] : [
      ...PosturePlan.format(self.postures).map((line) => `  ${line}`),
      ...self.postures.postures.flatMap((posture) => [
        `  posture ${PosturePlan.formatPosture(posture)}`,
        ...formatScripts(posture.scripts, "  ")
      ])
    ]),
    ...formatAgent(self.root, "  ")
  ].join("\n")

const formatAgent = (agent: AgentPlan, indent: string): ReadonlyArray<string> => [
  `${indent}${agent.id} (${agent.kind}, answers with ${agent.size} characters) ${
    JSON.stringify({
      ...agent.bounds,
      maxSteps: agent.maxSteps,
      reasks: agent.reasks,
      retries: agent.retries,
      ...agent.budget,
      ...agent.policy,
      ...(agent.breakpoints.length === 0 ? {} : { breakpoints: agent.breakpoints.join(" ") }),
      ...(agent.postures === undefined ? {} : { postures: agent.postures.names?.join(" ") ?? "all" })
    }).replaceAll("\"", "")
  }`,
  ...formatScripts(agent.scripts, indent),
  ...agent.subagents.flatMap((subagent) => formatAgent(subagent, `${indent}  `))
]

const formatScripts = (scripts: AgentPlan["scripts"], indent: string): ReadonlyArray<string> =>
  scripts.flatMap((script, index) => [
    `${indent}  script ${index}${script.length === 0 ? ": answers at once" : ""}`,
    ...script.map((step, index) => `${indent}    ${index} ${formatStep(step)}`)
  ])

const formatStep = (step: StepPlan): string =>
  [
    ...(step.failures > 0 ? [`fails ${step.failures} times (${step.failure}), then`] : []),
    step.what,
    ...(step.what === "answer" ? [`of ${step.size} characters`] : []),
    ...(step.text === undefined ? [] : [JSON.stringify(step.text)]),
    ...step.calls.map(({ arguments: args, id, name }) =>
      `${name}${id === undefined ? "" : `[id ${JSON.stringify(id)}]`} ${args}`
    ),
    `(${step.tokens.input}+${step.tokens.output} tokens, ${step.millis} ms)`
  ].join(" ")
