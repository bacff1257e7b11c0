/**
 * What every model client keeps, as properties that a test file runs.
 *
 * @since 0.1.0
 */
import type { ModelError } from "@mandate/core"
import * as Effect from "effect/Effect"
import * as Asking from "./contract/Asking.ts"
import * as Endings from "./contract/Endings.ts"
import * as Requests from "./contract/Requests.ts"
import * as Responses from "./contract/Responses.ts"
import * as Streams from "./contract/Streams.ts"
import type { Subject } from "./contract/Subject.ts"
import type { ContractViolation } from "./contract/Violation.ts"

export type { Instance, Sent, SentPart, Subject, Turn } from "./contract/Subject.ts"
export { secret } from "./contract/Subject.ts"
export { ContractViolation } from "./contract/Violation.ts"

/**
 * A promise of model clients, as a sentence, and an effect that fails when a
 * client breaks it.
 *
 * **Details**
 *
 * `check` takes no time of the `Clock`, so that it can run under a test clock.
 * It fails with a `ContractViolation`, or with the `ModelError` of a call that
 * should have gone well.
 *
 * @category models
 * @since 0.1.0
 */
export interface Property {
  readonly name: string
  readonly check: Effect.Effect<void, ContractViolation | ModelError.ModelError>
}

/**
 * The properties that a kind of client must have. Most of them come twice: for
 * whole responses (`generate`) and for responses in pieces (`stream`).
 *
 * **Details**
 *
 * - what comes back: text, reasoning, calls (several, of unknown tools, with
 *   arguments that are not JSON), metadata, usage, finish reasons
 * - what is sent: tools, and the conversation with calls, results and metadata
 * - failures, for the reasons that the subject can be made to give
 * - interruption
 * - streams: the same as the whole response, with one finish, at the end
 *
 * **Example** (The scripted model, in a test file)
 *
 * ```ts
 * import { describe, it } from "@effect/vitest"
 * import { ModelClientContract } from "@mandate/testing"
 *
 * declare const subject: ModelClientContract.Subject
 *
 * describe("the model client", () => {
 *   for (const { check, name } of ModelClientContract.properties(subject)) it.effect(name, () => check)
 * })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const properties = (subject: Subject): ReadonlyArray<Property> => {
  const streams = subject.streams ?? true
  const ways = streams ? [Asking.generate, Asking.stream] : [Asking.generate]
  const bothWays = [...Responses.rules, ...Requests.rules, ...Endings.rules(subject)]
  return [
    ...ways.flatMap((way) => bothWays.map((rule) => property(subject, rule, way))),
    ...(streams ? Streams.rules.map((rule) => property(subject, rule, Asking.stream)) : [])
  ]
}

const property = (subject: Subject, rule: Responses.Rule, way: Asking.Way): Property => ({
  name: `${way.name} ${rule.name}`,
  check: Effect.scoped(rule.check(subject, way))
})
