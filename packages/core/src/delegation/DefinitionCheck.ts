/**
 * What can be wrong with one agent's definition by itself.
 *
 * @since 0.1.0
 */
import * as Tool from "effect/ai/Tool"
import * as Context from "effect/Context"
import * as Result from "effect/Result"
import * as Schema from "effect/Schema"
import type { AgentSpec } from "../definition/AgentSpec.ts"
import { MaxResultBytes } from "../definition/MaxResultBytes.ts"
import { submitReport } from "../loop/Drive.ts"
import type { DefinitionProblem } from "../values/AgentDefinitionError.ts"
import * as Bound from "../values/Bound.ts"
import * as Budget from "../values/Budget.ts"
import * as CachePolicy from "../values/CachePolicy.ts"
import * as ChildFailure from "../values/ChildFailure.ts"
import * as DelegationConfig from "../values/DelegationConfig.ts"
import * as FileLimits from "../values/FileLimits.ts"
import { AgentId } from "../values/Ids.ts"
import * as ModelSettings from "../values/ModelSettings.ts"
import type * as Options from "../values/Options.ts"
import * as RetryAfter from "../values/RetryAfter.ts"
import * as Text from "../values/Text.ts"
import * as ToolLimits from "../values/ToolLimits.ts"
import * as ValueKind from "../values/ValueKind.ts"
import { textTaskName, typedTaskName } from "./TaskTool.ts"

/**
 * A problem before the agent it belongs to is named.
 *
 * @category models
 * @since 0.1.0
 */
export type Found = Omit<DefinitionProblem, "agent">

/**
 * Problems of one definition with its tools, without its schemas, its models
 * and the agents below it.
 *
 * @category getters
 * @since 0.1.0
 */
export const problems = (spec: AgentSpec, tools: ReadonlyArray<Tool.Any>): ReadonlyArray<Found> => [
  ...identity(spec),
  ...settings(spec),
  ...subagentIds(spec),
  ...contexts(spec),
  ...toolProblems(spec, tools)
]

/**
 * Breakpoints and bounds of a definition that name none of its tools: its own,
 * and those of the catalog that it names, whether they are there by now or not.
 * Where it takes the whole catalog, a name may be that of a tool to come.
 *
 * @category getters
 * @since 0.1.0
 */
export const toolNames = (
  { breakpoints, catalogTools, toolLimits }: AgentSpec,
  own: ReadonlyArray<string>
): ReadonlyArray<Found> => {
  if (catalogTools?.length === 0) return []
  const tools = [...own, ...catalogTools ?? []]
  const named = [
    ...breakpoints.map((at) => ["the breakpoint", at] as const),
    ...Object.keys(toolLimits?.toolResultBytes ?? {}).map((name) => ["the limit toolResultBytes of", name] as const)
  ]
  return named.flatMap(([what, name]) =>
    typeof name !== "string" || tools.includes(name) ? [] : [{
      kind: "InvalidSetting" as const,
      message: `${what} ${JSON.stringify(name)} names no tool; tools: ${tools.join(", ") || "none"}`
    }]
  )
}

const identity = ({ description, id, role }: AgentSpec): ReadonlyArray<Found> => [
  ...(isAgentId(id) ? [] : [{
    kind: "InvalidId" as const,
    message: `the id ${JSON.stringify(id)} must be 1 to 52 of the characters a-z A-Z 0-9 _ -`
  }]),
  ...(role === "agent" || !Text.isBlank(description) ? [] : [{
    kind: "BlankDescription" as const,
    message: "the description is blank; a parent's model chooses by it"
  }])
]

const isAgentId = Schema.is(AgentId)

const settings = (spec: AgentSpec): ReadonlyArray<Found> => [
  ...DelegationConfig.problems(spec.delegation).map((message) => ({ kind: "InvalidBound" as const, message })),
  ...Result.match(Budget.resolve(spec.budget, undefined), {
    onSuccess: () => [],
    onFailure: (messages) => messages.map((message) => ({ kind: "InvalidBudget" as const, message }))
  }),
  ...(spec.cache === undefined ? [] : CachePolicy.problems(spec.cache)).map((message) => ({
    kind: "InvalidSetting" as const,
    message: `the cache policy: ${message}`
  })),
  ...FileLimits.problems(spec.files).map((message) => ({ kind: "InvalidBound" as const, message })),
  ...RetryAfter.problems(spec.maxRetryAfter).map((message) => ({ kind: "InvalidSetting" as const, message })),
  ...invalid("the settings of the model", ModelSettings.decode(spec.settings)),
  ...invalid("the policy of failures", ChildFailure.decodePolicy(spec.childFailure)),
  ...(Number.isSafeInteger(spec.maxSteps) && spec.maxSteps > 0 ? [] : [{
    kind: "InvalidSetting" as const,
    message: `maxSteps must be a positive whole number, not ${ValueKind.of(spec.maxSteps)}`
  }]),
  ...(Number.isSafeInteger(spec.reasks) && spec.reasks >= 0 && spec.reasks <= 5 ? [] : [{
    kind: "InvalidSetting" as const,
    message: `reasks must be a whole number from 0 to 5, not ${ValueKind.of(spec.reasks)}`
  }]),
  ...(spec.maxRepeats === undefined ? [] : Bound.problem("maxRepeats", spec.maxRepeats)).map((message) => ({
    kind: "InvalidSetting" as const,
    message
  })),
  ...ToolLimits.problems(spec.toolLimits).map((message) => ({ kind: "InvalidBound" as const, message }))
]

const invalid = (what: string, decoded: Result.Result<unknown, Options.Issues>): ReadonlyArray<Found> =>
  Result.isSuccess(decoded)
    ? []
    : decoded.failure.map((issue) => ({ kind: "InvalidSetting" as const, message: `${what}: ${issue}` }))

// Two definitions with one id are found where the family is put together; this is one that is listed twice.
const subagentIds = ({ subagents }: AgentSpec): ReadonlyArray<Found> =>
  repeated(subagents).map(({ id }) => ({
    kind: "DuplicateId" as const,
    message: `the subagent "${id}" is listed twice`
  }))

// A subagent reads its parent's context, so the parent has one.
const contexts = ({ context, instructions, instructionsOf, subagents }: AgentSpec): ReadonlyArray<Found> => [
  ...(typeof instructions === "string" || (context !== undefined && instructionsOf === context) ? [] : [{
    kind: "InvalidSetting" as const,
    message: context === undefined
      ? "the instructions are a function of a context, and the agent declares none: call withContext first"
      : "the instructions are a function of another context than the agent declares: call withContext before them, once"
  }]),
  ...subagents.flatMap((subagent) =>
    context !== undefined || subagent.context === undefined ? [] : [{
      kind: "InvalidSetting" as const,
      message:
        `the subagent "${subagent.id}" declares a context, and this agent has none to give: call withContext here too`
    }]
  )
]

const toolProblems = (spec: AgentSpec, all: ReadonlyArray<Tool.Any>): ReadonlyArray<Found> => {
  const taskNames = new Map(
    spec.subagents.map((subagent) => [
      subagent.role === "text" ? textTaskName : typedTaskName(subagent.id),
      subagent.id
    ])
  )
  return [
    ...all.flatMap((tool) => [...toolName(tool.name, taskNames), ...toolKind(tool)]),
    ...repeated(all.map((tool) => tool.name)).map((name) => ({
      kind: "ToolNameCollision" as const,
      message: `two tools have the name "${name}"`
    }))
  ]
}

/**
 * What is wrong with tools by themselves: their names, and what they are.
 *
 * @category getters
 * @since 0.1.0
 */
export const tools = (all: ReadonlyArray<Tool.Any>): ReadonlyArray<Found> =>
  all.flatMap((tool) => [...toolName(tool.name, new Map()), ...toolKind(tool)])

const toolName = (name: string, taskNames: ReadonlyMap<string, string>): ReadonlyArray<Found> => {
  const subagent = taskNames.get(name)
  if (subagent !== undefined) {
    return [{
      kind: "ToolNameCollision",
      message: `the tool "${name}" has the name of the task tool of the subagent "${subagent}"`
    }]
  }
  if (reserved.test(name)) {
    return [{ kind: "ReservedToolName", message: `the tool name "${name}" is reserved` }]
  }
  return providerName.test(name) ? [] : [{
    kind: "InvalidToolName",
    message: `the tool name ${JSON.stringify(name)} must be 1 to 64 of the characters a-z A-Z 0-9 _ -`
  }]
}

// A call may only be refused, never let through, by what is not there to ask a person.
const toolKind = (tool: Tool.Any): ReadonlyArray<Found> => [
  ...(Tool.isProviderDefined(tool) ?
    [{
      kind: "InvalidSetting" as const,
      message: `the tool "${tool.name}" is defined by a provider, which agents cannot offer yet`
    }] :
    []),
  ...resultBytes(tool)
]

const resultBytes = (tool: Tool.Any): ReadonlyArray<Found> => {
  const bytes = Context.get(tool.annotations, MaxResultBytes)
  return bytes === undefined ?
    [] :
    Bound.problem(`MaxResultBytes of the tool "${tool.name}"`, bytes).map((message) => ({
      kind: "InvalidBound" as const,
      message
    }))
}

const reserved = new RegExp(`^(${submitReport}|${textTaskName}|task_.*|delegate|handoff_to_.*)$`, "s")
const providerName = /^[a-zA-Z0-9_-]{1,64}$/

const repeated = <A>(items: ReadonlyArray<A>): ReadonlyArray<A> => [
  ...new Set(items.filter((item, index) => items.indexOf(item) !== index))
]
