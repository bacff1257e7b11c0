/**
 * What a subject of a contract got wrong.
 *
 * @since 0.1.0
 */
import { ErrorClass, Json } from "@mandate/core"
import * as Effect from "effect/Effect"
import * as Schema from "effect/Schema"

/**
 * A subject does not keep a property of its contract.
 *
 * @category errors
 * @since 0.1.0
 */
export class ContractViolation
  extends ErrorClass.TaggedError<ContractViolation>("~mandate/testing/ContractViolation")("ContractViolation", {
    problem: Schema.String,
    expected: Schema.optionalKey(Schema.String),
    actual: Schema.optionalKey(Schema.String)
  })
{
  override get message(): string {
    return this.expected === undefined
      ? this.problem
      : `${this.problem}\nexpected: ${this.expected}\nactual:   ${this.actual ?? ""}`
  }
}

/**
 * Checks that two values are equal as JSON, whatever the order of their keys.
 *
 * @category running
 * @since 0.1.0
 */
export const same = (what: string, actual: unknown, expected: unknown): Effect.Effect<void, ContractViolation> => {
  const [a, b] = [canonical(actual), canonical(expected)]
  return a === b
    ? Effect.void
    : Effect.fail(new ContractViolation({ problem: `not as expected: ${what}`, expected: b, actual: a }))
}

/**
 * Checks that something holds.
 *
 * @category running
 * @since 0.1.0
 */
export const holds = (what: string, is: boolean): Effect.Effect<void, ContractViolation> =>
  is ? Effect.void : Effect.fail(new ContractViolation({ problem: what }))

const canonical = (value: unknown): string => Json.canonical((value ?? null) as Json.Json)
