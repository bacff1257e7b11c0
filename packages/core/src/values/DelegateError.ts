/**
 * Why a posture was not run.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import * as ErrorClass from "./ErrorClass.ts"
import type { Named } from "./Named.ts"

/**
 * Schema for the reasons a call is refused. Nothing was started then, and there
 * is no sub-session.
 *
 * **Details**
 *
 * - `UnknownPosture`: there is no posture of this name
 * - `InvalidPosture`: it cannot be run: its model or its report schema is not
 *   there
 * - `RecursionLimit`: it would run at `depth`, deeper than `limit`, which is
 *   the `posture`'s own, the `runtime`'s, or that of the calling `agent`
 * - `InvalidRequest`: a field of the call is not valid
 *
 * @category schemas
 * @since 0.1.0
 */
export const DelegateErrorReason = Schema.TaggedUnion({
  UnknownPosture: { posture: Schema.String, known: Schema.Array(Schema.String) },
  InvalidPosture: { posture: Schema.String, issues: Schema.Array(Schema.String) },
  RecursionLimit: {
    posture: Schema.String,
    depth: Schema.Natural,
    limit: Schema.Natural,
    of: Schema.Literals(["posture", "runtime", "agent"])
  },
  InvalidRequest: { field: Schema.String, issues: Schema.Array(Schema.String) }
})

/**
 * Why a call was refused.
 *
 * @category models
 * @since 0.1.0
 */
export type DelegateErrorReason = Named<typeof DelegateErrorReason.Type>

/**
 * A call of a posture was refused.
 *
 * @category errors
 * @since 0.1.0
 */
export class DelegateError extends ErrorClass.TaggedError<DelegateError>("~mandate/DelegateError")("DelegateError", {
  reason: DelegateErrorReason
}) {
  override get message(): string {
    return describe(this.reason)
  }
}

const describe: (reason: DelegateErrorReason) => string = DelegateErrorReason.match({
  UnknownPosture: ({ known, posture }) =>
    `There is no posture ${JSON.stringify(posture)}; postures: ${known.join(", ") || "none"}`,
  InvalidPosture: ({ issues, posture }) => `The posture "${posture}" cannot be run: ${issues.join("; ")}`,
  RecursionLimit: ({ depth, limit, of, posture }) =>
    `The posture "${posture}" would run at depth ${depth}; the ${of} allows ${limit}`,
  InvalidRequest: ({ field, issues }) =>
    `The ${field} ${field === "overrides" || field === "options" ? "are" : "is"} not valid: ${issues.join("; ")}`
})
