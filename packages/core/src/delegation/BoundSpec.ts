/**
 * An agent compiled onto a runtime.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"
import type { Runnable } from "../run/Runnable.ts"
import type { Mandate } from "../service/Mandate.ts"
import type { ChildFailurePolicy } from "../values/ChildFailure.ts"
import type { DelegateError } from "../values/DelegateError.ts"
import type { FileLimits } from "../values/FileLimits.ts"
import type { Json } from "../values/Json.ts"
import type { JsonCodec } from "../values/JsonCodec.ts"
import type { Posture } from "../values/Posture.ts"
import type { TypedCache } from "./TypedCache.ts"

/**
 * An agent compiled onto a runtime, types erased.
 *
 * **Details**
 *
 * - `input`, `prompt`: the codec of the input, and how it becomes the first
 *   message
 * - `files`: bounds on the files of an input
 * - `report`: the codec of a typed answer; absent for text
 * - `reportForm`: a digest of what the decoding of a report depends on
 * - `ownMaxDepth`: the depth the definition sets itself, if it does
 * - `behaviour`: a digest of what it does, as far as that is data
 * - `cache`: where its results are found again, if they are to be
 * - `delegates`: the runtime of postures, for an agent that may delegate to them
 *
 * @category models
 * @since 0.1.0
 */
export interface BoundSpec extends Runnable {
  readonly runtime: Mandate["Service"]
  readonly role: "typed" | "text" | "agent"
  readonly description: string
  readonly input: JsonCodec<unknown>
  readonly prompt: (input: unknown, json: string) => string
  readonly files: Required<FileLimits>
  readonly report: JsonCodec<unknown> | undefined
  readonly reportForm: string | undefined
  readonly childFailure: ChildFailurePolicy
  readonly ownMaxDepth: number | undefined
  readonly subagents: ReadonlyArray<BoundSpec>
  readonly behaviour: string
  readonly cache: TypedCache | undefined
  readonly delegates: Delegates | undefined
}

/**
 * The runtime of postures, as agents that may delegate to them know it.
 * `surroundings` says what results of postures depend on, besides the call.
 *
 * @category models
 * @since 0.1.0
 */
export interface Delegates {
  readonly compile: CompilePosture
  readonly surroundings: Effect.Effect<Json>
}

/**
 * Compiles a posture for its runs, without saying which tools one gets.
 *
 * @category models
 * @since 0.1.0
 */
export type CompilePosture = (posture: Posture) => Effect.Effect<BoundSpec, DelegateError>

/**
 * An agent and all subagents below it, each once.
 *
 * @category getters
 * @since 0.1.0
 */
export const family = (spec: BoundSpec): ReadonlySet<BoundSpec> => {
  const found = new Set([spec])
  for (const member of found) for (const subagent of member.subagents) found.add(subagent)
  return found
}
