/**
 * The input of text subagents.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"
import type { InputFile } from "./InputFile.ts"

/**
 * Schema for the input of a subagent made with `TypedAgent.text`: a
 * description of the task that stands on its own. It becomes the child's first
 * message as it is.
 *
 * @category schemas
 * @since 0.1.0
 */
export const TaskRequest = Schema.Struct({ description: Schema.String })

/**
 * The input of a text subagent.
 *
 * @category models
 * @since 0.1.0
 */
export type TaskRequest = typeof TaskRequest.Type

/**
 * What code gives a bound subagent whose input is an `I`: a text subagent takes
 * files beside its description. A parent's model gives none.
 *
 * @category utility types
 * @since 0.1.0
 */
export type Given<I> = [I, TaskRequest] extends [TaskRequest, I]
  ? I & { readonly files?: ReadonlyArray<InputFile> | undefined }
  : I
