/**
 * Refuses definitions that were not given what their methods take: code
 * without types, or a cast, may give anything.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import * as Schedule from "effect/Schedule"
import type { AgentSpec } from "../definition/AgentSpec.ts"
import { AgentDefinitionError, type DefinitionProblem } from "../values/AgentDefinitionError.ts"
import * as Budget from "../values/Budget.ts"
import * as CachePolicy from "../values/CachePolicy.ts"
import * as ChildFailure from "../values/ChildFailure.ts"
import * as DelegationConfig from "../values/DelegationConfig.ts"
import * as ModelSettings from "../values/ModelSettings.ts"
import type * as Options from "../values/Options.ts"
import * as ValueKind from "../values/ValueKind.ts"

/**
 * Fails when a part of a definition, or of one below it, is of another kind
 * than it has to be. Nothing else of such a definition can be looked at.
 *
 * @category running
 * @since 0.1.0
 */
export const check = (spec: AgentSpec): Effect.Effect<void, AgentDefinitionError> =>
  Effect.suspend(() => {
    const [first, ...rest] = problems(spec, [])
    return first === undefined
      ? Effect.void
      : Effect.fail(new AgentDefinitionError({ agentId: nameOf(spec), problems: [first, ...rest] }))
  })

const problems = (spec: AgentSpec, parents: ReadonlyArray<string>): ReadonlyArray<DefinitionProblem> => {
  const path = [...parents, nameOf(spec)]
  return [
    ...own(spec).map(([kind, message]) => ({ agent: path.join(" > "), kind, message })),
    ...spec.subagents.flatMap((subagent) => problems(subagent, path))
  ]
}

type Own = readonly [kind: DefinitionProblem["kind"], message: string]

const own = (spec: AgentSpec): ReadonlyArray<Own> => {
  const {
    budget,
    cache,
    childFailure,
    delegation,
    description,
    id,
    inputText,
    instructions,
    modelId,
    retry,
    settings
  } = spec
  const wrong = (message: string, value: unknown): Own => ["InvalidSetting", `${message}, not ${ValueKind.of(value)}`]
  return [
    ...spec.refused.map((message): Own => ["InvalidSetting", message]),
    ...(typeof id === "string" ? [] : [
      [
        "InvalidId",
        `the id must be 1 to 52 of the characters a-z A-Z 0-9 _ -, not ${ValueKind.of(id)}`
      ] satisfies Own
    ]),
    ...(typeof description === "string" ? [] : [wrong("the description must be a string", description)]),
    ...(typeof instructions === "string" || typeof instructions === "function"
      ? []
      : [wrong("the instructions must be a string, or a function of the context", instructions)]),
    ...(modelId === undefined || typeof modelId === "string"
      ? []
      : [wrong("the model must be an id of the ModelRegistry, a string", modelId)]),
    ...(inputText === undefined || typeof inputText === "function"
      ? []
      : [wrong("the text of the input must be a function", inputText)]),
    ...(retry === undefined || Schedule.isSchedule(retry) ? [] : [wrong("the retry must be a Schedule", retry)]),
    ...shape("InvalidBudget", "the budget", budget, Budget.decode),
    ...shape("InvalidBound", "the bounds on tasks", delegation, DelegationConfig.decode),
    ...(cache === undefined ? [] : shape("InvalidSetting", "the cache policy", cache, CachePolicy.decode)),
    ...shape("InvalidSetting", "the settings of the model", settings, ModelSettings.decode),
    ...shape("InvalidSetting", "the policy of failures", childFailure, ChildFailure.decodePolicy)
  ]
}

// What is wrong within a plain object is found with all other problems of the definition.
const shape = (
  kind: DefinitionProblem["kind"],
  what: string,
  value: object,
  decode: Options.Decode<object>
): ReadonlyArray<Own> => {
  if (ValueKind.isPlainObject(value)) return []
  const decoded = decode(value)
  return Result.isSuccess(decoded) ? [] : decoded.failure.map((issue): Own => [kind, `${what}: ${issue}`])
}

const nameOf = ({ id }: AgentSpec): string => typeof id === "string" ? id : "?"
