/**
 * What a posture is run with.
 *
 * @since 0.1.0
 */
import * as Schema from "effect/Schema"

/**
 * Schema for the input of a posture's run, as its row keeps it.
 *
 * **Details**
 *
 * - `task`: what to do
 * - `context`: JSON for the task; absent for none
 * - `parentTurn`: what the caller names the turn by that asked for it. It is
 *   copied to events and never sent
 *
 * @category schemas
 * @since 0.1.0
 */
export const DelegateInput = Schema.Struct({
  task: Schema.String,
  context: Schema.optionalKey(Schema.Json),
  parentTurn: Schema.optionalKey(Schema.String)
})

/**
 * Input of a posture's run.
 *
 * @category models
 * @since 0.1.0
 */
export type DelegateInput = typeof DelegateInput.Type
