/**
 * Whether a posture may be run, and with what.
 *
 * **Details**
 *
 * The checks come in a fixed order: the posture, the depth, the input, the
 * overrides, and whether the posture can be compiled. Nothing is started before
 * all have passed.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Result from "effect/Result"
import type { PostureRegistry } from "../service/PostureRegistry.ts"
import * as Budget from "../values/Budget.ts"
import * as CacheKey from "../values/CacheKey.ts"
import * as CanonicalForm from "../values/CanonicalForm.ts"
import { DelegateError, type DelegateErrorReason } from "../values/DelegateError.ts"
import type { DelegateInput } from "../values/DelegateInput.ts"
import { maxInputBytes, maxTurnBytes } from "../values/DelegateResult.ts"
import * as Json from "../values/Json.ts"
import * as Posture from "../values/Posture.ts"
import * as Text from "../values/Text.ts"
import * as Utf8 from "../values/Utf8.ts"
import type { CompilePosture } from "./BoundSpec.ts"
import type { Admitted, Caller } from "./DelegateService.ts"
import { toolsOf } from "./PostureCompile.ts"
import { message } from "./PostureSpec.ts"
import * as Surroundings from "./Surroundings.ts"

/**
 * Checks a call, and compiles its posture with the tools of this moment.
 *
 * @category running
 * @since 0.1.0
 */
export const admit = Effect.fnUntraced(function*(
  runtime: {
    readonly registry: PostureRegistry["Service"]
    readonly compile: CompilePosture
    readonly maxDepth: number
  },
  name: string,
  input: DelegateInput,
  overrides: Budget.Budget | undefined,
  caller: Caller
): Effect.fn.Return<Admitted, DelegateError> {
  const { compile, maxDepth, registry } = runtime
  if (typeof name !== "string") return yield* invalid("posture", [noText])
  const posture = yield* Effect.mapError(
    registry.get(name),
    ({ known }) => refused({ _tag: "UnknownPosture", posture: Utf8.cut(name, 64), known })
  )
  const depth = caller.depth + 1
  const limit = depthLimit(posture, depth, maxDepth, caller)
  if (limit !== undefined) return yield* refused({ _tag: "RecursionLimit", posture: name, depth, ...limit })
  const checked = yield* inputOf(input)
  const budget = yield* budgetOf(posture, overrides)
  const bound = yield* compile(posture)
  const tools = yield* toolsOf(posture, bound)
  const { allowedTools } = posture
  const version = Posture.version(posture)
  const { context, task } = checked.input
  const { tenant } = caller
  const depthLeft = Math.min(maxDepth - depth, caller.depthLeft === undefined ? maxDepth : caller.depthLeft - 1)
  const surroundings = bound.delegates === undefined ? undefined : yield* Surroundings.of(bound, { depth, depthLeft })
  const keys = CacheKey.ofPosture({
    posture: name,
    version,
    task,
    context,
    allowedTools,
    tools,
    report: bound.reportForm,
    surroundings,
    budget,
    tenant
  })
  return {
    keys: Result.getOrUndefined(keys),
    subagent: {
      ...bound,
      maxDepth: depthLeft,
      budget: {
        ...(budget.maxTokens === undefined ? {} : { maxTokens: budget.maxTokens }),
        ...(budget.maxToolCalls === undefined ? {} : { maxToolCalls: budget.maxToolCalls }),
        ...(budget.timeoutMillis === undefined ? {} : { timeout: budget.timeoutMillis })
      }
    },
    binding: { tools, delegate: { posture, version } },
    budget,
    depth,
    input: checked
  }
})

const refused = (reason: DelegateErrorReason): DelegateError => new DelegateError({ reason })

const invalid = (field: string, issues: ReadonlyArray<string>): Effect.Effect<never, DelegateError> =>
  Effect.fail(refused({ _tag: "InvalidRequest", field, issues }))

const depthLimit = (
  posture: Posture.Posture,
  depth: number,
  maxDepth: number,
  { depthLeft }: Caller
): { readonly limit: number; readonly of: "posture" | "runtime" | "agent" } | undefined => {
  if (posture.maxDepth !== undefined && depth > posture.maxDepth) return { limit: posture.maxDepth, of: "posture" }
  if (depth > maxDepth) return { limit: maxDepth, of: "runtime" }
  return depthLeft !== undefined && depthLeft < 1 ? { limit: depth - 1, of: "agent" } : undefined
}

const inputOf = (
  { context, parentTurn, task }: DelegateInput
): Effect.Effect<Admitted["input"] & { readonly input: DelegateInput }, DelegateError> => {
  if (typeof task !== "string") return invalid("task", [noText])
  if (Text.isBlank(task)) return invalid("task", ["it is blank"])
  if (parentTurn !== undefined) {
    if (typeof parentTurn !== "string") return invalid("parentTurn", [noText])
    const bytes = Utf8.byteLength(parentTurn)
    if (bytes > maxTurnBytes) return invalid("parentTurn", [tooLarge(bytes, maxTurnBytes)])
  }
  const form = context === undefined ? undefined : CanonicalForm.make(context)
  if (form !== undefined && Result.isFailure(form)) {
    return invalid("context", [`${form.failure.path}: Expected ${form.failure.expected}`])
  }
  const input: DelegateInput = {
    task: task.toWellFormed(),
    ...(form === undefined ? {} : { context: form.success }),
    ...(parentTurn === undefined ? {} : { parentTurn })
  }
  const written = Json.canonical(input)
  const size = Utf8.byteLength(written)
  if (size > maxInputBytes) {
    const isOfTask = form === undefined || Utf8.byteLength(task) > maxInputBytes
    return invalid(isOfTask ? "task" : "context", [tooLarge(size, maxInputBytes)])
  }
  return Effect.succeed({ json: written, prompt: message(input), input })
}

const noText = "it is not a text"

const tooLarge = (bytes: number, most: number): string => `it has ${bytes} bytes; at most ${most} are allowed`

const budgetOf = (
  { budget, ceiling }: Posture.Posture,
  overrides: Budget.Budget | undefined
): Effect.Effect<Budget.ResolvedBudget, DelegateError> =>
  Result.match(Result.all([Budget.resolve(budget, overrides), Budget.resolve(ceiling, undefined)]), {
    onFailure: (issues) => invalid("overrides", issues),
    onSuccess: ([resolved, most]) => {
      const issues = limits.flatMap(([limit, name]) => {
        const [given, highest] = [resolved[limit], most[limit]]
        return given !== undefined && highest !== undefined && given > highest
          ? [`${name} must be at most ${highest}, the ceiling of the posture, not ${given}`]
          : []
      })
      return issues.length > 0 ? invalid("overrides", issues) : Effect.succeed(resolved)
    }
  })

const limits = [
  ["maxTokens", "maxTokens"],
  ["maxToolCalls", "maxToolCalls"],
  ["timeoutMillis", "timeout in milliseconds"]
] as const
