/**
 * Times of the runtime.
 *
 * @since 0.1.0
 */
import * as Context from "effect/Context"
import * as Duration from "effect/Duration"

/**
 * Times of the runtime, read once when its layer is built.
 *
 * **Details**
 *
 * - `leaseTtl` (15 seconds): how long a process holds a thread that it does
 *   not renew; `recover` waits that long for a holder that is gone
 * - `leaseRenewal` (5 seconds): how often it renews
 * - `cancelGrace` (5 seconds): how long a cancel waits for finalizers before
 *   it settles the tree without them
 * - `closeGrace` (5 seconds, of real time): how long closing the runtime waits
 *   for finalizers of the runs it drives
 *
 * @category services
 * @since 0.1.0
 */
export const RuntimeConfig = Context.Reference<{
  readonly leaseTtl: Duration.Duration
  readonly leaseRenewal: Duration.Duration
  readonly cancelGrace: Duration.Duration
  readonly closeGrace: Duration.Duration
}>("~mandate/RuntimeConfig", {
  defaultValue: () => ({
    leaseTtl: Duration.seconds(15),
    leaseRenewal: Duration.seconds(5),
    cancelGrace: Duration.seconds(5),
    closeGrace: Duration.seconds(5)
  })
})
