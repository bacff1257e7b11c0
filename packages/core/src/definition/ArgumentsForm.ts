/**
 * The form in which a call's arguments are shown to a person, and in which they
 * run.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import type * as Effect from "effect/Effect"
import type * as Result from "effect/Result"
import type { Json } from "../values/Json.ts"

/**
 * Why arguments have no such form.
 *
 * **Details**
 *
 * - `Invalid`: the tool refuses them
 * - `NotShown`: they decode, and nothing that can be shown decodes to the same
 *
 * @category models
 * @since 0.1.0
 */
export interface NoForm {
  readonly _tag: "Invalid" | "NotShown"
  readonly issues: ReadonlyArray<string>
}

/**
 * Gives the form of arguments: JSON that holds every default, and that decodes
 * to what the arguments decode to, whatever the defaults are by then.
 *
 * @category models
 * @since 0.1.0
 */
export type FormArguments = (args: Json) => Effect.Effect<Result.Result<Json, NoForm>>

/**
 * Annotation of a tool whose parameters are plain JSON to Mandate, and which
 * decodes them itself: how it gives the form of its arguments. Default: the
 * arguments as they are.
 *
 * @category annotations
 * @since 0.1.0
 */
export const ArgumentsForm = Context.Reference<FormArguments | undefined>("~mandate/ArgumentsForm", {
  defaultValue: () => undefined
})
