/**
 * Runs postures by name: subagents as data, that operators edit.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Result from "effect/Result"
import type { Mandate } from "../service/Mandate.ts"
import type { ModelRegistry } from "../service/ModelRegistry.ts"
import type { PostureRegistry } from "../service/PostureRegistry.ts"
import * as ResultCache from "../service/ResultCache.ts"
import type { ToolCatalog } from "../service/ToolCatalog.ts"
import type { Answer } from "../values/Answer.ts"
import * as Bound from "../values/Bound.ts"
import { DelegateError } from "../values/DelegateError.ts"
import type { DelegateRequest, DelegateResult } from "../values/DelegateResult.ts"
import * as CallerOptions from "../values/Options.ts"
import type { RunError } from "../values/RunError.ts"
import * as DelegateRuns from "./DelegateRuns.ts"
import { DelegateRuntime } from "./DelegateService.ts"

export {
  /**
   * Service that runs postures by name.
   *
   * @category services
   * @since 0.1.0
   */
  DelegateRuntime
}

/**
 * How a runtime of postures is set up.
 *
 * **Details**
 *
 * - `maxDepth` (3): the deepest at which any posture may run; a call from
 *   outside of any run starts at 1
 * - `cache` (`true`): whether equal calls use each other's results, in the
 *   `ResultCache` of the context, or in memory where there is none
 *
 * @category models
 * @since 0.1.0
 */
export interface Options {
  readonly maxDepth?: number
  readonly cache?: boolean
}

/**
 * Layer that runs the postures of the registry with the tools of the catalog. A
 * `maxDepth` that is no positive whole number is an `InvalidRequest`.
 *
 * **Example** (A posture, run by name)
 *
 * ```ts
 * import { DelegateRuntime, Mandate, PostureRegistry, ToolCatalog } from "@mandate/core"
 * import { ScriptedModel, Step } from "@mandate/testing"
 * import { Effect, Layer } from "effect"
 *
 * const runtime = DelegateRuntime.layer().pipe(
 *   Layer.provideMerge(Layer.mergeAll(
 *     Mandate.layerMemory,
 *     ToolCatalog.layer,
 *     PostureRegistry.layer([
 *       { name: "reviewer", description: "Reviews one change", instructions: "You review the change you are given." }
 *     ]),
 *     ScriptedModel.layer({ reviewer: [Step.text("It is fine.")] })
 *   ))
 * )
 *
 * export const program = Effect.gen(function*() {
 *   const review = yield* DelegateRuntime.run({ posture: "reviewer", task: "Review it", context: { lines: 3 } })
 *   return review.status === "success" ? review.result : review.status
 * }).pipe(Effect.provide(runtime))
 * ```
 *
 * @category layers
 * @since 0.1.0
 */
export const layer = (
  options?: Options
): Layer.Layer<DelegateRuntime, DelegateError, Mandate | ModelRegistry | PostureRegistry | ToolCatalog> =>
  Layer.effect(
    DelegateRuntime,
    Effect.gen(function*() {
      const given = decode(options)
      if (Result.isFailure(given)) {
        return yield* new DelegateError({ reason: { _tag: "InvalidRequest", field: "options", issues: given.failure } })
      }
      const { cache, maxDepth = defaultMaxDepth } = given.success
      const issues = Bound.problem("it", maxDepth)
      if (issues.length > 0) {
        return yield* new DelegateError({ reason: { _tag: "InvalidRequest", field: "maxDepth", issues } })
      }
      return DelegateRuns.make(
        yield* Effect.context<Mandate | ModelRegistry | PostureRegistry | ToolCatalog>(),
        maxDepth,
        cache === false ? ResultCache.none : yield* cacheOf
      )
    })
  )

/**
 * Runs a posture to the end. Interrupting it cancels the run.
 *
 * **Details**
 *
 * Fails with a `DelegateError` for a call that is refused, before anything is
 * started. One that is refused for its depth is told to those who subscribed to
 * the events of the runtime, as a `DelegateRefused` that no store has. Whatever
 * comes of a run that was started is its result. Only what another try could
 * mend of itself, such as a store that does not answer, is a `RunError`.
 *
 * @category running
 * @since 0.1.0
 */
export const run = (
  request: DelegateRequest
): Effect.Effect<DelegateResult, DelegateError | RunError, DelegateRuntime> =>
  Effect.flatMap(DelegateRuntime, (delegates) => delegates.run(request))

/**
 * Answers some or all of what a suspended sub-session waits on, by the ids of
 * its `pending`, and goes on with it.
 *
 * **Details**
 *
 * The posture is the one that the run started with, whatever the registry has
 * by now. What came of it is given as by {@link run}, and is not cached.
 *
 * @category running
 * @since 0.1.0
 */
export const resume = (
  subSessionId: string,
  answers: ReadonlyArray<Answer>
): Effect.Effect<DelegateResult, RunError, DelegateRuntime> =>
  Effect.flatMap(DelegateRuntime, (delegates) => delegates.resume(subSessionId, answers))

/**
 * Goes on with a sub-session that failed, or whose process is gone. One that is
 * held is waited for, one lease time at most; `force` takes it over at once.
 *
 * @category running
 * @since 0.1.0
 */
export const recover = (
  subSessionId: string,
  options?: { readonly force?: boolean }
): Effect.Effect<DelegateResult, RunError, DelegateRuntime> =>
  Effect.flatMap(DelegateRuntime, (delegates) => delegates.recover(subSessionId, options))

/**
 * Cancels a sub-session with everything below it.
 *
 * @category running
 * @since 0.1.0
 */
export const cancel = (subSessionId: string): Effect.Effect<void, RunError, DelegateRuntime> =>
  Effect.flatMap(DelegateRuntime, (delegates) => delegates.cancel(subSessionId))

const defaultMaxDepth = 3

const decode = CallerOptions.make<Options>("option", { maxDepth: CallerOptions.any, cache: CallerOptions.flag })

const cacheOf = Effect.map(
  Effect.serviceOption(ResultCache.ResultCache),
  Option.getOrElse(() => ResultCache.memory())
)
