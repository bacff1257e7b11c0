/**
 * How the results of an agent are cached.
 *
 * @since 0.1.0
 */
import * as Duration from "effect/Duration"
import * as Option from "effect/Option"
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
  Object.entries(policy).flatMap(([name, value]: [string, unknown]) => {
    if (value === undefined) return []
    switch (name) {
      case "timeToLive":
        return isPositive(value) ? [] : ["timeToLive must be a positive duration"]
      case "version":
        // A variable of the environment that is not set would make one version of all.
        return typeof value === "string" && !Text.isBlank(value) ? [] : ["version must be a text that is not blank"]
      default:
        return [`a cache policy has no "${name}"; it has ${fields.join(" and ")}`]
    }
  })

const fields: ReadonlyArray<keyof CachePolicy> = ["timeToLive", "version"]

const isPositive = (value: unknown): boolean =>
  Option.exists(Duration.fromInput(value as Duration.Input), Duration.isPositive)
