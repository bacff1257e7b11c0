/**
 * What an uninterruptible region gives back where it may wait.
 *
 * @since 0.1.0
 */
import type * as Effect from "effect/Effect"

/**
 * Makes an effect as interruptible as it was outside of the region, as
 * `Effect.uninterruptibleMask` hands it out.
 *
 * @category models
 * @since 0.1.0
 */
export type Restore = <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
