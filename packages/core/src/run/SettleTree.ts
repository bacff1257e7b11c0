/**
 * Takes a tree of runs over and settles it, for a cancel and for a deadline.
 *
 * @since 0.1.0
 */
import { isReadonlyArrayNonEmpty, type NonEmptyReadonlyArray } from "effect/Array"
import * as Effect from "effect/Effect"
import * as Journal from "../loop/Journal.ts"
import type { CorruptRow } from "../service/CorruptRow.ts"
import type { RunEvents } from "../service/RunEvents.ts"
import type { LeaseRequest, LoadedRun } from "../service/RunRow.ts"
import type { Fenced, RunStore, StoreError } from "../service/RunStore.ts"
import type { Settled } from "../values/RunOutcome.ts"
import * as LetGo from "./LetGo.ts"
import * as TreeClose from "./TreeClose.ts"

/**
 * How the first run of a tree is to end, and why calls of the tree did not run.
 *
 * @category models
 * @since 0.1.0
 */
export interface End {
  readonly outcome: Settled
  readonly notRun: string
}

/**
 * Creates what settles trees. It gives nothing where no run is open, or the
 * thread has another epoch than `only`.
 *
 * **Details**
 *
 * Seizing raises the epochs, so from there on no former writer can write. A tree
 * that could not be settled is nobody's then, and free for whoever recovers it:
 * with the epoch that it was seized with, or has at `held`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const make = ({ events, lease, store }: {
  readonly store: RunStore["Service"]
  readonly events: RunEvents
  readonly lease: Effect.Effect<LeaseRequest>
}) => {
  const letGo = (runId: string, epoch: number | undefined) => <A, E>(self: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    epoch === undefined ? self : LetGo.onError({ lease, store }, { runId, epoch })(self)

  const settle = Effect.fnUntraced(function*(tree: NonEmptyReadonlyArray<LoadedRun>, end: End, at: number) {
    const plan = yield* TreeClose.plan(store, tree, { ...end, at })
    const sequence = yield* store.close(plan.runs, Journal.encode(plan.events))
    events.publish(plan.rootThreadId, Journal.numbered(plan.events, sequence))
    return plan
  })

  return Effect.fnUntraced(function*(
    runId: string,
    end: End,
    { held, only }: { readonly held: number | undefined; readonly only?: number }
  ): Effect.fn.Return<TreeClose.Plan | undefined, StoreError | Fenced | CorruptRow> {
    const request = yield* lease
    const tree: ReadonlyArray<LoadedRun> = yield* letGo(runId, held)(
      store.seize(runId, only === undefined ? request : { ...request, epoch: only })
    )
    if (!isReadonlyArrayNonEmpty(tree)) return undefined
    return yield* letGo(runId, tree[0].epoch)(settle(tree, end, request.now))
  })
}
