/**
 * The slots of one parent run: how many of its children are live at once.
 *
 * **Details**
 *
 * Invariants:
 *
 * 1. At most `bound` effects hold a slot at any time.
 * 2. Of those that wait, the one with the lowest order gets the next slot,
 *    whenever it came.
 * 3. A slot is given back when its holder leaves, fails or is interrupted, and
 *    one that stops waiting leaves nothing behind.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"

/**
 * The slots of one parent run.
 *
 * @category models
 * @since 0.1.0
 */
export interface Slots {
  /**
   * Runs an effect in a slot of its own, waiting for one in the order of the
   * calls. The slot is kept after it has succeeded, until `leave` is called; one
   * that fails or is interrupted leaves by itself.
   */
  readonly enter: <A, E, R>(order: number, effect: Effect.Effect<A, E, R>) => Effect.Effect<Entered<A>, E, R>
}

/**
 * What an effect gave, and the way out of its slot. Leaving twice is leaving
 * once.
 *
 * @category models
 * @since 0.1.0
 */
export interface Entered<out A> {
  readonly value: A
  readonly leave: () => void
}

/**
 * Creates the slots of one parent run.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (bound: number): Slots => {
  let held = 0
  const waiting: Array<Waiter> = []

  const take = (order: number): Effect.Effect<void> =>
    Effect.callback((resume) => {
      if (held < bound) {
        held++
        return resume(Effect.void)
      }
      const waiter: Waiter = { order, grant: () => resume(Effect.void) }
      const behind = waiting.findIndex((other) => other.order > order)
      waiting.splice(behind < 0 ? waiting.length : behind, 0, waiter)
      return Effect.sync(() => {
        const at = waiting.indexOf(waiter)
        // A waiter that is gone from the queue has been granted its slot and will never use it.
        if (at >= 0) waiting.splice(at, 1)
        else give()
      })
    })

  const give = (): void => {
    const next = waiting.shift()
    if (next === undefined) held--
    else next.grant()
  }

  return {
    enter: (order, effect) =>
      Effect.uninterruptibleMask((restore) =>
        Effect.flatMap(
          restore(take(order)),
          () =>
            Effect.map(Effect.onError(restore(effect), () => Effect.sync(give)), (value) => {
              let isInside = true
              return {
                value,
                leave: () => {
                  if (isInside) give()
                  isInside = false
                }
              }
            })
        )
      )
  }
}

interface Waiter {
  readonly order: number
  readonly grant: () => void
}
