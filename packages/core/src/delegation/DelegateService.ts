/**
 * The runtime of postures, as agents and applications see it.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type { Answer } from "../values/Answer.ts"
import type { Budget, ResolvedBudget } from "../values/Budget.ts"
import type { PostureKeys } from "../values/CacheKey.ts"
import type { DelegateError } from "../values/DelegateError.ts"
import type { DelegateInput } from "../values/DelegateInput.ts"
import type { DelegateRequest, DelegateResult } from "../values/DelegateResult.ts"
import type { Json } from "../values/Json.ts"
import type { Posture } from "../values/Posture.ts"
import type { RunBinding } from "../values/RunBinding.ts"
import type { RunError } from "../values/RunError.ts"
import type { BoundSpec, CompilePosture } from "./BoundSpec.ts"
import type { EqualResults } from "./EqualResults.ts"

/**
 * A call that passed its checks: the posture compiled, with what its run starts
 * with, and the keys of its result in a cache.
 *
 * @category models
 * @since 0.1.0
 */
export interface Admitted {
  readonly subagent: BoundSpec
  readonly binding: RunBinding
  readonly budget: ResolvedBudget
  readonly depth: number
  readonly keys: PostureKeys | undefined
  readonly input: { readonly json: string; readonly prompt: string }
}

/**
 * Who makes a call: how deep it stands, how much deeper it may delegate, if
 * anything says so, and whose it is.
 *
 * @category models
 * @since 0.1.0
 */
export interface Caller {
  readonly depth: number
  readonly depthLeft: number | undefined
  readonly tenant: string | undefined
}

/**
 * Service that runs postures by name.
 *
 * @category services
 * @since 0.1.0
 */
export class DelegateRuntime extends Context.Service<DelegateRuntime, {
  /**
   * Runs a posture to the end. Interrupting it cancels the run.
   */
  readonly run: (request: DelegateRequest) => Effect.Effect<DelegateResult, DelegateError | RunError>

  /** Answers some or all of what a suspended sub-session waits on, and goes on with it. */
  readonly resume: (
    subSessionId: string,
    answers: ReadonlyArray<Answer>
  ) => Effect.Effect<DelegateResult, RunError>

  /** Goes on with a sub-session that failed, or whose process is gone; `force` takes it over at once. */
  readonly recover: (
    subSessionId: string,
    options?: { readonly force?: boolean }
  ) => Effect.Effect<DelegateResult, RunError>

  /** Cancels a sub-session with all below it. */
  readonly cancel: (subSessionId: string) => Effect.Effect<void, RunError>

  /** The deepest at which any posture may run. */
  readonly maxDepth: number

  /** All postures now, sorted by name. */
  readonly postures: Effect.Effect<ReadonlyArray<Posture>>

  /** Checks a call and compiles its posture. Starts nothing. */
  readonly admit: (
    posture: string,
    input: DelegateInput,
    overrides: Budget | undefined,
    caller: Caller
  ) => Effect.Effect<Admitted, DelegateError>

  /** The results of equal calls. */
  readonly results: EqualResults

  /** Compiles a posture. */
  readonly compile: CompilePosture

  /** What results of postures depend on, besides the call. */
  readonly surroundings: Effect.Effect<Json>
}>()("~mandate/DelegateRuntime") {}
