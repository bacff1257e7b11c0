/**
 * Where ids that nobody chose come from.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"

/**
 * Source of the ids that the runtime makes up.
 *
 * **Details**
 *
 * By default each is a random UUID behind a short prefix. Nothing that a run
 * replays is ever taken from here: the ids within a run come from positions.
 *
 * @category services
 * @since 0.1.0
 */
export const IdSource = Context.Reference<{
  /** A thread id for a run that was given none. Unique in its store. */
  readonly threadId: Effect.Effect<string>

  /** An id for one instance of the runtime, the holder of its leases. */
  readonly instanceId: Effect.Effect<string>
}>("~mandate/IdSource", {
  defaultValue: () => ({
    threadId: Effect.sync(() => `thread-${crypto.randomUUID()}`),
    instanceId: Effect.sync(() => `instance-${crypto.randomUUID()}`)
  })
})
