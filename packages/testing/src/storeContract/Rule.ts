/**
 * Rules of a store before they are properties of a subject.
 *
 * @since 0.1.0
 */
import type { RunStore } from "@mandate/core"
import type * as Effect from "effect/Effect"
import type { ContractViolation } from "../contract/Violation.ts"

/**
 * The operations of a store.
 *
 * @category models
 * @since 0.1.0
 */
export type Store = RunStore.RunStore["Service"]

/**
 * What a check fails with: a violation, or an error of an operation that
 * should have gone well.
 *
 * @category errors
 * @since 0.1.0
 */
export type Failure = ContractViolation | RunStore.Fenced | RunStore.StoreError

/**
 * A rule, as a sentence, and its check on a fresh, empty store, or on whatever
 * else it is given.
 *
 * @category models
 * @since 0.1.0
 */
export interface Rule<Given = Store> {
  readonly name: string
  readonly check: (given: Given) => Effect.Effect<unknown, Failure>
}
