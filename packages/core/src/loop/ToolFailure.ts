/**
 * What becomes of a call whose tool's own code failed.
 *
 * **Details**
 *
 * Invariants:
 *
 * 1. What the code of a tool throws ends its call, and never its run: results
 *    and errors are the tool's own objects, and reading one can throw too.
 * 2. The text of a defect is logged here and crosses to no model. A defect that
 *    cannot be logged is logged without its text.
 *
 * @since 0.1.0
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import { type Branch, failed } from "./Branch.ts"

/**
 * Ends a call as `ToolFailed`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const branch = (tool: string, cause: Cause.Cause<unknown>): Effect.Effect<Branch> =>
  Effect.as(
    log(Effect.logError, `The tool "${tool}" failed unexpectedly`, cause),
    failed("ToolFailed", "The tool failed unexpectedly")
  )

/**
 * Ends a call as `ToolFailed` where reading what its tool gave throws.
 *
 * @category combinators
 * @since 0.1.0
 */
export const guard = <E, R>(tool: string, read: () => Effect.Effect<Branch, E, R>): Effect.Effect<Branch, E, R> =>
  Effect.catchDefect(Effect.suspend(read), (defect) => branch(tool, Cause.die(defect)))

/**
 * Logs a cause, without it where it cannot be read.
 *
 * @category running
 * @since 0.1.0
 */
export const log = (
  at: typeof Effect.logError,
  message: string,
  cause: Cause.Cause<unknown>
): Effect.Effect<void> => Effect.catchDefect(at(message, cause), () => at(message))
