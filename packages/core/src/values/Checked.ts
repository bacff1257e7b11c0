/**
 * Schemas of single values that say in words what they expect.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as Text from "./Text.ts"

/**
 * Schema for a count: a positive whole number.
 *
 * @category schemas
 * @since 0.1.0
 */
export const Count = Schema.Number.annotate({ message: "Expected a positive whole number" }).check(
  Schema.makeFilter((value) => Number.isSafeInteger(value) && value > 0, { expected: "a positive whole number" })
)

/**
 * Schema for a text that shows something.
 *
 * @category schemas
 * @since 0.1.0
 */
export const VisibleText = Schema.String.annotate({ message: "Expected text" }).check(
  Schema.makeFilter((text) => !Text.isBlank(text), { expected: "text that is not blank" })
)
