/**
 * Keys of cached results: equal calls have equal keys, other calls have others.
 *
 * @since 0.1.0
 */
import * as Result from "effect/Result"
import type { ResolvedBudget } from "./Budget.ts"
import * as CanonicalForm from "./CanonicalForm.ts"
import * as Digest from "./Digest.ts"
import * as Json from "./Json.ts"

/**
 * What tells the calls of postures apart.
 *
 * **Details**
 *
 * - `allowedTools`, `tools`: the posture's own list, and the names it resolved
 *   to in the catalog at this call. Their order does not matter, nor how often
 *   a name is there
 * - `context`: absent is not the same as `null`
 * - `report`: a digest of the schema that the posture's report is decoded by.
 *   Absent for a text
 * - `surroundings`: what else a posture's result depends on that may delegate.
 *   Absent for one that may not
 * - `budget`: the effective budget. Only the key of partial results holds it
 * - `tenant`: whose run it is. Results of one tenant are never another's
 *
 * @category models
 * @since 0.1.0
 */
export interface PostureCall {
  readonly posture: string
  readonly version: string
  readonly task: string
  readonly context?: unknown
  readonly allowedTools: ReadonlyArray<string>
  readonly tools: ReadonlyArray<string>
  readonly report?: string | undefined
  readonly surroundings?: Json.Json | undefined
  readonly budget: ResolvedBudget
  readonly tenant?: string | undefined
}

/**
 * The keys of one call of a posture.
 *
 * **Details**
 *
 * - `success`: where a success of it is kept, whatever its budget was
 * - `partial`: where a partial result of it is kept. Calls that have this key
 *   in common are equal in everything, so it is also the key under which calls
 *   at the same time wait for each other
 *
 * @category models
 * @since 0.1.0
 */
export interface PostureKeys {
  readonly success: string
  readonly partial: string
}

/**
 * What tells the calls of typed agents apart.
 *
 * **Details**
 *
 * - `behaviour`: a digest of what the agent does, see {@link behaviour}
 * - `surroundings`: what else its result depends on at the time of the call
 * - `input`: encoded by the schema of the agent's input
 * - `context`: the run's encoded context; absent for an agent that declares
 *   none
 * - `version`: the application's own, from the agent's `CachePolicy`
 * - `tenant`: whose run it is. Results of one tenant are never another's
 *
 * @category models
 * @since 0.1.0
 */
export interface TypedCall {
  readonly agent: string
  readonly behaviour: string
  readonly surroundings: Json.Json
  readonly input: unknown
  readonly context?: Json.Json | undefined
  readonly version?: string | undefined
  readonly tenant?: string | undefined
}

/**
 * The keys of a call of a posture: SHA-256 of the canonical JSON of an object
 * with what tells it apart. Fails if the context has no canonical form.
 *
 * @category constructors
 * @since 0.1.0
 */
export const ofPosture = (call: PostureCall): Result.Result<PostureKeys, CanonicalForm.NoCanonicalForm> =>
  Result.map(optional(call.context), (context) => {
    const fields = {
      posture: call.posture,
      version: call.version,
      task: call.task,
      context,
      allowedTools: names(call.allowedTools),
      tools: names(call.tools),
      report: call.report,
      surroundings: call.surroundings,
      tenant: call.tenant
    }
    return { success: digest(fields), partial: digest({ ...fields, budget: { ...call.budget } }) }
  })

/**
 * The key of a call of a typed agent: SHA-256 of the canonical JSON of an
 * object with what tells it apart. Fails if the input has no canonical form.
 *
 * @category constructors
 * @since 0.1.0
 */
export const ofTyped = (call: TypedCall): Result.Result<string, CanonicalForm.NoCanonicalForm> =>
  Result.map(CanonicalForm.make(call.input), (input) =>
    digest({
      agent: call.agent,
      behaviour: call.behaviour,
      surroundings: call.surroundings,
      input,
      context: call.context,
      version: call.version,
      tenant: call.tenant
    }))

/**
 * A digest of what an agent does, from all of it that is data: instructions,
 * model, settings, tools with their schemas, report schema, subagents.
 *
 * **Gotchas**
 *
 * Code of handlers is not data. An application that changes it changes the
 * version of its `CachePolicy`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const behaviour = (description: Json.Json): string => Digest.sha256(Json.canonical(description))

interface Fields {
  readonly [name: string]: Json.Json | Fields | undefined
}

// What is `undefined` is left out, so that a field that is absent adds nothing.
const digest = (fields: Fields): string => Digest.sha256(Json.canonical(fields as Json.Json))

const optional = (value: unknown): Result.Result<Json.Json | undefined, CanonicalForm.NoCanonicalForm> =>
  value === undefined ? Result.succeed(undefined) : CanonicalForm.make(value)

const names = (list: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set(list)].sort()
