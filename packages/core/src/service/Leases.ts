/**
 * The leases of one process, judged by its own clocks.
 *
 * **Details**
 *
 * Invariants:
 *
 * 1. A lease counts from before the request that took or renewed it was sent,
 *    and ends a tenth of its time early. So it is over here before any other
 *    process may take it.
 * 2. Both clocks are read: the time of day, which other processes compare the
 *    lease with, and the monotonic one, which nobody sets back.
 * 3. A renewal that comes too late confirms no lease: another process may have
 *    taken some of them meanwhile. Each is in doubt until its run's fence has
 *    been checked.
 *
 * @since 0.1.0
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Measure from "../values/Measure.ts"
import type { LeaseRequest } from "./RunRow.ts"
import type { RunStore, StoreError } from "./RunStore.ts"

/**
 * An instant by both clocks, in milliseconds.
 *
 * @category models
 * @since 0.1.0
 */
export interface Instant {
  readonly timeOfDay: number
  readonly monotonic: number
}

/**
 * The leases of one process.
 *
 * **Details**
 *
 * - `request`: a lease request of this process, at this time
 * - `renew`: renews every lease of this process in the store; gives when the
 *   request was sent
 * - `isOver`: whether a lease that was certain at one instant, and renewed with
 *   all others since, may be over at another
 *
 * @category models
 * @since 0.1.0
 */
export interface Leases {
  readonly request: Effect.Effect<LeaseRequest>
  readonly renew: Effect.Effect<Instant, StoreError>
  readonly isOver: (certain: Instant, now: Instant) => boolean
}

/**
 * The leases of a holder. `ttl` is how long one lasts, in milliseconds.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = (store: Pick<RunStore["Service"], "renew">, holder: string, ttl: number): Leases => {
  const lasts = ttl - ttl / 10
  const isLate = (since: Instant, at: Instant): boolean =>
    at.timeOfDay - since.timeOfDay > lasts || at.monotonic - since.monotonic > lasts
  let renewed: Instant | undefined
  // When leases were renewed last that might have been over by then.
  let inDoubt = -Infinity
  return {
    request: Effect.map(
      Clock.Clock,
      (clock): LeaseRequest => ({ holder, now: Measure.time(clock.currentTimeMillisUnsafe()), ttl })
    ),
    renew: Effect.flatMap(Clock.Clock, (clock) => {
      const sent = now(clock)
      return Effect.map(store.renew({ holder, now: sent.timeOfDay, ttl }), () => {
        if (renewed !== undefined && isLate(renewed, sent)) inDoubt = sent.monotonic
        renewed = sent
        return sent
      })
    }),
    isOver: (certain, at) =>
      certain.monotonic < inDoubt ||
      isLate(renewed === undefined || renewed.monotonic < certain.monotonic ? certain : renewed, at)
  }
}

/**
 * This instant, by both clocks.
 *
 * @category getters
 * @since 0.1.0
 */
export const now = (clock: Clock.Clock): Instant => ({
  timeOfDay: Measure.time(clock.currentTimeMillisUnsafe()),
  monotonic: Number(clock.monotonicTimeNanosUnsafe() / nanosPerMilli)
})

/**
 * The instant at which the time of day was `millis`, if no clock was set since.
 *
 * @category getters
 * @since 0.1.0
 */
export const at = (clock: Clock.Clock, millis: number): Instant => {
  const { monotonic, timeOfDay } = now(clock)
  return { timeOfDay: millis, monotonic: monotonic - Math.max(0, timeOfDay - millis) }
}

const nanosPerMilli = 1_000_000n
