/**
 * What every run store keeps, as properties that a test file runs.
 *
 * @since 0.1.0
 */
import { RunStore } from "@mandate/core"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { ContractViolation } from "./contract/Violation.ts"
import * as Answers from "./storeContract/Answers.ts"
import * as AtOnce from "./storeContract/AtOnce.ts"
import * as Children from "./storeContract/Children.ts"
import * as Closing from "./storeContract/Closing.ts"
import * as Deleting from "./storeContract/Deleting.ts"
import * as Events from "./storeContract/Events.ts"
import * as Fences from "./storeContract/Fences.ts"
import * as Leases from "./storeContract/Leases.ts"
import * as Listing from "./storeContract/Listing.ts"
import * as Opening from "./storeContract/Opening.ts"
import * as Reading from "./storeContract/Reading.ts"
import * as Records from "./storeContract/Records.ts"
import * as Reopening from "./storeContract/Reopening.ts"
import * as Retention from "./storeContract/Retention.ts"
import type { Failure, Rule, Store } from "./storeContract/Rule.ts"
import * as Sharing from "./storeContract/Sharing.ts"
import * as States from "./storeContract/States.ts"
import * as Takeover from "./storeContract/Takeover.ts"
import * as Values from "./storeContract/Values.ts"

export { ContractViolation } from "./contract/Violation.ts"

/**
 * A kind of store, and how to make one.
 *
 * **Details**
 *
 * - `make`: makes a new, empty place for runs, and gives the layer that opens
 *   a store there. The place is let go with the scope. Each property has a
 *   place of its own, so several may be there at a time
 * - `reopens`: whether the data outlives the store, so that the layer can be
 *   built, closed, and built again on what is there. Default: `false`
 * - `shares`: whether the layer can be built twice at a time, for two
 *   connections to the same data. Default: `false`
 *
 * @category models
 * @since 0.1.0
 */
export interface Subject {
  readonly make: Effect.Effect<Layer.Layer<RunStore.RunStore, unknown>, unknown, Scope.Scope>
  readonly reopens?: boolean
  readonly shares?: boolean
}

/**
 * A promise of run stores, as a sentence, and an effect that fails when a store
 * breaks it.
 *
 * **Details**
 *
 * `check` takes no time of the `Clock`, so that it can run under a test clock.
 * It fails with a `ContractViolation` that says what was expected and what was
 * found. An operation that fails and should not is a violation too.
 *
 * @category models
 * @since 0.1.0
 */
export interface Property {
  readonly name: string
  readonly check: Effect.Effect<void, ContractViolation>
}

/**
 * The properties that a kind of store must have: all that the runtime relies
 * on. Each runs on a store of its own.
 *
 * **Details**
 *
 * - starting runs and children, records that are inserted once, the states of a
 *   run, and what is read in which order
 * - fences, for every write and every way to lose a run; leases, epochs and
 *   taking over
 * - all or nothing: answers, settling, closing, and whatever is refused
 * - listing threads, and keeping each to its tenant
 * - retention, deletion, and events with their numbers
 * - texts of all characters and of 8 MB; many operations at once
 * - with `reopens` and `shares`: the same data opened again, and twice
 *
 * **Example** (The store in memory, in a test file)
 *
 * ```ts
 * import { describe, it } from "@effect/vitest"
 * import { MemoryRunStore } from "@mandate/core"
 * import { RunStoreContract } from "@mandate/testing"
 * import { Effect } from "effect"
 *
 * const subject: RunStoreContract.Subject = { make: Effect.succeed(MemoryRunStore.layer) }
 *
 * describe("the store in memory", () => {
 *   for (const { check, name } of RunStoreContract.properties(subject)) it.effect(name, () => check)
 * })
 * ```
 *
 * @category constructors
 * @since 0.1.0
 */
export const properties = (subject: Subject): ReadonlyArray<Property> => [
  ...topics.flatMap(([topic, rules]) =>
    rules.map((rule) => property(subject, topic, rule, (layer) => Effect.flatMap(opened(layer), rule.check)))
  ),
  ...(subject.reopens === true ? Reopening.rules : []).map((rule) =>
    property(
      subject,
      "reopening",
      rule,
      (layer) => rule.check((body) => Effect.scoped(Effect.flatMap(opened(layer), body)))
    )
  ),
  ...(subject.shares === true ? Sharing.rules : []).map((rule) =>
    property(
      subject,
      "two connections",
      rule,
      (layer) => Effect.flatMap(Effect.all([opened(layer), opened(layer)]), rule.check)
    )
  )
]

const topics: ReadonlyArray<readonly [topic: string, rules: ReadonlyArray<Rule>]> = [
  ["open", Opening.rules],
  ["create", Children.rules],
  ["reading", Reading.rules],
  ["listing", Listing.rules],
  ["records", Records.rules],
  ["states", States.rules],
  ["fences", Fences.rules()],
  ["leases", Leases.rules],
  ["taking over", Takeover.rules],
  ["answer", Answers.rules()],
  ["close", Closing.rules],
  ["retention", Retention.rules],
  ["deleting", Deleting.rules()],
  ["events", Events.rules],
  ["values", Values.rules()],
  ["many at once", AtOnce.rules]
]

const property = (
  subject: Subject,
  topic: string,
  { name }: { readonly name: string },
  check: (layer: Layer.Layer<RunStore.RunStore, unknown>) => Effect.Effect<unknown, Failure, Scope.Scope>
): Property => ({
  name: `${topic}: ${name}`,
  check: Effect.scoped(Effect.flatMap(Effect.mapError(subject.make, violation("no place for a store is made")), check))
    .pipe(Effect.mapError(violation("an operation fails that should go well")), Effect.asVoid)
})

// Each time another store, though the layer is the same.
const opened = (
  layer: Layer.Layer<RunStore.RunStore, unknown>
): Effect.Effect<Store, ContractViolation, Scope.Scope> =>
  Layer.build(Layer.fresh(layer)).pipe(
    Effect.map((services) => Context.get(services, RunStore.RunStore)),
    Effect.mapError(violation("the store does not open"))
  )

const violation = (problem: string) => (error: unknown): ContractViolation =>
  error instanceof ContractViolation
    ? error
    : new ContractViolation({ problem, expected: "no failure", actual: String(error) })
