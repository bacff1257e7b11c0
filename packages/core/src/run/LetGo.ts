/**
 * Gives a thread back that was taken for a drive which does not begin.
 *
 * @since 0.1.0
 */
import * as Effect from "effect/Effect"
import type { Mandate } from "../service/Mandate.ts"
import type { Fence } from "../service/RunRow.ts"

/**
 * Lets go of the run's thread, and of those below that were taken with it, if
 * the effect fails: a lease that is renewed and not used would keep everybody
 * else away. Whoever has taken the thread since keeps it.
 *
 * @category combinators
 * @since 0.1.0
 */
export const onError = (
  { lease, store }: Pick<Mandate["Service"], "lease" | "store">,
  { epoch, runId }: Pick<Fence, "epoch" | "runId">
) =>
<A, E, R>(self: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.onError(
    self,
    () => Effect.ignore(Effect.flatMap(lease, ({ now }) => store.seize(runId, { holder: nobody, now, ttl: 0, epoch })))
  )

// A holder whose lease has run out as it is taken, and that no process renews.
const nobody = "nobody"
