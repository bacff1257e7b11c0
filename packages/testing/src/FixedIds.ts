/**
 * Ids that are the same in every test run.
 *
 * @since 0.1.0
 */
import { IdSource } from "@mandate/core"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

/**
 * Layer with ids that count from 1: `thread-1`, `thread-2`, ... and
 * `instance-1`, `instance-2`, ... Each build of the layer counts anew.
 *
 * @category layers
 * @since 0.1.0
 */
export const layer: Layer.Layer<never> = Layer.effect(
  IdSource,
  Effect.sync(() => ({ threadId: counter("thread"), instanceId: counter("instance") }))
)

const counter = (prefix: string): Effect.Effect<string> => {
  let last = 0
  return Effect.sync(() => `${prefix}-${++last}`)
}
