/**
 * How the results of an agent are cached.
 *
 * @since 0.1.0
 */
import type * as Duration from "effect/Duration"
import * as Result from "effect/Result"
import * as Options from "./Options.ts"
import * as Text from "./Text.ts"

/**
 * How the results of an agent are cached.
 *
 * **Details**
 *
 * - `timeToLive`: how long a result may be used again, from when it was kept.
 *   Absent: as long as the `ResultCache` keeps it
 * - `version`: a text of the application's, part of every key. Another version
 *   finds none of the old results. It stands for what keys cannot see: the code
 *   of tool handlers, and data that tools read
 *
 * @category models
 * @since 0.1.0
 */
export interface CachePolicy {
  readonly timeToLive?: Duration.Input
  readonly version?: string
}

/**
 * What is wrong with a policy, a sentence each.
 *
 * @category getters
 * @since 0.1.0
 */
export const problems = (policy: CachePolicy): ReadonlyArray<string> =>
  Result.match(decode(policy), { onSuccess: () => [], onFailure: (issues) => issues })

/**
 * Decodes a policy as a caller gives it.
 *
 * @category decoding
 * @since 0.1.0
 */
export const decode: Options.Decode<CachePolicy> = Options.make<CachePolicy>("setting", {
  timeToLive: Options.checked<Duration.Input>("a positive duration", (value) => Options.millisOf(value) > 0),
  // A variable of the environment that is not set would make one version of all.
  version: Options.checked<string>(
    "a string that is not blank",
    (value) => typeof value === "string" && !Text.isBlank(value)
  )
})
