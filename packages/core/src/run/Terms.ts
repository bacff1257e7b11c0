/**
 * The options of a call, over what its agent's definition says.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"
import type { Mandate } from "../service/Mandate.ts"
import * as Bound from "../values/Bound.ts"
import * as Budget from "../values/Budget.ts"
import * as Ids from "../values/Ids.ts"
import type { Json } from "../values/Json.ts"
import * as RunConfig from "../values/RunConfig.ts"
import type { RunError } from "../values/RunError.ts"
import type { RunLimits } from "../values/RunLimits.ts"
import * as TreeBudget from "../values/TreeBudget.ts"
import * as RunFailure from "./RunFailure.ts"
import type { Runnable } from "./Runnable.ts"

/**
 * What a call of an agent starts with.
 *
 * @category models
 * @since 0.1.0
 */
export interface Terms {
  readonly tenant: string
  readonly limits: RunLimits
  readonly budget: Budget.ResolvedBudget
  readonly context?: Json
}

/**
 * Checks the options of a call over what its agent's definition says. Fails
 * with the first one that is not valid; on a runtime that is closed nothing is.
 *
 * @category constructors
 * @since 0.1.0
 */
export const of = Effect.fnUntraced(function*(
  runtime: Mandate["Service"],
  runnable: Runnable,
  config: RunConfig.WithContext | undefined
): Effect.fn.Return<Terms, RunError> {
  yield* runtime.host.ensureOpen
  const budget = yield* RunFailure.valid("budget", Budget.resolve(runnable.budget, config?.budget))
  const tree = yield* RunFailure.valid("treeBudget", TreeBudget.resolve(config?.treeBudget))
  const tenant = yield* tenantOf(config)
  const limits = yield* limitsOf(runnable.limits, config)
  const context = yield* contextOf(runnable, config)
  return {
    tenant,
    limits,
    budget: tree === undefined ? budget : { ...budget, tree },
    ...(context === undefined ? {} : { context })
  }
})

/**
 * Decodes the options of a call: a plain object with the keys of `RunConfig`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const decode = (config: RunConfig.WithContext | undefined): Effect.Effect<RunConfig.WithContext, RunError> =>
  RunFailure.valid("options", RunConfig.decode(config))

/**
 * Resolves the thread of a call: the one it names, or a new one.
 *
 * @category constructors
 * @since 0.1.0
 */
export const threadOf = (
  runtime: Mandate["Service"],
  config: RunConfig.RunConfig | undefined
): Effect.Effect<Ids.ThreadId, RunError> => {
  const threadId = config?.threadId
  if (threadId === undefined) return Effect.map(runtime.newThreadId, (id) => id as Ids.ThreadId)
  return Effect.flatMap(RunFailure.rootOnly(threadId), () =>
    isApplicationThreadId(threadId)
      ? Effect.succeed(threadId as string as Ids.ThreadId)
      : RunFailure.fail({ _tag: "InvalidInput", field: "thread id", issues: [isNoId] }))
}

const contextOf = (
  { context }: Runnable,
  config: RunConfig.WithContext | undefined
): Effect.Effect<Json | undefined, RunError> =>
  Effect.catch(
    context.accept(config?.context),
    (issues) => RunFailure.fail({ _tag: "InvalidInput", field: "context", issues })
  )

const isApplicationThreadId = Schema.is(Ids.ApplicationThreadId)
const isNoId = "it must be 1 to 128 of the characters a-z A-Z 0-9 _ . : -"

const tenantOf = (config: RunConfig.RunConfig | undefined): Effect.Effect<string, RunError> => {
  const tenant = config?.tenant
  if (tenant === undefined) return Effect.succeed("")
  return isApplicationThreadId(tenant)
    ? Effect.succeed(tenant)
    : RunFailure.fail({ _tag: "InvalidInput", field: "tenant", issues: [isNoId] })
}

// The call may keep fewer children than the definition, not more.
const limitsOf = (limits: RunLimits, config: RunConfig.RunConfig | undefined): Effect.Effect<RunLimits, RunError> => {
  const asked = config?.childRetention
  if (asked === undefined) return Effect.succeed(limits)
  const issues = Bound.problem("it", asked)
  return issues.length === 0
    ? Effect.succeed({ ...limits, childRetention: Math.min(asked, limits.childRetention) })
    : RunFailure.fail({ _tag: "InvalidInput", field: "childRetention", issues })
}
