/**
 * Where a run stops before a tool call, until it is told to proceed.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type { Json } from "../values/Json.ts"

/**
 * A call that is about to run: the tool's name, and the arguments as JSON, in
 * the form in which they will run: what the model wrote, or a person put in its
 * place, decoded and encoded again, defaults included.
 *
 * @category models
 * @since 0.1.0
 */
export interface BreakpointCall {
  readonly tool: string
  readonly arguments: Json
}

/**
 * What a run stops before: every call of the tool with this name, or each call
 * for which a function gives `true`.
 *
 * @category models
 * @since 0.1.0
 */
export type Breakpoint = string | ((call: BreakpointCall) => boolean)

/**
 * One check for some breakpoints; nothing for none. A function that throws
 * stops the run: what cannot be decided is shown to a person.
 *
 * @category constructors
 * @since 0.1.0
 */
export const compile = (
  breakpoints: ReadonlyArray<Breakpoint>
): ((call: BreakpointCall) => Effect.Effect<boolean>) | undefined =>
  breakpoints.length === 0 ? undefined : (call) =>
    Effect.catchCause(
      Effect.sync(() => breakpoints.some((at) => typeof at === "string" ? at === call.tool : at(call) !== false)),
      (cause) => Effect.as(Effect.logError(`A breakpoint before the tool "${call.tool}" failed`, cause), true)
    )
