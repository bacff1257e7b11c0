/**
 * How the results of a typed agent are found again.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import type { ResolvedBudget } from "../values/Budget.ts"
import * as CacheKey from "../values/CacheKey.ts"
import type { CachePolicy } from "../values/CachePolicy.ts"
import * as Json from "../values/Json.ts"
import type * as EqualResults from "./EqualResults.ts"

/**
 * A run as far as its results depend on it: whose it is, where it stands, and
 * its encoded context. `budget` is what it may spend, on
 * which a report does not depend, but how long a call waits for an equal one.
 *
 * @category models
 * @since 0.1.0
 */
export interface CachedRun {
  readonly tenant: string
  readonly surroundings: Json.Json
  readonly budget: ResolvedBudget
  readonly context: Json.Json | undefined
}

/**
 * The cache of one bound agent.
 *
 * **Details**
 *
 * `keys` gives what a call with an encoded input is kept under, for a tenant
 * and in its surroundings; nothing for an input that has no canonical form.
 *
 * @category models
 * @since 0.1.0
 */
export interface TypedCache {
  readonly results: EqualResults.EqualResults
  readonly keys: (input: Json.Json, run: CachedRun) => EqualResults.Keys | undefined
}

/**
 * Creates the cache of an agent of a behaviour.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (
  agent: string,
  behaviour: string,
  { timeToLive, version }: CachePolicy,
  results: EqualResults.EqualResults
): TypedCache => ({
  results,
  keys: (input, { budget, context, surroundings, tenant }) =>
    Result.match(
      CacheKey.ofTyped({
        agent,
        behaviour,
        surroundings,
        input,
        context,
        version,
        tenant: tenant === "" ? undefined : tenant
      }),
      {
        onFailure: () => undefined,
        // A typed agent has no partial results; the other key is where equal calls wait for each other. One that may
        // take its time would hold up one that may not.
        onSuccess: (key) => ({ success: key, partial: `${key}/${Json.canonical({ ...budget })}`, timeToLive })
      }
    )
})
